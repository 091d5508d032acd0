//! The standby: a second machine with a copy of the site, which takes over when it is promoted.

/// Whether an answer waits until the standby has stored its write on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wait {
    /// Answers do not wait.
    #[default]
    Never,
    /// Answers wait while the standby keeps up, and otherwise do not.
    InStep,
    /// A write that the standby does not have is refused.
    Refuse,
}
