//! The requests of a standby and their replies, as both machines know them.

/// The header with the kind of a reply.
pub(crate) const KIND_HEADER: &str = "x-standby";
/// The header with the epoch of the machine that replies.
pub(crate) const EPOCH_HEADER: &str = "x-standby-epoch";
/// The header with the size of the whole tick or base.
pub(crate) const BYTES_HEADER: &str = "x-standby-bytes";

/// What a standby requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// The base, from an offset on.
    Base,
    /// The next tick, from an offset on.
    Tick,
    /// Nothing: the standby was promoted.
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
    /// The highest epoch that the standby knows.
    pub epoch: u64,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    /// This machine was replaced.
    Replaced,
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
            Reply::BaseNeeded => "base-needed",
            Reply::BaseInProgress => "base-under-way",
            Reply::Nothing => "nothing",
            Reply::Part { .. } => "part",
        }
    }

    /// A reply as it was received. `None`: the kind is unknown, or the size is missing.
    pub(crate) fn parse(kind: &str, bytes: Vec<u8>, total: Option<u64>) -> Option<Reply> {
        let part = total.map(|total| Reply::Part { bytes, total });
        let all =
            [Some(Reply::Replaced), Some(Reply::BaseNeeded), Some(Reply::BaseInProgress), Some(Reply::Nothing), part];
        all.into_iter().flatten().find(|reply| reply.kind() == kind)
    }
}
