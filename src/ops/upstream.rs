//! The status of the sync: for the command, the metrics, the doctor and the desk.

use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::history;
use crate::store::tables::sync::{self, State};
use serde::Serialize;

/// The status of the sync. Moments are Unix seconds, numbers of rows are `seq`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// The id by which the receiver knows the site.
    pub site_id: String,
    /// The receiver, without credentials; empty: the settings name none.
    pub upstream: String,
    /// Whether the server syncs by itself.
    pub scheduled: bool,
    /// Every row up to this one was taken or refused.
    pub cursor: i64,
    /// The newest row.
    pub last_seq: i64,
    /// Rows that are not taken yet.
    pub waiting_rows: i64,
    /// The age of the oldest of them in seconds; 0: there are none.
    pub lag_seconds: i64,
    /// Rows that the receiver refuses.
    pub refused_rows: i64,
    /// When rows were last taken.
    pub taken_at: Option<Moment>,
    /// When rows were last sent.
    pub tried_at: Option<Moment>,
    /// Why the last try failed; empty: it did not.
    pub trouble: String,
    /// How many tries in a row have failed.
    pub failed_tries: i64,
    /// Batches that were taken, since the site was made.
    pub batches: i64,
    /// Rows that were taken, since the site was made.
    pub rows: i64,
    /// Rows that were renumbered after a restore.
    pub renumbered: i64,
    /// When that happened last.
    pub renumbered_at: Option<Moment>,
}

/// Reads the status from the database, without a request to the receiver.
pub fn status(site: &Site) -> Result<Status, Failure> {
    let settings = site.config.sync.as_ref();
    site.store.read(|tx| {
        let state = sync::find(tx)?;
        let (waiting_rows, oldest) = history::waiting(tx, state.cursor)?;
        let (last_seq, refused_rows) = (history::last_seq(tx)?, sync::count_refused(tx)?);
        let State {
            cursor, taken_at, tried_at, trouble, failed_tries, batches, rows, renumbered, renumbered_at, ..
        } = state;
        Ok(Status {
            site_id: site.site_id.to_string(),
            upstream: settings.map(|settings| settings.upstream.without_secrets()).unwrap_or_default(),
            scheduled: settings.is_some_and(|settings| settings.scheduled),
            cursor,
            last_seq,
            waiting_rows,
            lag_seconds: oldest.map_or(0, |at| (site.now() - at).max(0)),
            refused_rows,
            taken_at,
            tried_at,
            trouble,
            failed_tries,
            batches,
            rows,
            renumbered,
            renumbered_at,
        })
    })
}
