//! How far the partner metrics went upstream: for the command, the metrics, the doctor and the desk.

use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::history;
use crate::store::tables::sync::{self, State};
use serde::Serialize;

/// How far the history went upstream. Moments in Unix seconds, numbers are `seq`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// By which the receiver knows the site.
    pub site_id: String,
    /// Where it goes, without credentials; empty: the settings name no receiver.
    pub upstream: String,
    /// Whether the server carries by itself.
    pub scheduled: bool,
    /// Every row up to this one was taken, or is among the refused.
    pub cursor: i64,
    /// The youngest row there is.
    pub last_seq: i64,
    /// Rows that are not taken yet.
    pub waiting_rows: i64,
    /// For how long the oldest of them has waited, in seconds; 0: none waits.
    pub lag_seconds: i64,
    /// Rows that the receiver does not take as they are.
    pub refused_rows: i64,
    /// When something was last taken, and last tried.
    pub taken_at: Option<i64>,
    /// When something was last offered.
    pub tried_at: Option<i64>,
    /// Why the last try came to nothing; empty: it did not.
    pub trouble: String,
    /// How many in a row did.
    pub misses: i64,
    /// Batches that were taken, since the site was made.
    pub batches: i64,
    /// Rows that were taken, since the site was made.
    pub rows: i64,
    /// Rows that got new numbers because the file was put back.
    pub renumbered: i64,
    /// When that happened last.
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
