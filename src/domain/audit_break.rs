//! How the chain of the audit log can be broken.

use serde::Serialize;
use std::fmt;

/// Where the chain is broken, by the number of the row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Break {
    /// The hash of a row does not match its content under the key beside the database.
    Changed {
        /// Its number.
        row: i64,
    },
    /// Rows are missing.
    Missing {
        /// The number of the first of them.
        row: i64,
        /// The number of the last of them.
        to: i64,
    },
    /// The last row has another hash than the site's row: rows were rewritten.
    EndDiffers {
        /// The number of the last row.
        row: i64,
    },
    /// There are rows behind the end that the site's row has.
    Beyond {
        /// The number of the first of them.
        row: i64,
    },
    /// The manifest of a backup has another row there, or one that is missing: the log was rewritten, or the database replaced.
    WitnessDiffers {
        /// Its number.
        row: i64,
        /// The backup's name.
        backup: String,
    },
}

impl Break {
    pub(crate) fn row(&self) -> i64 {
        match self {
            Break::Changed { row }
            | Break::Missing { row, .. }
            | Break::EndDiffers { row }
            | Break::Beyond { row }
            | Break::WitnessDiffers { row, .. } => *row,
        }
    }

    /// The kind in one word, as in JSON.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Break::Changed { .. } => "changed",
            Break::Missing { .. } => "missing",
            Break::EndDiffers { .. } => "end_differs",
            Break::Beyond { .. } => "beyond",
            Break::WitnessDiffers { .. } => "witness_differs",
        }
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Break::Changed { row } => write!(f, "row {row} was changed"),
            Break::Missing { row, to } if row == to => write!(f, "row {row} was removed"),
            Break::Missing { row, to } => write!(f, "rows {row} to {to} were removed"),
            Break::EndDiffers { row } => write!(
                f,
                "the end of the log at row {row} is not the one that was written: it was cut off or was rewritten"
            ),
            Break::Beyond { row } => write!(f, "row {row} was put behind the end of the log"),
            Break::WitnessDiffers { row, backup } => write!(
                f,
                "backup {backup} has another row {row}: the log was rewritten since, or the database was replaced by hand"
            ),
        }
    }
}
