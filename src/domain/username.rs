//! Usernames: unique without regard to case, so only characters whose case is unambiguous.

use crate::domain::unicode;
use crate::i18n::language::Text;

const CHARS: std::ops::RangeInclusive<usize> = 3..=32;
const DERIVED_CHARS_MAX: usize = 24;

/// Validates a username: 3 to 32 of `a-z A-Z 0-9 . _ -`, returned unchanged.
pub(crate) fn parse(text: &str) -> Result<String, Text> {
    let sound = CHARS.contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
    if sound { Ok(text.to_owned()) } else { Err(Text::new("field.username")) }
}

/// Letters without an accent to remove, and how they are written in ASCII.
const LATIN: [(char, &str); 7] =
    [('ß', "ss"), ('æ', "ae"), ('œ', "oe"), ('ø', "o"), ('ł', "l"), ('đ', "d"), ('ı', "i")];

/// A username derived from a person's name, with room for a suffix: "Jane Doe" becomes `jane.doe`, "Jörg" `jorg`. Letters
/// of other scripts are dropped.
pub(crate) fn derived(name: &str) -> String {
    let mut plain = unicode::folded(name);
    for (letter, ascii) in LATIN {
        plain = plain.replace(letter, ascii);
    }
    let words =
        plain.split_whitespace().map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>());
    let joined = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(".");
    let short: String = joined.chars().take(DERIVED_CHARS_MAX).collect();
    if parse(&short).is_ok() { short } else { "flyer".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_and_characters_are_bounded() {
        for good in ["abc", "Jane.Doe", "x-1_2", &"a".repeat(32)] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in ["", "ab", "a b c", "jane@doe", "jörg", &"a".repeat(33)] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_suggests_a_username() {
        for (name, suggested) in [
            ("Jane Doe", "jane.doe"),
            ("  Mary-Ann  O'Neil ", "maryann.oneil"),
            ("Jörg", "jorg"),
            ("Zoë  Weiß-Øster", "zoe.weissoster"),
            ("飛", "flyer"),
            ("", "flyer"),
        ] {
            assert_eq!(derived(name), suggested, "{name}");
        }
        assert_eq!(derived(&"x".repeat(99)).len(), 24);
    }
}
