//! The questions to a receiver and its possible answers, without the file and without the wire.

use super::batch::Batch;
use std::time::Duration;

const ERROR_CHARS_MAX: usize = 300;

/// Somebody who takes batches.
pub trait Upstream {
    /// How far the receiver is: `None` where it holds nothing, or cannot say. `nothing` is a batch without rows.
    fn ask(&mut self, nothing: &Batch) -> Result<Option<Position>, Trouble>;

    /// Hands a batch over, and returns how far the receiver then is.
    fn offer(&mut self, batch: &Batch) -> Result<Position, Trouble>;

    /// Lets go of connections until there is something to carry again.
    fn rest(&mut self) {}
}

/// The last row that a receiver holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The row's `seq`; 0: none.
    pub seq: i64,
    /// When it happened, so that rows with the same number can be told apart.
    pub at: Option<i64>,
}

/// Why a batch was not taken.
#[derive(Debug, PartialEq)]
pub enum Trouble {
    /// Not as it is: something in it is at fault.
    Refused(String),
    /// The batch holds more than the receiver takes at once.
    TooLarge(String),
    /// The receiver goes on from another place.
    OutOfPosition(Position),
    /// None is taken now, or it is not known whether this one was. The receiver may have said how long to wait.
    Later {
        /// One line.
        error: String,
        /// How long the receiver wants to be left alone.
        wait: Option<Duration>,
    },
}

impl Trouble {
    pub(crate) fn later(error: impl std::fmt::Display) -> Trouble {
        Trouble::Later { error: shown(error), wait: None }
    }
}

/// A foreign error text, cut for a row and a screen: one line, and not too long.
pub(super) fn shown(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let line: Vec<&str> = text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
    line.join(" ").chars().take(ERROR_CHARS_MAX).collect()
}
