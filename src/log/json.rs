//! An event as one JSON object on one line, its fields flat beside time and level. The object is written without a tree
//! of values in between, because every request writes one.

use std::fmt::{self, Write};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

pub(super) struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        line.write_str("{\"timestamp\":\"")?;
        tracing_subscriber::fmt::time().format_time(&mut line)?;
        line.write_str("\",\"level\":\"")?;
        line.write_str(event.metadata().level().as_str())?;
        line.write_char('"')?;
        let mut fields = Fields { line, outcome: Ok(()) };
        event.record(&mut fields);
        fields.outcome?;
        fields.line.write_str("}\n")
    }
}

/// Writes each field that it is shown.
struct Fields<'w> {
    line: Writer<'w>,
    outcome: fmt::Result,
}

impl Fields<'_> {
    fn add(&mut self, field: &Field, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        let add = || {
            self.line.write_str(",\"")?;
            self.line.write_str(field.name())?;
            self.line.write_str("\":")?;
            write(&mut self.line)
        };
        self.outcome = self.outcome.and_then(|()| add());
    }
}

impl Visit for Fields<'_> {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, |line| write!(line, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, |line| write!(line, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, |line| write!(line, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, |line| {
            line.write_char('"')?;
            Escaped(line).write_str(value)?;
            line.write_char('"')
        });
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, |line| {
            line.write_char('"')?;
            write!(Escaped(line), "{value:?}")?;
            line.write_char('"')
        });
    }
}

/// The inside of a JSON string.
struct Escaped<'l, 'w>(&'l mut Writer<'w>);

impl Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(place) = rest.find(|c| c == '"' || c == '\\' || c < ' ') {
            self.0.write_str(&rest[..place])?;
            match rest.as_bytes()[place] {
                special @ (b'"' | b'\\') => write!(self.0, "\\{}", char::from(special))?,
                control => write!(self.0, "\\u{control:04x}")?,
            }
            rest = &rest[place + 1..];
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_field_holds_the_line_is_json() {
        for text in ["", "plain", "a \"quoted\\ line\"\n\twith\u{1} controls", "Föhn\u{7f}"] {
            let mut line = String::from("\"");
            Escaped(&mut Writer::new(&mut line)).write_str(text).unwrap();
            line.push('"');
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
