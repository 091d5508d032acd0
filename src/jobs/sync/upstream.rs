//! The interface of a receiver, without database and network.

use super::batch::Batch;
use std::time::Duration;

const ERROR_CHARS_MAX: usize = 300;

/// A receiver of batches.
pub trait Upstream {
    /// The receiver's position. `None`: it has no rows, or cannot say. `nothing` is a batch without rows.
    fn ask(&mut self, nothing: &Batch) -> Result<Option<Position>, Trouble>;

    /// Sends a batch, and returns the receiver's position afterwards.
    fn offer(&mut self, batch: &Batch) -> Result<Position, Trouble>;

    /// Closes idle connections.
    fn disconnect(&mut self) {}
}

/// The last row that a receiver has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The row's `seq`; 0: none.
    pub seq: i64,
    /// When it happened (Unix seconds), to tell rows of one number apart.
    pub at: Option<i64>,
}

/// Why a batch was not taken.
#[derive(Debug, PartialEq)]
pub enum Trouble {
    /// Something in the batch is wrong.
    Refused(String),
    /// The batch is larger than the receiver takes.
    TooLarge(String),
    /// The receiver wants the rows after another position.
    OutOfPosition(Position),
    /// No batch is taken now, or the outcome of this one is unknown.
    Later {
        /// One line.
        error: String,
        /// The wait that the receiver asked for.
        wait: Option<Duration>,
    },
}

impl Trouble {
    pub(crate) fn later(error: impl std::fmt::Display) -> Trouble {
        Trouble::Later { error: shown(error), wait: None }
    }
}

/// Another program's error text as one line of limited length.
pub(super) fn shown(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let line: Vec<&str> = text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
    line.join(" ").chars().take(ERROR_CHARS_MAX).collect()
}
