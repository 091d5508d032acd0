//! Transactions that share one flush of the disk, and what became of them.

use crate::http::failure::Failure;
use std::sync::OnceLock;

/// Transactions that are committed together.
#[derive(Default)]
pub(crate) struct Group {
    /// Everybody waits for it and nobody locks it: those who wake together would only stand in line once more.
    outcome: OnceLock<GroupOutcome>,
}

#[derive(Clone)]
pub(super) enum GroupOutcome {
    /// In the commit of this number.
    Committed(u64),
    Failed {
        full: bool,
        cause: String,
    },
}

impl Group {
    /// Whether nobody has committed it, or lost it, yet.
    pub(super) fn is_open(&self) -> bool {
        self.outcome.get().is_none()
    }

    pub(super) fn decide(&self, outcome: GroupOutcome) {
        _ = self.outcome.set(outcome);
    }

    /// The number of the commit.
    pub(super) fn wait(&self) -> Result<u64, Failure> {
        match self.outcome.wait() {
            GroupOutcome::Committed(commit) => Ok(*commit),
            GroupOutcome::Failed { full: true, cause } => Err(Failure::disk_full().because(cause)),
            GroupOutcome::Failed { full: false, cause } => Err(Failure::broken().because(cause)),
        }
    }
}
