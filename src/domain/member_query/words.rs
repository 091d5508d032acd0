//! The words of a typed text and of a name, folded: lower case, without accents, so that `Jose` finds `José`.

/// The letters of a word that are compared; further letters are ignored.
pub(super) const WORD_CHARS_MAX: usize = 40;

/// The folded words of a text.
pub(super) fn folded_words(text: &str) -> impl Iterator<Item = String> {
    raw_words(text).map(|word| fold(word).collect())
}

/// The words of a text as written; mail addresses and usernames are split too.
pub(super) fn raw_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "-._@,;/".contains(c)).filter(|word| !word.is_empty())
}

/// The first [`WORD_CHARS_MAX`] letters of a word, in lower case and without accents.
fn fold(text: &str) -> impl Iterator<Item = char> {
    let letters = text.chars().flat_map(char::to_lowercase).filter(|c| !('\u{300}'..='\u{36f}').contains(c));
    letters.map(without_accent).take(WORD_CHARS_MAX)
}

/// Replaces `letters` by the letters of [`fold`], without an allocation.
pub(super) fn fold_into(letters: &mut Vec<char>, text: &str) {
    letters.clear();
    match text.is_ascii() {
        true => letters.extend(text.bytes().take(WORD_CHARS_MAX).map(|b| char::from(b.to_ascii_lowercase()))),
        false => letters.extend(fold(text)),
    }
}

/// A lower-case letter without its accent.
fn without_accent(letter: char) -> char {
    const ACCENTED: [(&str, char); 15] = [
        ("àáâãäåāăą", 'a'),
        ("çćĉċč", 'c'),
        ("ďđ", 'd'),
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
    ];
    if letter.is_ascii() {
        return letter;
    }
    ACCENTED.iter().find(|(letters, _)| letters.contains(letter)).map_or(letter, |(_, base)| *base)
}
