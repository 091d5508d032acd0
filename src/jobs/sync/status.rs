//! How the sync stands: for the command, the figures, the doctor and the desk.

use super::batch::{Batch, Row};
use super::source::{Here, Source};
use super::turn::{BUSY, TURN_WAIT_MAX};
use crate::config;
use crate::http::failure::Failure;
use crate::jobs::sync::turn::Turn;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::history;
use crate::store::tables::sync::{self, Refused, State};
use serde::Serialize;

/// How far the history went upstream. Moments in Unix seconds, numbers are `seq`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    pub site_id: String,
    /// Where it goes, without credentials; empty: the settings name no receiver.
    pub upstream: String,
    /// Whether the server carries by itself.
    pub scheduled: bool,
    /// Every row up to this one was taken, or is among the refused.
    pub cursor: i64,
    /// The youngest row there is.
    pub last_seq: i64,
    pub waiting_rows: i64,
    /// For how long the oldest of them has waited, in seconds; 0: none waits.
    pub lag_seconds: i64,
    pub refused_rows: i64,
    /// When something was last taken, and last tried.
    pub taken_at: Option<i64>,
    pub tried_at: Option<i64>,
    /// Why the last try came to nothing; empty: it did not.
    pub trouble: String,
    /// How many in a row did.
    pub misses: i64,
    pub batches: i64,
    pub rows: i64,
    /// Rows that got new numbers because the file was put back.
    pub renumbered: i64,
    pub renumbered_at: Option<i64>,
}

/// How the sync stands now; a read of the file, without a word to the receiver.
pub fn status(site: &Site) -> Result<Status, Failure> {
    let settings = site.config.sync.as_ref();
    site.store.read(|tx| {
        let state = sync::find(tx)?;
        let (waiting_rows, oldest) = history::waiting(tx, state.cursor)?;
        let (last_seq, refused_rows) = (history::last_seq(tx)?, sync::count_refused(tx)?);
        let State { cursor, taken_at, tried_at, trouble, misses, batches, rows, renumbered, renumbered_at, .. } = state;
        Ok(Status {
            site_id: site.site_id.to_string(),
            upstream: settings.map(|settings| settings.upstream.shown()).unwrap_or_default(),
            scheduled: settings.is_some_and(|settings| settings.scheduled),
            cursor,
            last_seq,
            waiting_rows,
            lag_seconds: oldest.map_or(0, |at| (site.now() - at).max(0)),
            refused_rows,
            taken_at,
            tried_at,
            trouble,
            misses,
            batches,
            rows,
            renumbered,
            renumbered_at,
        })
    })
}

/// Every row that the receiver refuses.
pub fn refused(site: &Site) -> Result<Vec<Refused>, Failure> {
    site.store.read(|tx| Ok(sync::list_refused(tx, i64::MAX, i64::MAX)?))
}

/// The batch that would go next, as far as the file knows. `None`: nothing waits.
pub fn next(site: &Site, settings: &config::Sync) -> Result<Option<Batch>, Failure> {
    let state = site.store.read(|tx| Ok(sync::find(tx)?))?;
    let mut here = Here::new(site.for_another_thread());
    let rows: Vec<Row> = here.rows(state.cursor, settings.batch_rows).map_err(|e| Failure::broken().because(e))?;
    let batch = Batch::of(&site.site_id, state.held.min(state.cursor), &rows);
    Ok((!rows.is_empty()).then_some(batch))
}

/// Has everything after this row go again, and returns how many rows that are.
pub fn rewind(site: &Site, seq: i64, beside: impl FnOnce(&Write) -> Result<(), Failure>) -> Result<i64, Failure> {
    let turns = site.kept::<Turn>();
    let turn = turns.take_within(TURN_WAIT_MAX);
    let _taken = turn.ok_or_else(|| Failure::overloaded().because(BUSY))?;
    site.store.write(site.now(), |tx| {
        let mut state = sync::find(tx)?;
        let seq = seq.min(state.cursor);
        (state.cursor, state.held, state.pending) = (seq, seq, 0);
        sync::replace(tx, &state)?;
        beside(tx)?;
        Ok(history::waiting(tx, seq)?.0)
    })
}
