//! Text in one form: the same letters are the same characters, whichever device typed them.

use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();

/// The text in Unicode NFC: a letter and its accent as one character where there is one.
pub fn nfc(text: &str) -> Cow<'_, str> {
    NFC.normalize(text)
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
}
