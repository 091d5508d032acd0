//! The status of the off-site copy, for the health checks and the metrics.

use super::{Replica, lock};
use crate::ops::backup::off_site::OffSite;
use crate::site::Site;
use crate::store::engine::capture::{FollowerKind, Lag};
use std::sync::atomic::Ordering;

/// What the thread reports of the copy.
#[derive(Default, Clone)]
pub(super) struct Report {
    /// Whether there is a base with ticks of this process.
    pub has_chain: bool,
    /// Why the last round failed.
    pub trouble: Option<String>,
    /// Another machine was seen to write off site as this site. Kept until the server ends.
    pub other_machine: Option<String>,
}

/// The status of the off-site copy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    /// Whether there is a base with ticks of this process.
    pub has_chain: bool,
    /// Seconds since the oldest commit that is not confirmed, whatever became of its chain. Until the first base of this
    /// process: since its start.
    pub behind_seconds: i64,
    /// Bytes of the commits since the start that are not confirmed.
    pub behind_bytes: u64,
    pub trouble: Option<String>,
    /// Another machine writes off site as this site: where.
    pub other_machine: Option<String>,
    /// Whether the off-site target may overwrite a file of another machine.
    pub replaces: bool,
}

/// The status now. `None`: the settings name no off-site target, or no server runs.
pub(crate) fn status(site: &Site) -> Option<Status> {
    let replica = site.state::<Replica>();
    if !replica.is_on.load(Ordering::Acquire) {
        return None;
    }
    let report = lock(&replica.report).clone();
    let Lag { bytes, since } = site.store.writer().capture.behind(FollowerKind::OffSite);
    Some(Status {
        has_chain: report.has_chain,
        behind_seconds: since.map_or(0, |since| (site.now() - since).max(0)),
        behind_bytes: bytes,
        trouble: report.trouble,
        other_machine: report.other_machine,
        replaces: OffSite::of(site).is_some_and(|off_site| off_site.target().replaces()),
    })
}
