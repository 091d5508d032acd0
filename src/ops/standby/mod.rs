//! The standby: a second machine fetches every commit of this site, and takes its place when somebody says so.
//!
//! The site follows its log for the standby as for the off-site copy, in a chain of its own ([`feed`]). The standby keeps the
//! copy ([`copy`]), and counts a tick as there once it is flushed. Who is promoted raises the epoch ([`epoch`]); whoever
//! hears of a higher epoch than its own writes nothing any more.

mod base;
mod chain;
pub(crate) mod copy;
pub(crate) mod epoch;
pub(crate) mod feed;
pub(crate) mod promote;

use crate::ops::backup::off_site::OffSite;
use crate::site::Site;
use crate::store::engine::connection::{KEPT_WAL_PAGES_MIN, WAL_PAGES_MAX};
use feed::Feed;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often a server looks whether another machine has taken its place, and whether its log is long.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// A store is asked at one look of so many: each question costs a request.
const LOOKS_PER_QUESTION: u64 = 5;
/// How long writers wait for the standby, so that a long log can be moved.
const HELD_TIME_MAX: Duration = Duration::from_millis(200);

/// Who says that another machine goes on.
const SECOND_PLACE: &str = "the place of off-site backups";

/// Where the copy lies in the data directory of a standby.
pub(crate) fn copy_in(data: &Path) -> PathBuf {
    data.join("standby")
}

/// How the standby of this site is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    /// Whether a standby has a copy that goes on.
    pub is_attached: bool,
    /// Whether it keeps up, so that answers wait for it where they are to.
    pub is_in_step: bool,
    /// Seconds since the oldest commit that the standby has not confirmed.
    pub behind_seconds: i64,
    pub behind_bytes: u64,
}

/// `None`: the settings know no standby, or no server runs.
pub(crate) fn status(site: &Site) -> Option<Status> {
    let feed = site.state::<Feed>();
    if !feed.is_on.load(Ordering::Acquire) {
        return None;
    }
    Some(feed.status(site))
}

/// Refuses writes where this machine was replaced while it was down. To be called before a site is served.
pub(crate) fn begin(site: &Site) {
    if let Some(fenced) = epoch::fenced(&site.config.data) {
        site.store.writer().monitor.mark_replaced(&fenced);
    }
    // A store may be long in answering, and the thread that looks after the fence asks it at once.
    if OffSite::target_of(site).is_some_and(|second| second.path().is_some()) {
        look_at_the_second_place(site);
    }
    if site.config.replica.token.is_some() {
        site.state::<Feed>().begin(site);
    }
}

/// Lets no request of the standby wait any more: the server is to stop.
pub(crate) fn end(site: &Site) {
    site.state::<Feed>().end(site);
}

/// Looks after the fence, and after the log for the standby, until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    for second in 0_u64.. {
        let is_store = OffSite::target_of(site).is_some_and(|second| second.path().is_none());
        if !is_store || second.is_multiple_of(LOOKS_PER_QUESTION) {
            look_at_the_second_place(site);
        }
        site.state::<Feed>().let_go(site, feed::BASE_IDLE_SECONDS_MAX);
        begin_log_anew(site);
        site.store.release();
        if stop.recv_timeout(LOOK_INTERVAL) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
}

/// A higher epoch in the second place is another machine's that goes on with this site.
fn look_at_the_second_place(site: &Site) {
    let Some(second) = OffSite::target_of(site) else { return };
    let (own, off_site) = (epoch::own(&site.config.data), site.state::<OffSite>());
    if let Some(content) = own.unwritten.filter(|_| epoch::fenced(&site.config.data).is_none()) {
        return match off_site.write_epoch(&second, &site.site_id, own.epoch, &content, epoch::catch_up) {
            Ok(None) => note_written(site, own.epoch),
            Ok(Some(taken)) => epoch::fence(site, taken, SECOND_PLACE),
            Err(cause) => tracing::debug!(cause, "the place of off-site backups does not know of the promotion yet"),
        };
    }
    if let Some(higher) = off_site.find_higher_epoch(&second, &site.site_id, own.epoch) {
        _ = epoch::fence_if_higher(site, higher, SECOND_PLACE);
    }
}

/// The place of off-site backups knows of the promotion of this machine, at last.
fn note_written(site: &Site, epoch: u64) {
    tracing::info!(epoch, "the place of off-site backups knows of the promotion");
    let noted = epoch::change_own(&site.config.data, |own| own.unwritten = None);
    _ = noted.inspect_err(|e| tracing::warn!(cause = %e, "cannot note that the place of off-site backups knows"));
}

/// Moves a long log into the file, once the standby has all of it. Where there is a second place too, its thread does that.
fn begin_log_anew(site: &Site) {
    let writer = site.store.writer();
    let frames = writer.capture.frames();
    let is_other = OffSite::target_of(site).is_some() || !site.state::<Feed>().is_on.load(Ordering::Acquire);
    if is_other || frames < WAL_PAGES_MAX.cast_unsigned() {
        return;
    }
    let is_due = frames >= KEPT_WAL_PAGES_MIN && writer.capture.is_in_step();
    if writer.capture.allows_checkpoint() || is_due {
        writer.checkpoint_confirmed(|| writer.capture.wait_for_standby(HELD_TIME_MAX));
    }
}
