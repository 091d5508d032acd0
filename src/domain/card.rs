//! The number of a card or a wristband, as a reader types it.

/// Greatest and least length: shorter numbers are typed by hand, longer ones are not of a card.
const CHARS: std::ops::RangeInclusive<usize> = 4..=32;

/// The card number in capital letters and digits, without the separators that readers insert (`:`, `-`, spaces).
/// `None`: not a card number.
pub(crate) fn parse(typed: &str) -> Option<String> {
    let kept = typed.chars().filter(|c| !c.is_whitespace() && !":-;%?".contains(*c));
    let card: String = kept.map(|c| c.to_ascii_uppercase()).collect();
    (CHARS.contains(&card.len()) && card.chars().all(|c| c.is_ascii_alphanumeric())).then_some(card)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn readers_write_one_number_in_many_ways() {
        for typed in ["04:a2:3f:91", "04A23F91", " 04-a2-3f-91 ", ";04a23f91?"] {
            assert_eq!(parse(typed).as_deref(), Some("04A23F91"), "{typed}");
        }
        for typed in ["", "123", "jané42", "a@example.org", &"1".repeat(33)] {
            assert_eq!(parse(typed), None, "{typed}");
        }
    }
}
