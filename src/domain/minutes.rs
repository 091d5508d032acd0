//! Durations of flight: whole minutes in the code and the database, `H:MM` where people read or type them.

/// The minutes that one flight-time entry or booking may last.
pub(crate) const MINUTES: std::ops::RangeInclusive<i64> = 1..=600;

/// The minutes in a typed text: `12` (minutes) or `1:05` (hours and minutes). `None` for any other text. The caller checks
/// the range, see [`MINUTES`].
pub(crate) fn parse(text: &str) -> Option<i64> {
    let digits = |part: &str| {
        if part.is_empty() || part.len() > 6 {
            None
        } else {
            part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten()
        }
    };
    match text.split_once(':') {
        None => digits(text),
        Some((hours, minutes)) if minutes.len() == 2 => {
            digits(minutes).filter(|m| *m < 60).zip(digits(hours)).map(|(m, h)| h * 60 + m)
        }
        Some(_) => None,
    }
}

/// Minutes as hours and minutes, `1:05`. The hours have no limit and no leading zero.
pub(crate) fn show(minutes: i64) -> String {
    format!("{}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_nonsense_is_not() {
        for (text, minutes) in [("12", Some(12)), ("0:07", Some(7)), ("1:05", Some(65)), ("10:00", Some(600))] {
            assert_eq!(parse(text), minutes, "{text}");
        }
        for text in ["", "-1", "1:5", "1:60", ":30", "1:005", "1.5", "+3", "9999999", "a"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(show(65), "1:05");
    }
}
