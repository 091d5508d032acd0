//! Transactions that share one flush of the disk, and what became of them.

use crate::http::failure::Failure;
use std::sync::OnceLock;

/// Transactions that are committed together.
#[derive(Default)]
pub(crate) struct Group {
    /// Everybody waits for it and nobody locks it: those who wake together would only stand in line once more.
    fate: OnceLock<Fate>,
}

#[derive(Clone)]
pub(super) enum Fate {
    /// In the commit of this number.
    Kept(u64),
    Lost {
        full: bool,
        cause: String,
    },
}

impl Group {
    /// Whether nobody has committed it, or lost it, yet.
    pub(super) fn is_open(&self) -> bool {
        self.fate.get().is_none()
    }

    pub(super) fn decide(&self, fate: Fate) {
        _ = self.fate.set(fate);
    }

    /// The number of the commit.
    pub(super) fn wait(&self) -> Result<u64, Failure> {
        match self.fate.wait() {
            Fate::Kept(commit) => Ok(*commit),
            Fate::Lost { full: true, cause } => Err(Failure::disk_full().because(cause)),
            Fate::Lost { full: false, cause } => Err(Failure::broken().because(cause)),
        }
    }
}
