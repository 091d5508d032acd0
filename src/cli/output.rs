//! The answer of a command, and the one place that prints it: in words for people, as JSON with `--json`. Exit codes: 0
//! done, 1 refused, 2 failed; those of reports say how bad the news is.

use crate::http::failure::Failure;
use crate::i18n;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

/// The exit code of a command that failed.
pub(super) const FAILED: u8 = 2;

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

/// A text that is printed unchanged with `--json` too, for instance a certificate.
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
pub(super) type CommandResult = Result<Box<dyn Answer>, CommandError>;

/// The answer of a command whose result was written elsewhere, for instance into a file.
pub(super) fn nothing() -> CommandResult {
    text("")
}

pub(super) fn text(text: impl Into<String>) -> CommandResult {
    Ok(Box::new(Text(text.into())))
}

/// A sentence for people, and its values for `--json`.
pub(super) fn done(words: impl Into<String>, values: Value) -> CommandResult {
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

/// Why a command was not carried out, or a report whose exit code is not 0.
pub(crate) enum CommandError {
    /// The command was refused, in one line that says what to do.
    Refused(String),
    /// The command failed by a fault of the program or of the machine.
    Failed(String),
    /// An answer with bad news; the exit code says how bad.
    Report(u8, Box<dyn Answer>),
    /// An answer about something that is broken: an error for people, a result for machines.
    FailedReport(Box<dyn Answer>),
}

/// What is wrong with a field: its name, and the sentence that a page shows beside it.
pub(super) fn said_of(field: &str, text: &i18n::language::Text) -> String {
    format!("{field}: {}", text.in_english())
}

impl From<Failure> for CommandError {
    /// A client error is a refusal; every other failure is a fault of the program or of the machine.
    fn from(failure: Failure) -> CommandError {
        if failure.status().is_client_error() {
            let problems = failure.problems().iter().map(|p| said_of(&p.field, &p.text)).collect::<Vec<_>>();
            CommandError::Refused(if problems.is_empty() { failure.text().in_english() } else { problems.join("; ") })
        } else {
            CommandError::Failed(failure.to_string())
        }
    }
}

pub(super) fn refused(text: impl Into<String>) -> CommandError {
    CommandError::Refused(text.into())
}

pub(super) fn failed(text: impl Into<String>) -> CommandError {
    CommandError::Failed(text.into())
}

/// The output of a command, and its exit code.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    pub code: u8,
    pub text: String,
    /// Whether the text is a result, for standard output, or an error.
    #[serde(default)]
    pub is_result: bool,
}

/// A text without characters that a terminal obeys: an error names what was typed, or stood in a file, or another server said.
fn printable(text: &str) -> String {
    let escaped = |c: char| if is_obeyed(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

/// Whether a terminal obeys a character instead of showing it.
fn is_obeyed(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// The refusal of a command line with a character that a terminal would obey, before anything repeats it.
pub(super) fn refuse_control<'a>(mut args: impl Iterator<Item = Cow<'a, str>>) -> Option<Output> {
    let odd = args.find(|arg| arg.contains(is_obeyed))?;
    Some(Output::refused(format!("no name and no text has control characters, as this one: {odd}")))
}

/// The outcome of writing to standard output: a reader that closed its pipe, like `head`, has read enough.
pub(super) fn ignoring_closed_pipe(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|e| if e.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(e) })
}

/// Reports that the result of a command could not be written to standard output. Returns the exit code.
pub(super) fn unwritten(cause: &io::Error) -> u8 {
    _ = writeln!(io::stderr(), "tunneldesk: the command was carried out, and its result cannot be written: {cause}");
    FAILED
}

impl Output {
    /// The answer as it is printed: as JSON for machines, else in words.
    pub(crate) fn of(answered: CommandResult, json: bool) -> Output {
        let printed = |answer: &dyn Answer| if json { answer.json() } else { answer.to_string() };
        let (code, text, is_result) = match answered {
            Ok(answer) => (0, printed(&*answer), true),
            Err(CommandError::Refused(text)) => (1, printable(&text), false),
            Err(CommandError::Failed(text)) => (FAILED, printable(&text), false),
            Err(CommandError::Report(code, answer)) => (code, printed(&*answer), true),
            Err(CommandError::FailedReport(answer)) => (FAILED, printed(&*answer), json),
        };
        Output { code, text, is_result }
    }

    pub(crate) fn refused(text: impl Into<String>) -> Output {
        Output::of(Err(refused(text)), false)
    }

    pub(crate) fn failed(text: &str) -> Output {
        Output::of(Err(failed(text)), false)
    }

    /// Prints a result to standard output, and an error to standard error. Returns the exit code: [`FAILED`] where the
    /// result could not be written.
    pub(crate) fn print(&self) -> u8 {
        let text = self.text.trim_end();
        if text.is_empty() {
            return self.code;
        }
        if !self.is_result {
            _ = writeln!(io::stderr(), "tunneldesk: {text}");
            return self.code;
        }
        let mut stdout = io::stdout();
        match ignoring_closed_pipe(writeln!(stdout, "{text}").and_then(|()| stdout.flush())) {
            Ok(()) => self.code,
            Err(e) => unwritten(&e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_has_a_character_that_a_terminal_obeys() {
        let typed = "a\u{1b}]0;owned\u{7}\u{9b}31m\r\u{7f}é\tb\nc";
        let shown = r"a\u{1b}]0;owned\u{7}\u{9b}31m\r\u{7f}é";
        for output in [Output::refused(typed), Output::failed(typed)] {
            assert_eq!(output.text, format!("{shown}\tb\nc"));
        }
        let refused = refuse_control(["list", typed].into_iter().map(Cow::from)).unwrap();
        assert!(refused.code == 1 && refused.text.contains(shown), "{}", refused.text);
        assert!(refuse_control(["member", "note", "two\nlines\tand a tab é"].into_iter().map(Cow::from)).is_none());
    }
}
