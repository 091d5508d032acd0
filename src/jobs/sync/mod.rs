//! The sync: sends the history upstream, at least once, in order, in batches, across outages of any length.
//!
//! The last row of a batch is recorded before the batch is sent. So a batch whose outcome is unknown is sent again with
//! the same rows, and a receiver that is ahead of everything ever sent shows that the database was restored from a
//! backup. Waits use the monotonic clock, so that a jump of the wall clock neither shortens nor lengthens them.

mod backoff;
mod batch;
mod https;
pub mod lock;
mod nats;
pub(crate) mod on_demand;
mod reports;
mod source;
mod status;
mod uploader;
mod upstream;

pub use crate::ops::upstream::{Status, status};
pub use batch::{Batch, Row};
pub(crate) use reports::Reports;
pub use source::SiteSource;
pub(crate) use status::next;
pub use status::{refused, rewind};
pub use uploader::{Step, Uploader};
pub use upstream::{Position, Trouble, Upstream};

use crate::clock::Clock;
use crate::config::{Sync, Upstream as Kind};
use crate::jobs::sync::lock::SyncLock;
use crate::site::Site;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Connects to the receiver in the settings. The error is one line that names the wrong setting.
pub fn upstream(settings: &Sync, site_id: &str, clock: Arc<Clock>) -> Result<Box<dyn Upstream>, String> {
    Ok(match &settings.upstream {
        Kind::Https(url) => Box::new(https::Https::new(url, settings, clock)?),
        Kind::Nats(server) => Box::new(nats::Nats::new(server, settings, site_id, clock)?),
    })
}

/// An uploader of the site's own database. `None`: the settings name no receiver.
pub fn uploader(site: &Site) -> Result<Option<Uploader>, String> {
    let Some(settings) = &site.config.sync else { return Ok(None) };
    let upstream = upstream(settings, &site.site_id, site.clock.clone())?;
    let source = Box::new(SiteSource::new(site.for_another_thread()));
    Ok(Some(Uploader::new(source, upstream, settings, site.state::<SyncLock>())))
}

/// Sends all waiting rows, and returns their number. The error is one line: why an attempt failed.
pub(crate) fn drain(uploader: &mut Uploader, progress: &mut dyn FnMut(u64)) -> Result<u64, String> {
    let mut rows = 0;
    loop {
        match uploader.step() {
            Step::Moved(more) => {
                rows += more as u64;
                progress(rows);
            }
            Step::Quiet => return Ok(rows),
            Step::Wait(_) => return Err(uploader.trouble().to_owned()),
        }
    }
}

/// Sends all waiting rows at every interval, until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    let Some(settings) = site.config.sync.as_ref().filter(|settings| settings.scheduled) else { return };
    match uploader(site) {
        Ok(Some(uploader)) => work(uploader, settings, stop),
        Ok(None) => {}
        Err(cause) => tracing::error!(cause, "the sync cannot start"),
    }
}

/// Runs as [`run_until_stopped`], with any uploader.
pub(crate) fn work(mut uploader: Uploader, settings: &Sync, stop: &Receiver<()>) {
    let interval = Duration::from_secs(settings.interval_seconds.unsigned_abs());
    let mut wait = Duration::ZERO;
    while stop.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = match uploader.step() {
            Step::Moved(_) => Duration::ZERO,
            Step::Quiet => {
                uploader.disconnect();
                interval
            }
            Step::Wait(wait) => wait,
        };
    }
}
