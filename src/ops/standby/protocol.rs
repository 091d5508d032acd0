//! The requests of a standby and their replies, as both machines know them.

use super::epoch::Claim;

/// The header with the kind of a reply.
pub(crate) const KIND_HEADER: &str = "x-standby";
/// The headers with the greatest claim that the machine knows which replies.
pub(crate) const EPOCH_HEADER: &str = "x-standby-epoch";
pub(crate) const MARK_HEADER: &str = "x-standby-mark";
/// The header with the size of the whole tick or base.
pub(crate) const BYTES_HEADER: &str = "x-standby-bytes";

/// What a standby requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// The base, from an offset on.
    Base,
    /// The next tick, from an offset on.
    Tick,
    /// Which of the two is the main machine: the standby was promoted.
    Promoted,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub kind: RequestKind,
    /// The lineage of the standby's copy (hex); empty: it has none.
    pub lineage: String,
    /// The number of the last tick on the standby's disk.
    pub number: u64,
    pub offset: u64,
    /// The greatest claim that the standby knows.
    pub claim: Claim,
    /// The address of the machine that has that claim, where the standby was promoted.
    pub url: Option<String>,
    /// The id of the standby's site; empty: an earlier version sends none.
    pub site: String,
    /// The id of the standby, by which another one is known; empty: an earlier version sends none.
    pub follower: String,
    /// The address of the standby, for the log.
    pub peer: String,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    /// This machine was replaced.
    Replaced,
    /// This machine has another site.
    OtherSite,
    /// Another standby follows, and there is one at a time.
    Taken,
    /// The standby's copy cannot be continued.
    BaseNeeded,
    /// The base is being made.
    BaseInProgress,
    /// There are no new commits.
    Nothing,
    /// A part of a tick or base.
    Part {
        /// The part.
        bytes: Vec<u8>,
        /// The size of the whole.
        total: u64,
    },
}

impl Reply {
    /// The value of the kind header.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Reply::Replaced => "replaced",
            Reply::OtherSite => "other-site",
            Reply::Taken => "taken",
            Reply::BaseNeeded => "base-needed",
            Reply::BaseInProgress => "base-under-way",
            Reply::Nothing => "nothing",
            Reply::Part { .. } => "part",
        }
    }

    /// A reply as it was received. `None`: the kind is unknown, or the size is missing.
    pub(crate) fn parse(kind: &str, bytes: Vec<u8>, total: Option<u64>) -> Option<Reply> {
        let part = total.map(|total| Reply::Part { bytes, total });
        let bare =
            [Reply::Replaced, Reply::OtherSite, Reply::Taken, Reply::BaseNeeded, Reply::BaseInProgress, Reply::Nothing];
        bare.into_iter().chain(part).find(|reply| reply.kind() == kind)
    }
}
