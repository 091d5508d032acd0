//! A booking as a calendar file (iCalendar, RFC 5545).

use crate::domain::local_time::TimeZone;
use crate::moment::Moment;
use std::fmt::Write;

/// Longest line, in bytes; longer ones are folded.
const LINE_BYTES_MAX: usize = 75;

/// An event of a calendar. Moments in Unix seconds.
pub(crate) struct Event<'a> {
    /// The same for one booking whenever its file is made, so that a calendar replaces what it has.
    pub uid: &'a str,
    /// Grows with each change.
    pub sequence: i64,
    pub made_at: Moment,
    pub from: Moment,
    pub to: Moment,
    pub title: &'a str,
    pub place: &'a str,
    pub is_cancelled: bool,
}

/// The file.
pub(crate) fn file(event: &Event) -> String {
    let mut text = String::new();
    let status = if event.is_cancelled { "CANCELLED" } else { "CONFIRMED" };
    for (name, value) in [
        ("BEGIN", "VCALENDAR".to_owned()),
        ("VERSION", "2.0".to_owned()),
        ("PRODID", "-//tunneldesk//bookings//EN".to_owned()),
        ("METHOD", "PUBLISH".to_owned()),
        ("BEGIN", "VEVENT".to_owned()),
        ("UID", escaped(event.uid)),
        ("SEQUENCE", event.sequence.to_string()),
        ("DTSTAMP", utc(event.made_at)),
        ("DTSTART", utc(event.from)),
        ("DTEND", utc(event.to)),
        ("SUMMARY", escaped(event.title)),
        ("LOCATION", escaped(event.place)),
        ("STATUS", status.to_owned()),
        ("END", "VEVENT".to_owned()),
        ("END", "VCALENDAR".to_owned()),
    ] {
        fold(&mut text, &format!("{name}:{value}"));
    }
    text
}

/// `20261127T170000Z`
fn utc(moment: Moment) -> String {
    let at = TimeZone::UTC.calendar(moment);
    let (date, time) = ((at.year(), at.month(), at.day()), (at.hour(), at.minute(), at.second()));
    format!("{:04}{:02}{:02}T{:02}{:02}{:02}Z", date.0, date.1, date.2, time.0, time.1, time.2)
}

/// A text as a value: without line breaks, and with the separators escaped.
fn escaped(text: &str) -> String {
    let mut value = String::new();
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => _ = write!(value, "\\{c}"),
            c if c.is_control() => value.push(' '),
            c => value.push(c),
        }
    }
    value
}

/// Appends a line, folded so that no part is longer than [`LINE_BYTES_MAX`].
fn fold(text: &mut String, line: &str) {
    let mut length = 0;
    for c in line.chars() {
        if length + c.len_utf8() > LINE_BYTES_MAX {
            text.push_str("\r\n ");
            length = 1;
        }
        text.push(c);
        length += c.len_utf8();
    }
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_utc_moments_escaped_texts_and_short_lines() {
        let event = Event {
            uid: "booking-7@hall",
            sequence: 3,
            made_at: Moment(1_795_800_000),
            from: Moment(1_795_800_000),
            to: Moment(1_795_800_600),
            title: "Vol\u{a0}: 10 min; à deux, \\o/\nX-EVIL:1",
            place: &"Föhnhalle ".repeat(12),
            is_cancelled: true,
        };
        let text = file(&event);
        assert!(text.contains("\r\nDTSTART:20261127T172000Z\r\nDTEND:20261127T173000Z\r\n"), "{text}");
        assert!(text.contains("SUMMARY:Vol\u{a0}: 10 min\\; à deux\\, \\\\o/ X-EVIL:1\r\n"), "{text}");
        assert!(text.contains("STATUS:CANCELLED") && text.starts_with("BEGIN:VCALENDAR\r\n"), "{text}");
        assert!(text.split("\r\n").all(|line| line.len() <= LINE_BYTES_MAX), "{text}");
        assert_eq!(text.replace("\r\n ", "").matches("Föhnhalle").count(), 12, "{text}");
    }
}
