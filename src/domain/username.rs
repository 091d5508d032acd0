//! Usernames: unique without regard to case, so only characters whose case is beyond doubt.

use crate::language::Text;

const CHARS: std::ops::RangeInclusive<usize> = 3..=32;

/// 3 to 32 of `a-z A-Z 0-9 . _ -`, as given.
pub fn parse(text: &str) -> Result<String, Text> {
    let sound = CHARS.contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
    if sound { Ok(text.to_owned()) } else { Err(Text::new("field.username")) }
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
}
