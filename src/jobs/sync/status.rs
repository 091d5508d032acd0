//! The status of the sync, and its rewind.

use super::batch::{Batch, Row};
use super::lock::{BUSY, LOCK_WAIT_MAX};
use super::source::{SiteSource, Source};
use crate::config;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::http::failure::Failure;
use crate::jobs::sync::lock::SyncLock;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::audit;
use crate::store::tables::history;
use crate::store::tables::sync::{self, Refused};

/// The rows that the receiver refuses.
pub fn refused(site: &Site) -> Result<Vec<Refused>, Failure> {
    site.store.read(|tx| Ok(sync::list_refused(tx, Moment::LAST, i64::MAX)?))
}

/// The next batch to send. `None`: no row waits.
pub(crate) fn next(site: &Site, settings: &config::Sync) -> Result<Option<Batch>, Failure> {
    let state = site.store.read(|tx| Ok(sync::find(tx)?))?;
    let mut source = SiteSource::new(site.for_another_thread());
    let rows: Vec<Row> = source.rows(state.cursor, settings.batch_rows).map_err(|e| Failure::broken().because(e))?;
    let batch = Batch::of(&site.site_id, state.held.min(state.cursor), &rows);
    Ok((!rows.is_empty()).then_some(batch))
}

/// Sets the position back, so that all rows after `seq` are sent again. Returns the number of these rows.
/// Audited, with the position as it was asked for.
pub fn rewind(site: &Site, actor: &Actor, seq: i64) -> Result<i64, Failure> {
    let lock = site.state::<SyncLock>();
    let _guard = lock.lock_within(LOCK_WAIT_MAX).ok_or_else(|| Failure::overloaded().because(BUSY))?;
    site.store.write(site.now(), |tx| {
        let mut state = sync::find(tx)?;
        audit::insert(tx, actor, "sync.rewound", &Subject::Site, &Detail::none().number("seq", seq))?;
        let seq = seq.min(state.cursor);
        (state.cursor, state.held, state.pending) = (seq, seq, 0);
        sync::replace(tx, &state)?;
        Ok(history::waiting(tx, seq)?.0)
    })
}
