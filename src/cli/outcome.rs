//! The answer of a command, and the one place that prints it: in words for people, as JSON with `--json`. Exit codes: 0
//! done, 1 refused, 2 broken.

use crate::http::failure::Failure;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::fmt::{self, Display, Formatter};
use std::io::Write;

/// The exit code of what broke.
pub(super) const BROKEN: u8 = 2;

/// The result of a command: `Display` for people, `Serialize` for machines.
pub(crate) trait Answer: Display {
    /// The answer on one line of JSON.
    fn json(&self) -> String;
}

impl<T: Display + Serialize> Answer for T {
    fn json(&self) -> String {
        serde_json::to_string(self).expect("our own structs can be written as JSON")
    }
}

/// A text that machines get as it is too, for instance a certificate.
pub(super) struct Text(pub String);

impl Display for Text {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Answer for Text {
    fn json(&self) -> String {
        self.0.clone()
    }
}

/// The return type of a command.
pub(super) type Answered = Result<Box<dyn Answer>, Trouble>;

/// The answer of a command whose result went elsewhere, for instance into a file.
pub(super) fn nothing() -> Answered {
    text("")
}

pub(super) fn text(text: impl Into<String>) -> Answered {
    Ok(Box::new(Text(text.into())))
}

/// A few values, and the sentence that tells them.
pub(super) fn done(words: impl Into<String>, values: Value) -> Answered {
    Ok(Box::new(Done { words: words.into(), values }))
}

/// See [`done`].
pub(super) struct Done {
    pub words: String,
    pub values: Value,
}

impl Display for Done {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl Serialize for Done {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

/// Why a command was not done; one line that says what to do.
pub(crate) enum Trouble {
    /// The request was at fault.
    Refused(String),
    /// Something else was.
    Broken(String),
    /// The answer is bad news: the exit code says how bad.
    Found(u8, Box<dyn Answer>),
    /// The answer is that something is broken: an error for people, a result for machines.
    FoundBroken(Box<dyn Answer>),
}

impl From<Failure> for Trouble {
    /// A fault of the request is a refusal; the rest is a fault of the program or of the machine.
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

pub(super) fn refused(text: impl Into<String>) -> Trouble {
    Trouble::Refused(text.into())
}

pub(super) fn broken(text: impl Into<String>) -> Trouble {
    Trouble::Broken(text.into())
}

/// The output of a command, and its exit code.
#[derive(Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub code: u8,
    pub text: String,
    /// Whether the text is what was asked for, whatever the code says of it.
    #[serde(default)]
    pub is_result: bool,
}

impl Outcome {
    /// The answer as it is printed: as JSON for machines, else in words.
    pub(crate) fn of(answered: Answered, json: bool) -> Outcome {
        let printed = |answer: &dyn Answer| if json { answer.json() } else { answer.to_string() };
        let (code, text, is_result) = match answered {
            Ok(answer) => (0, printed(&*answer), true),
            Err(Trouble::Refused(text)) => (1, text, false),
            Err(Trouble::Broken(text)) => (BROKEN, text, false),
            Err(Trouble::Found(code, answer)) => (code, printed(&*answer), true),
            Err(Trouble::FoundBroken(answer)) => (BROKEN, printed(&*answer), json),
        };
        Outcome { code, text, is_result }
    }

    pub(crate) fn refused(text: impl Into<String>) -> Outcome {
        Outcome::of(Err(refused(text)), false)
    }

    pub(crate) fn broken(text: &str) -> Outcome {
        Outcome::of(Err(broken(text)), false)
    }

    /// Results to standard output, trouble to standard error.
    pub(crate) fn print(&self) {
        let text = self.text.trim_end();
        if text.is_empty() {
            return;
        }
        // A reader that went away (a pipe into `head`) is not our trouble.
        _ = if self.is_result {
            writeln!(std::io::stdout(), "{text}")
        } else {
            writeln!(std::io::stderr(), "tunneldesk: {text}")
        };
    }
}
