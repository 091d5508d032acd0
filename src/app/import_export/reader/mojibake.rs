//! Texts that a program took for another encoding than theirs, and saved so.

use crate::i18n::language::Text;

/// What a cell lost, or was meant to say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meant {
    Text(String),
    /// A letter was replaced by the sign for one that is unknown.
    Lost,
}

/// The characters of Windows-1252 from 0x80 to 0x9F; those that it leaves out are kept as they are.
const UPPER: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// What the text was before a program read its UTF-8 as Windows-1252; `None` where the text is as it should be. Every
/// character beyond ASCII must be part of a letter of UTF-8: no text that people write is like that by chance.
pub(super) fn find(text: &str) -> Option<Meant> {
    if text.is_ascii() {
        return None;
    }
    if text.contains('\u{fffd}') {
        return Some(Meant::Lost);
    }
    let bytes: Option<Vec<u8>> = text.chars().map(byte).collect();
    String::from_utf8(bytes?).ok().map(Meant::Text)
}

fn byte(c: char) -> Option<u8> {
    let place = UPPER.chars().position(|upper| upper == c);
    place.map(|place| 0x80 + place as u8).or_else(|| u8::try_from(u32::from(c)).ok())
}

/// The mistake in a sentence.
pub(super) fn say(meant: Meant) -> Text {
    match meant {
        Meant::Text(text) => Text::new("list.mojibake").with("meant", format!("{text:?}")),
        Meant::Lost => Text::new("list.letter_lost"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Meant, find};

    #[test]
    fn utf_8_that_was_read_as_another_encoding_is_told_from_text() {
        for (cell, meant) in [
            ("ZoÃ« MÃ¼ller", "Zoë Müller"),
            ("ZÃ¼rcher", "Zürcher"),
            ("Å\u{81}ukasz", "Łukasz"),
            ("Dâ€™Angelo", "D’Angelo"),
            ("å±±ç”°", "山田"),
        ] {
            assert_eq!(find(cell), Some(Meant::Text(meant.to_owned())), "{cell}");
        }
        assert_eq!(find("Z\u{fffd}rcher"), Some(Meant::Lost));
        for cell in ["Zoë Müller", "São Tomé", "Ångström", "Œuvrard", "«CAFÉ»", "Łukasz", "山田", "Ä", "ÃO", "Jane", ""]
        {
            assert_eq!(find(cell), None, "{cell}");
        }
    }
}
