//! The number of a card or a wristband, as a reader types it.

/// Greatest and least length: shorter numbers are typed by hand, longer ones are not of a card.
const CHARS: std::ops::RangeInclusive<usize> = 4..=32;
/// The keys of the digits 1 to 9 and 0 on a French keyboard, where a reader set to another one types these.
const FRENCH_DIGITS: &str = "&é\"'(-è_çà";
/// What stands between the parts of a number: separators, frames and start marks, and what becomes of them where the reader
/// is set to the keyboard of another language.
const BETWEEN: &str = ":-;%?*=+/_.,'\"´`^()[]{}<>|\\~#$&!§°ÖöÄäÜüßÑñÇçÒòÀàÈèÙùÌìª";

/// The card number in capital letters and digits, without frames (`*…*`, `;…?`), the mark of the kind of code (`]C1…`) and
/// separators, which differ from reader to reader and from keyboard to keyboard. What one reader types is always the same
/// number. `None`: not a card number.
pub(crate) fn parse(typed: &str) -> Option<String> {
    let kept: String = typed.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let in_digits = from_french(&kept).unwrap_or(kept);
    let number = without_kind(&in_digits);
    let within = number.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '@');
    let card: String = within.chars().filter(|c| !BETWEEN.contains(*c)).map(|c| c.to_ascii_uppercase()).collect();
    (CHARS.contains(&card.len()) && card.chars().all(|c| c.is_ascii_alphanumeric())).then_some(card)
}

/// The digits that a reader typed.
pub(crate) fn digits(typed: &str) -> String {
    from_french(typed).as_deref().unwrap_or(typed).chars().filter(char::is_ascii_digit).collect()
}

/// The digits of a text that a French keyboard made of them: without a digit, and mostly of those keys.
fn from_french(text: &str) -> Option<String> {
    let is_key = |c: char| FRENCH_DIGITS.contains(c);
    let keys = text.chars().filter(|c| is_key(*c)).count();
    let is_french =
        keys >= *CHARS.start() && keys * 2 > text.chars().count() && !text.chars().any(|c| c.is_ascii_digit());
    let digit = |c: char| FRENCH_DIGITS.chars().position(|key| key == c).and_then(|at| "1234567890".chars().nth(at));
    is_french.then(|| text.chars().map(|c| digit(c).unwrap_or(c)).collect())
}

/// The text after the mark of the kind of code that scanners may send first (ISO/IEC 15424): `]`, a letter and a digit. Other
/// keyboards make `+` or `$` of the bracket.
fn without_kind(text: &str) -> &str {
    let mut first = text.chars();
    let is_kind = matches!(first.next(), Some(']' | '+' | '$'))
        && first.next().is_some_and(|c| c.is_ascii_alphabetic())
        && first.next().is_some_and(|c| c.is_ascii_alphanumeric());
    if is_kind { first.as_str() } else { text }
}

#[cfg(test)]
mod tests {
    use super::{digits, parse};

    #[test]
    fn readers_write_one_number_in_many_ways() {
        for typed in [
            "04:a2:3f:91",
            "04A23F91",
            " 04-a2-3f-91 ",
            ";04a23f91?",
            "*04A23F91*",
            "(04A23F91(",
            "]C104A23F91",
            "+C104A23F91",
            "ö04a23f91_",
            "ñ04a23f91_",
            "04Öa2Ö3fÖ91",
            "04ßa2ß3fß91",
            "\u{2}04A23F91\u{3}\r\n",
        ] {
            assert_eq!(parse(typed).as_deref(), Some("04A23F91"), "{typed}");
        }
        assert_eq!(parse("&é\"'(-è_çà").as_deref(), Some("1234567890"));
        assert_eq!((digits("]Q10123 456"), digits("àéé&-")), ("10123456".to_owned(), "02216".to_owned()));
        assert_eq!(parse(";1234567=99?").as_deref(), Some("123456799"));
        for typed in ["", "123", "jané42", "a@example.org", "@anna1", "山田太郎", &"1".repeat(33)] {
            assert_eq!(parse(typed), None, "{typed}");
        }
    }
}
