//! The standby: a second machine that fetches every commit of this site, and replaces it when a person promotes it.
//!
//! The site follows its WAL for the standby in a chain of its own ([`feed`]). The standby keeps the copy ([`copy`]), and
//! confirms a tick once it is flushed. A promotion raises the epoch ([`epoch`]); a machine that learns of a higher epoch than
//! its own refuses all writes.

mod base;
mod chain;
pub(crate) mod claim;
pub(crate) mod copy;
pub(crate) mod epoch;
mod epoch_files;
pub(crate) mod feed;
pub(crate) mod promote;
pub(crate) mod protocol;

use crate::ops::backup::off_site::OffSite;
use crate::ops::replication;
use crate::site::Site;
use crate::store::engine::connection::{KEPT_WAL_PAGES_MIN, WAL_PAGES_MAX};
use epoch::Claim;
use feed::Feed;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// How often a server checks whether it was replaced, and whether its WAL is long.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// A bucket is asked at every fifth check: each costs a request.
const CHECKS_PER_BUCKET_REQUEST: u64 = 5;
/// How long writers wait for the standby, so that a long WAL can be checkpointed.
const HELD_TIME_MAX: Duration = Duration::from_millis(200);

/// Where a higher epoch was seen.
const OFF_SITE: &str = "the off-site target";

/// The status of this site's standby.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    /// Whether a standby follows.
    pub is_attached: bool,
    /// Whether the standby keeps up, so that writes can wait for it.
    pub is_in_step: bool,
    /// Seconds since the oldest commit that the standby has not confirmed.
    pub behind_seconds: i64,
    pub behind_bytes: u64,
    /// Whether a second standby was refused a moment ago.
    pub has_second: bool,
}

/// `None`: the settings name no standby, or no server runs.
pub(crate) fn status(site: &Site) -> Option<Status> {
    let feed = site.state::<Feed>();
    if !feed.is_on.load(Ordering::Acquire) {
        return None;
    }
    Some(feed.status(site))
}

/// Refuses writes if this machine was replaced while it was down. Called before the server starts.
pub(crate) fn begin(site: &Site) {
    if let Some(fenced) = epoch::fenced(&site.config.data) {
        site.store.writer().monitor.mark_replaced(&fenced);
    }
    // A bucket may answer slowly: the thread below asks it.
    if OffSite::of(site).is_some_and(|off_site| off_site.target().path().is_some()) {
        check_off_site_epoch(site);
    }
    if site.config.replica.token.is_some() {
        site.state::<Feed>().begin(site);
    }
}

/// Ends the waiting request of the standby, for the shutdown.
pub(crate) fn end(site: &Site) {
    site.state::<Feed>().end(site);
}

/// Checks whether this machine was replaced, and whether the WAL is long, until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    for check in 0_u64.. {
        let is_bucket = OffSite::of(site).is_some_and(|off_site| off_site.target().path().is_none());
        if !is_bucket || check.is_multiple_of(CHECKS_PER_BUCKET_REQUEST) {
            check_off_site_epoch(site);
        }
        site.state::<Feed>().drop_idle(site, feed::BASE_IDLE_SECONDS_MAX);
        checkpoint_long_log(site);
        if !site.rest(stop, CHECK_INTERVAL) {
            break;
        }
    }
}

/// Refuses writes if there is a higher epoch off site: another machine has replaced this one.
fn check_off_site_epoch(site: &Site) {
    let Some(off_site) = OffSite::of(site) else { return };
    let own = epoch::own(&site.config.data);
    if let Some(content) = own.unwritten.filter(|_| epoch::fenced(&site.config.data).is_none()) {
        return match off_site.write_epoch(&site.site_id, own.epoch, &content, epoch::catch_up) {
            Ok(None) => note_written(site, own.epoch),
            Ok(Some(taken)) => epoch::fence(site, &Claim::off_site(taken), OFF_SITE, None),
            Err(cause) => tracing::debug!(cause, "the epoch of the promotion cannot be written off site yet"),
        };
    }
    let Some(higher) = off_site.find_higher_epochs(&site.site_id, own.epoch) else { return };
    replication::note_stranger(site, higher.strange);
    if let Some(higher) = higher.believed {
        _ = claim::hear(site, &Claim::off_site(higher), OFF_SITE, None);
    }
}

/// Notes that the epoch of the promotion was written off site.
fn note_written(site: &Site, epoch: u64) {
    tracing::info!(epoch, "the epoch of the promotion is written off site");
    let noted = epoch::change_own(&site.config.data, |own| own.unwritten = None);
    _ = noted.inspect_err(|e| tracing::warn!(cause = %e, "cannot note that the epoch is written off site"));
}

/// Checkpoints a long WAL once the standby has all of it. With an off-site copy its thread does that.
fn checkpoint_long_log(site: &Site) {
    let writer = site.store.writer();
    let frames = writer.capture.frames();
    let is_other = OffSite::of(site).is_some() || !site.state::<Feed>().is_on.load(Ordering::Acquire);
    if is_other || frames < WAL_PAGES_MAX.cast_unsigned() {
        return;
    }
    let is_due = frames >= KEPT_WAL_PAGES_MIN && writer.capture.is_in_step();
    if writer.capture.allows_checkpoint() || is_due {
        writer.checkpoint_confirmed(|| writer.capture.wait_for_standby(HELD_TIME_MAX));
    }
}
