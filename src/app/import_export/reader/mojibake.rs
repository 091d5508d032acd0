//! Texts that a program took for another encoding than theirs, and saved so.

use crate::i18n::language::Text;

/// What a cell lost, or was meant to say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meant {
    Text(String),
    /// A letter was replaced by the sign for one that is unknown.
    Lost,
    /// The text was read in the encoding of another system, of which nothing can be told for certain.
    Foreign,
}

/// The characters of Windows-1252 from 0x80 to 0x9F; those that it leaves out are kept as they are.
const UPPER: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// Texts that were spoiled more often than this are past help.
const SPOILED_TIMES_MAX: usize = 4;

/// What the text was before a program read its UTF-8 as Windows-1252; `None` where the text is as it should be. Each word is
/// judged by itself, as a list has good cells beside spoiled ones.
pub(super) fn find(text: &str) -> Option<Meant> {
    if text.is_ascii() {
        return None;
    }
    if text.contains('\u{fffd}') {
        return Some(Meant::Lost);
    }
    let mut meant = mended(text);
    for _ in 1..SPOILED_TIMES_MAX {
        let Some(again) = meant.as_deref().and_then(mended) else { break };
        meant = Some(again);
    }
    meant.map(Meant::Text).or_else(|| is_foreign(text).then_some(Meant::Foreign))
}

/// The text with its spoiled words as they were; `None` where there are none.
fn mended(text: &str) -> Option<String> {
    let mut is_spoiled = false;
    let word = |word: &str| {
        let meant = word_meant(word);
        is_spoiled |= meant.is_some();
        meant.unwrap_or_else(|| word.to_owned())
    };
    let words: String = text.split_inclusive(' ').map(word).collect();
    is_spoiled.then_some(words)
}

/// What a word was before its UTF-8 was read as Windows-1252. Every character beyond ASCII must be part of a letter of UTF-8: no
/// word that people write is like that by chance. Where a program left out some of the characters, two letters must be whole.
fn word_meant(word: &str) -> Option<String> {
    if word.is_ascii() {
        return None;
    }
    let bytes: Vec<u8> = word.chars().map(byte).collect::<Option<_>>()?;
    let meant = String::from_utf8_lossy(&bytes);
    let lost = meant.chars().filter(|c| *c == '\u{fffd}').count();
    let letters = meant.chars().filter(|c| is_letter_of_names(*c)).count();
    let others = meant.chars().filter(|c| !c.is_ascii()).count() - lost - letters;
    let is_spoiled = others == 0 && letters > lost && (lost == 0 || letters > 1);
    is_spoiled.then(|| meant.into_owned())
}

/// Whether names and remarks have this character. The letters of phonetics are none: in Windows-1252 they are a capital with an
/// accent before a quotation mark.
fn is_letter_of_names(c: char) -> bool {
    c >= '\u{a0}' && c != '\u{fffd}' && !('\u{240}'..='\u{2ff}').contains(&c)
}

/// Whether a sign of mathematics or of a frame stands where UTF-8 begins a letter, as in `M√ºller` and `M├╝ller`: UTF-8 that was read
/// as the encoding of an old Macintosh, or of DOS.
fn is_foreign(text: &str) -> bool {
    let begins = |c: char| matches!(c, '√' | '≈' | 'ƒ') || ('\u{2500}'..='\u{257f}').contains(&c);
    text.chars().zip(text.chars().skip(1)).any(|(c, next)| begins(c) && !next.is_ascii())
}

fn byte(c: char) -> Option<u8> {
    let place = UPPER.chars().position(|upper| upper == c);
    place.map(|place| 0x80 + place as u8).or_else(|| u8::try_from(u32::from(c)).ok())
}

/// The mistake in a sentence.
pub(super) fn say(meant: &Meant) -> Text {
    match meant {
        Meant::Text(text) => Text::new("list.mojibake").with("meant", format!("{text:?}")),
        Meant::Lost => Text::new("list.letter_lost"),
        Meant::Foreign => Text::new("list.other_encoding"),
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
            ("Åukasz WÃ³jcik", "Åukasz Wójcik"),
            ("ÐÐ»Ñ‘Ð½Ð°", "\u{fffd}лёна"),
            ("Ü JosÃ©", "Ü José"),
            ("JosÃƒÂ© MuÃƒÂ±oz", "José Muñoz"),
        ] {
            assert_eq!(find(cell), Some(Meant::Text(meant.to_owned())), "{cell}");
        }
        assert_eq!(find("Z\u{fffd}rcher"), Some(Meant::Lost));
        for cell in ["Zo√´ M√ºller", "M├╝ller", "≈Åukasz", "Fran√ßois"] {
            assert_eq!(find(cell), Some(Meant::Foreign), "{cell}");
        }
        for cell in [
            "Zoë Müller",
            "São Tomé",
            "Ångström",
            "Œuvrard",
            "«CAFÉ»",
            "Łukasz",
            "山田",
            "Ä",
            "ÃO",
            "Jane",
            "",
            "«GRAND CAFÉ»",
            "CAFÉ’S",
            "paid √",
            "√ Ümit",
            "São João",
            "Đoković",
            "ÅÄÖ",
            "Ñandú",
            "1½",
            "20 °C",
        ] {
            assert_eq!(find(cell), None, "{cell}");
        }
    }
}
