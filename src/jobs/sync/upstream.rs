//! The interface of a receiver, without database and network.

use super::batch::Batch;
use crate::moment::Moment;
use std::time::Duration;

const ERROR_CHARS_MAX: usize = 300;

/// A receiver of batches.
pub trait Upstream {
    /// The receiver's position. `None`: the receiver has no rows, or cannot report a position. `nothing` is a batch
    /// without rows.
    fn ask(&mut self, nothing: &Batch) -> Result<Option<Position>, Trouble>;

    /// Sends a batch, and returns the receiver's position afterwards.
    fn offer(&mut self, batch: &Batch) -> Result<Position, Trouble>;

    /// The last row that a receiver has lost which keeps what it takes. `None`: it has lost none, or cannot say so. `held`: the last
    /// row that it took.
    fn last_lost(&mut self, held: i64) -> Result<Option<i64>, Trouble> {
        _ = held;
        Ok(None)
    }

    /// Closes idle connections.
    fn disconnect(&mut self) {}
}

/// The position of a receiver: the last row that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The row's `seq`; 0: no row.
    pub seq: i64,
    /// The moment of the row (Unix seconds), which distinguishes rows with the same number.
    pub at: Option<Moment>,
}

/// Why a batch was not accepted.
#[derive(Debug, PartialEq)]
pub enum Trouble {
    /// The receiver refuses the content of the batch.
    Refused(String),
    /// The batch is larger than the receiver accepts.
    TooLarge(String),
    /// The receiver expects the rows after another position.
    OutOfPosition(Position),
    /// The receiver answers, and has no room: it is asked again soon, because somebody may make room at any time.
    Full(String),
    /// The receiver accepts no batch now, or the outcome of this batch is unknown.
    Later {
        /// The reason, in one line.
        error: String,
        /// The wait that the receiver requested.
        wait: Option<Duration>,
    },
}

impl Trouble {
    pub(crate) fn later(error: impl std::fmt::Display) -> Trouble {
        Trouble::Later { error: error_line(error), wait: None }
    }
}

/// Another program's error text as one line of limited length.
pub(super) fn error_line(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let line: Vec<&str> = text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
    line.join(" ").chars().take(ERROR_CHARS_MAX).collect()
}
