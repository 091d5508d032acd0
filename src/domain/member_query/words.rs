//! The words of a typed text and of a name, folded: lower case, without accents and apostrophes, and with letters that few
//! keyboards have as others write them, so that `Jose` finds `José`, and `weiss` finds `Weiß`. The view `member_words` folds the
//! same letters for the index.

use crate::domain::unicode::{base_letter, in_usual_width};

/// The letters of a word that are compared; further letters are ignored.
pub(super) const WORD_CHARS_MAX: usize = 40;

/// Whether letters with an umlaut lose it, or are spelt out, as in `Mueller` for `Müller`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Umlauts {
    #[default]
    Plain,
    SpeltOut,
}

/// The folded words of a text.
pub(super) fn folded_words(text: &str, umlauts: Umlauts) -> Vec<String> {
    raw_words(&in_usual_width(text)).map(|word| fold(word, umlauts).collect()).collect()
}

/// The words of a text as written; mail addresses and usernames are split too.
pub(super) fn raw_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "-._@,;/".contains(c) || is_dash(c)).filter(|word| !word.is_empty())
}

/// Whether a character is a dash that programs write for a hyphen.
fn is_dash(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// The first [`WORD_CHARS_MAX`] letters of a word, in lower case, without accents and apostrophes.
fn fold(text: &str, umlauts: Umlauts) -> impl Iterator<Item = char> {
    let letters = text.chars().flat_map(char::to_lowercase);
    letters.filter(|c| !is_left_out(*c)).flat_map(move |letter| plain(letter, umlauts)).take(WORD_CHARS_MAX)
}

/// Whether a character is an accent of its own, an apostrophe or the dot of `Gal·la`.
fn is_left_out(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c) || "'’‘ʼʻ′`´＇·".contains(c)
}

/// A lower-case letter as it is typed where the keyboard lacks it.
fn plain(letter: char, umlauts: Umlauts) -> impl Iterator<Item = char> {
    const SPELT_OUT: [(char, &str); 5] = [('ä', "ae"), ('ö', "oe"), ('ü', "ue"), ('ø', "oe"), ('å', "aa")];
    const SEVERAL: [(char, &str); 11] = [
        ('ß', "ss"),
        ('æ', "ae"),
        ('œ', "oe"),
        ('þ', "th"),
        ('ĳ', "ij"),
        ('ﬀ', "ff"),
        ('ﬁ', "fi"),
        ('ﬂ', "fl"),
        ('ﬃ', "ffi"),
        ('ﬄ', "ffl"),
        ('ﬆ', "st"),
    ];
    let spelt_out = SPELT_OUT.iter().filter(|_| umlauts == Umlauts::SpeltOut);
    let found = SEVERAL.iter().chain(spelt_out).find(|(known, _)| !letter.is_ascii() && *known == letter);
    let several = found.map_or("", |(_, letters)| letters);
    several.chars().chain(several.is_empty().then(|| without_accent(letter)))
}

/// Replaces `letters` by the letters of [`fold`], without an allocation.
pub(super) fn fold_into(letters: &mut Vec<char>, text: &str, umlauts: Umlauts) {
    letters.clear();
    match text.is_ascii() {
        true => {
            let bytes = text.bytes().filter(|b| !b"'`".contains(b)).take(WORD_CHARS_MAX);
            letters.extend(bytes.map(|b| char::from(b.to_ascii_lowercase())));
        }
        false => letters.extend(fold(text, umlauts)),
    }
}

/// A lower-case letter without its accent.
fn without_accent(letter: char) -> char {
    const ACCENTED: [(&str, char); 26] = [
        ("àáâãäåāăą", 'a'),
        ("çćĉċč", 'c'),
        ("ďđð", 'd'),
        ("èéêëēĕėęě", 'e'),
        ("ĝğġģ", 'g'),
        ("ìíîïĩīĭįı", 'i'),
        ("ĺļľł", 'l'),
        ("ñńņň", 'n'),
        ("òóôõöōŏőø", 'o'),
        ("ŕŗř", 'r'),
        ("śŝşšș", 's'),
        ("ţťŧț", 't'),
        ("ùúûüũūŭůűų", 'u'),
        ("ýÿŷ", 'y'),
        ("źżž", 'z'),
        ("ħĥ", 'h'),
        ("ŋ", 'n'),
        ("ά", 'α'),
        ("έ", 'ε'),
        ("ή", 'η'),
        ("ίϊΐ", 'ι'),
        ("ό", 'ο'),
        ("ύϋΰ", 'υ'),
        ("ώ", 'ω'),
        ("ς", 'σ'),
        ("ё", 'е'),
    ];
    if letter.is_ascii() {
        return letter;
    }
    let found = ACCENTED.iter().find(|(letters, _)| letters.contains(letter)).map(|(_, base)| *base);
    // Letters of Vietnamese and others, with two accents.
    let decomposed = || ('\u{1e00}'..='\u{1eff}').contains(&letter).then(|| base_letter(letter));
    found.or_else(decomposed).unwrap_or(letter)
}
