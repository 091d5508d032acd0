//! Groups of transactions that share one flush of the disk, and their outcome.

use crate::http::failure::Failure;
use std::sync::OnceLock;

/// Transactions that are committed together. Without a lock, so that all waiting threads wake at once.
#[derive(Default)]
pub(crate) struct Group {
    outcome: OnceLock<GroupOutcome>,
}

#[derive(Clone)]
pub(super) enum GroupOutcome {
    /// In the commit with this number.
    Committed(u64),
    Failed {
        full: bool,
        cause: String,
    },
}

impl Group {
    /// Whether the group is not committed, and has not failed.
    pub(super) fn is_open(&self) -> bool {
        self.outcome.get().is_none()
    }

    pub(super) fn decide(&self, outcome: GroupOutcome) {
        _ = self.outcome.set(outcome);
    }

    /// Waits for the outcome; returns the number of the commit.
    pub(super) fn wait(&self) -> Result<u64, Failure> {
        match self.outcome.wait() {
            GroupOutcome::Committed(commit) => Ok(*commit),
            GroupOutcome::Failed { full: true, cause } => Err(Failure::disk_full().because(cause)),
            GroupOutcome::Failed { full: false, cause } => Err(Failure::broken().because(cause)),
        }
    }
}
