//! An event as one JSON object on one line, its fields flat beside time and level. The object is written without a tree
//! of values in between, because every request writes one.

use crate::clock;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Write};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

pub(super) struct Json;

thread_local! {
    /// The buffer in which this thread writes its lines.
    static LINE: Cell<String> = const { Cell::new(String::new()) };
    /// The last second of which this thread wrote a line, in Unix seconds and in words, without what follows the point.
    static SECOND: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
}

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut text = LINE.take();
        text.clear();
        text.push_str("{\"timestamp\":\"");
        push_time(&mut text, clock::since_1970());
        text.push_str("\",\"level\":\"");
        text.push_str(event.metadata().level().as_str());
        text.push('"');
        event.record(&mut Fields(&mut text));
        text.push_str("}\n");
        let written = line.write_str(&text);
        LINE.set(text);
        written
    }
}

/// A moment by its time since 1970, in UTC, to the microsecond: `2026-05-28T13:26:31.000042Z`.
fn push_time(text: &mut String, since: Duration) {
    let second = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    SECOND.with_borrow_mut(|(known, in_words)| {
        if *known != second {
            let moment = jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::MAX);
            *in_words = jiff::tz::TimeZone::UTC.to_datetime(moment).to_string();
            in_words.truncate("0000-00-00T00:00:00".len());
            *known = second;
        }
        text.push_str(in_words);
    });
    let micros = u64::from(since.subsec_micros());
    text.push('.');
    let digits = (0..6_u32).rev().map(|place| char::from(b'0' + (micros / 10_u64.pow(place) % 10) as u8));
    text.extend(digits);
    text.push('Z');
}

fn push_decimal(text: &mut String, mut value: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend(digits[first..].iter().map(|digit| char::from(*digit)));
}

/// Writes each field that it is shown.
struct Fields<'t>(&'t mut String);

impl Fields<'_> {
    fn name(&mut self, field: &Field) -> &mut String {
        self.0.push_str(",\"");
        self.0.push_str(field.name());
        self.0.push_str("\":");
        self.0
    }
}

impl Visit for Fields<'_> {
    fn record_i64(&mut self, field: &Field, value: i64) {
        let text = self.name(field);
        if value < 0 {
            text.push('-');
        }
        push_decimal(text, value.unsigned_abs());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        push_decimal(self.name(field), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.name(field).push_str(if value { "true" } else { "false" });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let text = self.name(field);
        text.push('"');
        push_escaped(text, value);
        text.push('"');
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = self.name(field);
        text.push('"');
        _ = write!(Escaped(text), "{value:?}");
        text.push('"');
    }
}

/// Adds to the inside of a JSON string.
fn push_escaped(text: &mut String, value: &str) {
    let mut rest = value;
    while let Some(place) = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ') {
        text.push_str(&rest[..place]);
        match rest.as_bytes()[place] {
            special @ (b'"' | b'\\') => text.extend(['\\', char::from(special)]),
            control => _ = write!(text, "\\u{control:04x}"),
        }
        rest = &rest[place + 1..];
    }
    text.push_str(rest);
}

/// The inside of a JSON string, for what is written piece by piece.
struct Escaped<'t>(&'t mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        push_escaped(self.0, text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_field_holds_the_line_is_json() {
        for text in ["", "plain", "a \"quoted\\ line\"\n\twith\u{1} controls", "Föhn\u{7f}"] {
            let mut line = String::from("\"");
            Escaped(&mut line).write_str(text).unwrap();
            line.push('"');
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }

    #[test]
    fn numbers_and_moments_are_written_as_the_standard_library_writes_them() {
        for number in [0, 7, 10, 99, 100, 4_294_967_296, u64::MAX] {
            let mut text = String::new();
            push_decimal(&mut text, number);
            assert_eq!(text, number.to_string());
        }
        let written = |micros: u64| {
            let mut text = String::new();
            push_time(&mut text, Duration::from_micros(micros));
            text
        };
        assert_eq!(written(42), "1970-01-01T00:00:00.000042Z");
        assert_eq!(written(951_782_400_000_000), "2000-02-29T00:00:00.000000Z");
        assert_eq!(written(951_782_400_999_999), "2000-02-29T00:00:00.999999Z");
        assert_eq!(written(1_780_000_000_123_456), "2026-05-28T20:26:40.123456Z");
    }
}
