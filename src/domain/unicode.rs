//! Unicode normalisation: the same letters become the same characters, whichever device typed them.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use std::borrow::Cow;
use std::ops::RangeInclusive;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const NFD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfd();
const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();
/// Letters as wide as a Chinese one, and Japanese ones of half their width.
const OTHER_WIDTHS: RangeInclusive<char> = '\u{ff00}'..='\u{ffef}';
const ACCENTS: RangeInclusive<char> = '\u{300}'..='\u{36f}';

/// The text in Unicode NFC: a letter and its accent as one character where there is one.
pub(crate) fn nfc(text: &str) -> Cow<'_, str> {
    NFC.normalize(text)
}

/// The text with letters of another width as the usual ones: `ＡＢ` as `AB`.
pub(crate) fn in_usual_width(text: &str) -> Cow<'_, str> {
    if text.chars().any(|c| OTHER_WIDTHS.contains(&c)) { NFKC.normalize(text) } else { Cow::Borrowed(text) }
}

/// A letter without its accents.
pub(crate) fn base_letter(letter: char) -> char {
    NFD.normalize_iter(std::iter::once(letter)).next().unwrap_or(letter)
}

/// Characters that show nothing and are no blanks either: joiners, marks of direction, fillers, the soft hyphen.
pub(crate) fn is_unseen(c: char) -> bool {
    c >= '\u{ad}'
        && matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
}

/// A text as a person means it, and as it is stored: without blanks at its ends and marks that nobody sees, and with each letter
/// as one character. Every name comes through here, whichever way it comes in.
pub(crate) fn as_meant(text: &str) -> Cow<'_, str> {
    match without_marks(trimmed(text)) {
        Cow::Borrowed(plain) => nfc(plain),
        Cow::Owned(plain) => Cow::Owned(nfc(&plain).into_owned()),
    }
}

/// The text without blanks and unseen characters at its ends, where copying from other programs leaves them.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_unseen(c))
}

/// The text without marks that show nothing and change how the letters around them are read: overrides of the direction,
/// zero-width characters, the soft hyphen. Two texts that look the same are the same then, and none looks like another than
/// it is. The two joiners stay where scripts and emoji need them; fillers stay, because they show as a blank.
pub(crate) fn without_marks(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_mark) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        if !is_mark(c) || (is_joiner(c) && kept.chars().next_back().is_some_and(can_be_joined)) {
            kept.push(c);
        }
    }
    Cow::Owned(kept)
}

/// Whether a character has no place in a line: a control character, or what separates lines and paragraphs.
pub(crate) fn breaks_line(c: char) -> bool {
    c.is_control() || is_separator(c)
}

/// Whether a character begins a new line as `\n` does: pages and terminals show none, some programs do.
pub(crate) fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_mark(c: char) -> bool {
    let is_blank = matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    (is_unseen(c) && !is_blank) || matches!(c, '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether a joiner after this character means something: Latin, Greek, Cyrillic and Hebrew letters have no use for it.
fn can_be_joined(c: char) -> bool {
    c >= '\u{600}' && !is_joiner(c) && !matches!(c, '\u{1e00}'..='\u{206f}')
}

/// The text in lower case, without accents and with one kind of apostrophe, so that a name is found however it is
/// typed.
pub(crate) fn folded(text: &str) -> String {
    let letters = NFD.normalize(text);
    let plain = letters.chars().filter(|c| !ACCENTS.contains(c));
    let plain: String = plain.map(|c| if matches!(c, '\u{2019}' | '`' | '\u{b4}') { '\'' } else { c }).collect();
    plain.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accent_is_one_with_its_letter_and_plain_text_is_not_copied() {
        assert_eq!(nfc("Zu\u{308}rich"), "Z\u{fc}rich");
        assert_eq!(nfc("\u{1112}\u{1161}\u{11ab}"), "\u{d55c}");
        assert!(matches!(nfc("Z\u{fc}rich"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_is_kept_as_it_was_meant() {
        assert_eq!(as_meant(" \u{feff}Jo\u{308}r\u{ad}g \u{a0}"), "J\u{f6}rg");
        assert_eq!(as_meant("e\u{200b}\u{301}"), "\u{e9}", "the mark between them is no letter");
        assert!(matches!(as_meant("J\u{f6}rg"), Cow::Borrowed(_)));
    }

    #[test]
    fn marks_that_show_nothing_are_dropped_and_joiners_stay_where_a_script_needs_them() {
        assert!(matches!(without_marks("Zo\u{eb} \u{5d0}\u{5d1}"), Cow::Borrowed(_)));
        for (typed, kept) in [
            ("Jane\u{202e}enaJ\u{202c} Doe", "JaneenaJ Doe"),
            ("\u{2067}a\u{2069}b\u{200b}c\u{ad}d\u{feff}e\u{200f}f\u{2060}g\u{61c}h", "abcdefgh"),
            ("Ja\u{200d}ne Do\u{200c}e", "Jane Doe"),
            (
                "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
                "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            ),
            ("\u{915}\u{94d}\u{200d}\u{200d}\u{937}", "\u{915}\u{94d}\u{200d}\u{937}"),
            (
                "\u{1f469}\u{200d}\u{1f680} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
                "\u{1f469}\u{200d}\u{1f680} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
            ),
        ] {
            assert_eq!(without_marks(typed), kept, "{typed:?}");
        }
    }

    #[test]
    fn a_name_is_the_same_with_and_without_its_accents() {
        for text in ["C\u{f4}te d\u{2019}Ivoire", "Co\u{302}te d'Ivoire", "COTE D`IVOIRE"] {
            assert_eq!(folded(text), "cote d'ivoire");
        }
        assert_eq!(folded("\u{d6}sterreich"), "osterreich");
    }
}
