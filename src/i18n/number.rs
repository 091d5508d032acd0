//! Numbers in the format of each language.

use super::languages::Language;

/// The space between a number and its percent sign, where the language has one; lines do not break there.
const NARROW_SPACE: &str = "\u{202f}";

/// A whole number with thousands separators: `12,345`, `12.345`, `12 345`. Spanish does not separate four digits.
pub(crate) fn grouped(language: Language, number: i64) -> String {
    let (separator, digits_min) = match language {
        Language::English => (",", 4),
        Language::German | Language::SwissGerman | Language::Italian => (".", 4),
        Language::French => (NARROW_SPACE, 4),
        Language::Spanish => (".", 5),
    };
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (place, digit) in digits.char_indices() {
        if place > 0 && digits.len() >= digits_min && (digits.len() - place).is_multiple_of(3) {
            text.push_str(separator);
        }
        text.push(digit);
    }
    text
}

/// The change from `before` to `now` in percent: `+12%`, `−3 %`. `None` where `before` is 0.
pub(crate) fn change(language: Language, before: i64, now: i64) -> Option<String> {
    let percent = (before != 0).then(|| (100.0 * (now - before) as f64 / before as f64).round() as i64)?;
    let sign = if percent < 0 { "\u{2212}" } else { "+" };
    let room = if language == Language::English { "" } else { NARROW_SPACE };
    Some(format!("{sign}{}{room}%", grouped(language, percent.abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart_as_each_language_writes_them() {
        use Language::{English, French, German, Spanish};
        for (language, number, said) in [
            (English, 999, "999"),
            (English, 1_234, "1,234"),
            (English, -1_234_567, "-1,234,567"),
            (German, 12_345, "12.345"),
            (French, 12_345, "12\u{202f}345"),
            (Spanish, 1_234, "1234"),
            (Spanish, 12_345, "12.345"),
        ] {
            assert_eq!(grouped(language, number), said);
        }
    }

    #[test]
    fn a_change_is_in_percent_and_none_from_nothing() {
        assert_eq!(change(Language::English, 100, 112).as_deref(), Some("+12%"));
        assert_eq!(change(Language::German, 100, 97).as_deref(), Some("\u{2212}3\u{202f}%"));
        assert_eq!(change(Language::English, 10, 10).as_deref(), Some("+0%"));
        assert_eq!(change(Language::English, 0, 5), None);
    }
}
