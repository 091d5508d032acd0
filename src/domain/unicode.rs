//! Unicode normalisation: the same letters become the same characters, whichever device typed them.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use std::borrow::Cow;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const NFD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfd();
const ACCENTS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{36f}';

/// The text in Unicode NFC: a letter and its accent as one character where there is one.
pub(crate) fn nfc(text: &str) -> Cow<'_, str> {
    NFC.normalize(text)
}

/// Characters that show nothing and are no blanks either: joiners, marks of direction, fillers, the soft hyphen.
pub(crate) fn is_unseen(c: char) -> bool {
    c >= '\u{ad}'
        && matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
}

/// The text without blanks and unseen characters at its ends, where copying from other programs leaves them.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_unseen(c))
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
    fn a_name_is_the_same_with_and_without_its_accents() {
        for text in ["C\u{f4}te d\u{2019}Ivoire", "Co\u{302}te d'Ivoire", "COTE D`IVOIRE"] {
            assert_eq!(folded(text), "cote d'ivoire");
        }
        assert_eq!(folded("\u{d6}sterreich"), "osterreich");
    }
}
