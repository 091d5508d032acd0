//! Screen names: the names that others see.

/// The greatest length, in characters.
pub(crate) const CHARS_MAX: usize = 60;

/// The screen name of a person who chose none: the real name, cut after the last word that fits.
pub(crate) fn derived(real_name: &str) -> &str {
    let Some((cut, next)) = real_name.char_indices().nth(CHARS_MAX) else { return real_name };
    let kept = &real_name[..cut];
    let whole_words = if next.is_whitespace() { Some(cut) } else { kept.rfind(char::is_whitespace) };
    kept[..whole_words.unwrap_or(cut)].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_after_a_word_and_a_long_word_after_a_character() {
        assert_eq!(derived("Jane Doe"), "Jane Doe");
        assert_eq!(derived(&"\u{fc}".repeat(60)), "\u{fc}".repeat(60));
        assert_eq!(derived(&"\u{fc}".repeat(61)), "\u{fc}".repeat(60));
        let words = ["Wolfeschlegel"; 5].join(" ");
        assert_eq!(derived(&words), ["Wolfeschlegel"; 4].join(" "));
        assert_eq!(derived(&format!("{} Doe", "x".repeat(60))), "x".repeat(60));
    }
}
