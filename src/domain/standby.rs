//! The standby: a second machine that has a copy of the site and takes its place when somebody says so.

/// Whether an answer waits until the standby has its write on its disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wait {
    /// Answers do not wait.
    #[default]
    Never,
    /// While the standby keeps up; otherwise answers go out without it.
    InStep,
    /// A write that the standby does not have is refused.
    Refuse,
}
