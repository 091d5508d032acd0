//! What came of a command, and its exit code: 0 done, 1 refused, 2 broken.

use crate::http::failure::Failure;
use serde::{Deserialize, Serialize};
use std::io::Write;

/// The exit code of what broke.
pub const BROKEN: u8 = 2;

/// What a command leaves: text for people or machines, and its exit code.
#[derive(Serialize, Deserialize)]
pub struct Outcome {
    pub code: u8,
    pub text: String,
    /// Whether the text is what was asked for, whatever the code says of it.
    #[serde(default)]
    pub is_result: bool,
}

/// Why a command was not done; one line that says what to do.
pub enum Trouble {
    /// The request was at fault.
    Refused(String),
    /// Something else was.
    Broken(String),
    /// What was asked for, and it is bad news: the code says how bad.
    Found(u8, String),
}

impl Outcome {
    pub fn broken(text: &str) -> Outcome {
        Outcome { code: BROKEN, text: text.to_owned(), is_result: false }
    }
}

impl From<Result<String, Trouble>> for Outcome {
    fn from(done: Result<String, Trouble>) -> Outcome {
        match done {
            Ok(text) => Outcome { code: 0, text, is_result: true },
            Err(Trouble::Refused(text)) => Outcome { code: 1, text, is_result: false },
            Err(Trouble::Broken(text)) => Outcome { code: BROKEN, text, is_result: false },
            Err(Trouble::Found(code, text)) => Outcome { code, text, is_result: true },
        }
    }
}

impl From<Failure> for Trouble {
    /// What the request did wrong is a refusal; the rest is a fault of ours or of the machine.
    fn from(failure: Failure) -> Trouble {
        if failure.status().is_client_error() {
            let said =
                failure.problems().iter().map(|p| format!("{} {}", p.field, p.text.in_english())).collect::<Vec<_>>();
            Trouble::Refused(if said.is_empty() { failure.text().in_english() } else { said.join("; ") })
        } else {
            Trouble::Broken(failure.to_string())
        }
    }
}

pub fn refused(text: impl Into<String>) -> Trouble {
    Trouble::Refused(text.into())
}

pub fn broken(text: impl Into<String>) -> Trouble {
    Trouble::Broken(text.into())
}

/// Results to standard output, trouble to standard error.
pub fn say(outcome: &Outcome) {
    let text = outcome.text.trim_end();
    if text.is_empty() {
        return;
    }
    // A reader that went away (a pipe into `head`) is not our trouble.
    _ = if outcome.is_result {
        writeln!(std::io::stdout(), "{text}")
    } else {
        writeln!(std::io::stderr(), "tunneldesk: {text}")
    };
}
