//! A search for members: the typed text as patterns of the search index, and the distance of a member's names from the text.
//! A search finds beginnings and parts of names, names with typing mistakes, member numbers, telephone numbers and the
//! beginnings of e-mail addresses. A pattern is a query of SQLite's FTS5 with the trigram tokenizer: quoted parts of the
//! indexed words, joined by `AND` and `OR`. In the index each word has a space before it, so a part that begins with a space
//! matches beginnings of words only.

mod spelling;
mod words;

use crate::domain::ids::MemberId;
use spelling::word_distance;
use std::cmp::Ordering;
use words::{Umlauts, WORD_CHARS_MAX, fold_into, folded_words, raw_words};

/// Further words of the typed text are ignored.
const WORDS_MAX: usize = 6;
/// The letters of a trigram: the index finds no shorter part.
const GRAM_CHARS: usize = 3;

/// A parsed search text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MemberQuery {
    /// The typed words of two letters or more, folded: see [`words`].
    words: Vec<String>,
    /// The letters of each of `words`.
    letters: Vec<Vec<char>>,
    /// The letters of all typed words, where there are several.
    joined: Vec<char>,
    /// How the words, and the names that they are compared with, are folded.
    umlauts: Umlauts,
    /// The typed text as a member's number, if it is one.
    pub number: Option<MemberId>,
    /// The typed text, if it can be the beginning of an e-mail address: if it has an `@`, but not as its first character.
    pub email: Option<String>,
    /// The typed digits, if they can be part of a telephone number, without leading zeros, because stored numbers are
    /// international: `+41 79 …` and not `079 …`.
    digits: Option<String>,
}

/// Patterns for a text with typing mistakes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misspellings {
    /// The likelier first.
    pub patterns: Vec<String>,
    /// The least [`MemberQuery::distance`] that a member can have: one mistake in each word that no member has.
    pub least: u32,
}

impl MemberQuery {
    pub(crate) fn parse(typed: &str) -> MemberQuery {
        MemberQuery::parse_as(typed, Umlauts::Plain)
    }

    /// The same search with umlauts spelt out, and the pattern of members who may have the words so: `Mueller` and `Müller`
    /// find each other. `None` where no word can be spelt in two ways.
    pub(crate) fn spelt_out(typed: &str) -> Option<(MemberQuery, String)> {
        let query = MemberQuery::parse_as(typed, Umlauts::SpeltOut);
        let either = |letters: &Vec<char>| {
            let word: String = letters.iter().collect();
            let plain = [("ae", "a"), ("oe", "o"), ("ue", "u"), ("aa", "a")]
                .into_iter()
                .fold(word.clone(), |word, (spelt, plain)| word.replace(spelt, plain));
            let is_other = plain != word && plain.chars().count() >= GRAM_CHARS;
            (if is_other { format!("({} OR {})", quoted(&word), quoted(&plain)) } else { quoted(&word) }, is_other)
        };
        let (words, others): (Vec<String>, Vec<bool>) = query.long_words().map(either).unzip();
        others.contains(&true).then(|| (query, words.join(" AND ")))
    }

    fn parse_as(typed: &str, umlauts: Umlauts) -> MemberQuery {
        let typed = typed.trim();
        if let Some(number) = labelled_number(typed) {
            return MemberQuery { number: Some(number), ..MemberQuery::default() };
        }
        // In `+41 (0)79`, the zero in brackets is dialled from within the country only, so stored numbers do not have it.
        let bare = typed.replace("(0)", "");
        let bare: String = bare.chars().filter(|c| !c.is_whitespace() && !"-‐‑–/().+#".contains(*c)).collect();
        let digits = Some(&bare).filter(|bare| bare.len() >= GRAM_CHARS && bare.bytes().all(|b| b.is_ascii_digit()));
        let digits = digits.map(|bare| bare.trim_start_matches('0').to_owned()).filter(|d| d.len() >= GRAM_CHARS);
        let named = if typed.contains('@') { typed.split('@').next().unwrap_or("") } else { typed };
        let mut words = folded_words(named, umlauts);
        let joined = if words.len() > 1 { words.concat().chars().collect() } else { Vec::new() };
        words.retain(|word| word.chars().count() >= 2);
        words.truncate(WORDS_MAX);
        MemberQuery {
            joined,
            umlauts,
            letters: words.iter().map(|word| word.chars().collect()).collect(),
            words,
            number: typed.trim_start_matches('#').parse().ok().filter(|number| *number > 0).map(MemberId),
            email: typed.contains('@').then(|| typed.to_owned()).filter(|email| !email.starts_with('@')),
            digits,
        }
    }

    /// Whether there is nothing to look for.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.number.is_none() && self.email.is_none() && self.digits.is_none()
    }

    pub(crate) fn has_several_words(&self) -> bool {
        self.words.len() > 1
    }

    /// The pattern of members with this telephone number.
    pub(crate) fn phone_pattern(&self) -> Option<String> {
        self.digits.as_deref().map(quoted)
    }

    /// The pattern of members with each typed word as a whole word.
    pub(crate) fn whole_word_pattern(&self) -> Option<String> {
        all_of(self.words.iter().map(|word| quoted(&format!(" {word} "))))
    }

    /// The pattern of members with a word that begins like each typed word.
    pub(crate) fn prefix_pattern(&self) -> Option<String> {
        all_of(self.words.iter().map(|word| quoted(&format!(" {word}"))))
    }

    /// The pattern of members whose words contain each typed word.
    pub(crate) fn substring_pattern(&self) -> Option<String> {
        all_of(self.long_words().map(|letters| pattern(letters)))
    }

    /// The pattern of members whose names contain the typed words joined: `van den berg` for `Vandenberg`. `None` for one word.
    pub(crate) fn joined_pattern(&self) -> Option<String> {
        (self.joined.len() >= GRAM_CHARS).then(|| pattern(&self.joined))
    }

    /// Whether this [`MemberQuery::distance`] is of a member who has every typed word, or words that begin with it or contain it.
    pub(crate) fn is_without_mistake(distance: u32) -> bool {
        distance < spelling::MISTAKE_DISTANCE
    }

    /// For each typed word of three letters or more, whether any member has a word with this part. `exists` looks a pattern up;
    /// its errors are returned.
    pub(crate) fn known_words<E>(&self, mut exists: impl FnMut(&str) -> Result<bool, E>) -> Result<Vec<bool>, E> {
        self.long_words().map(|letters| exists(&pattern(letters))).collect()
    }

    fn long_words(&self) -> impl Iterator<Item = &Vec<char>> {
        self.letters.iter().filter(|letters| letters.len() >= GRAM_CHARS)
    }

    /// Patterns for a text with typing mistakes; `known` is of [`MemberQuery::known_words`]. The first pattern keeps known words
    /// as typed and each other word has one mistake (see [`right_parts`]); the second allows as many as [`pieces`] does; the
    /// third takes no word as typed. Words of three letters stay in all, shorter ones are left out. Call this only after a
    /// search for the words as typed has found no member.
    pub(crate) fn misspelling_patterns(&self, known: &[bool]) -> Misspellings {
        let (mut near, mut likely, mut possible, mut guessed) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (letters, known) in self.long_words().zip(known) {
            let word = pattern(letters);
            let any = |of: Vec<String>| if of.is_empty() { word.clone() } else { format!("({})", of.join(" OR ")) };
            let pieces = any(pieces(letters));
            let right = pieces == word || *known;
            guessed += u32::from(!right);
            near.push(if right { word.clone() } else { any(right_parts(letters)) });
            likely.push(if right { word } else { pieces.clone() });
            possible.push(pieces);
        }
        let mut patterns = [near, likely, possible].map(|words| words.join(" AND ")).to_vec();
        // Where each word is known, the first two patterns are the search as typed, which found no member.
        patterns.drain(..if guessed == 0 { 2 } else { 0 });
        patterns.dedup();
        patterns.retain(|pattern| pattern.contains('('));
        Misspellings { patterns, least: spelling::MISTAKE_DISTANCE * guessed.max(1) }
    }

    /// The distance of a member with these names from the typed text: the sum, over the typed words, of the distance
    /// ([`word_distance`]) to the nearest word of the names. 0: each typed word is a word of the names. `None`: a typed word is
    /// like none of them. A search judges thousands of members at each keystroke, so this allocates once and `word_distance`
    /// excludes most words by comparing the sets of their letters.
    pub(crate) fn distance<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<u32> {
        let mut nearest = [None; WORDS_MAX];
        let mut letters = Vec::with_capacity(WORD_CHARS_MAX);
        for word in names.flat_map(raw_words) {
            fold_into(&mut letters, word, self.umlauts);
            for (typed, least) in self.letters.iter().zip(&mut nearest) {
                let distance = word_distance(typed, &letters);
                *least = distance.into_iter().chain(*least).min();
            }
        }
        nearest[..self.letters.len()].iter().copied().sum()
    }
}

/// Whether two names are alike as a search folds them: in capitals, without accents, with umlauts spelt out, with other blanks,
/// with their words in another order or joined, or one without some words of the other, such as a second first name.
pub(crate) fn is_same_name(one: &str, other: &str) -> bool {
    [Umlauts::Plain, Umlauts::SpeltOut].into_iter().any(|umlauts| {
        let words = |name: &str| {
            let mut words = folded_words(name, umlauts);
            let joined = words.concat();
            words.sort_unstable();
            (words, joined)
        };
        let (one, other) = (words(one), words(other));
        let (few, many) = if one.0.len() < other.0.len() { (&one.0, &other.0) } else { (&other.0, &one.0) };
        let is_part = few.len() > 1 && few.iter().all(|word| many.contains(word));
        one.0 == other.0 || one.1 == other.1 || is_part
    })
}

/// The member's number in a text of a label and a number, as our pages and printouts write it: `No. 13`, `Nr. 13`, `#13`.
fn labelled_number(typed: &str) -> Option<MemberId> {
    const LABELS: [&str; 9] = ["no", "nr", "nº", "n°", "n.º", "n.°", "№", "num", "#"];
    let digits = typed.find(|c: char| c.is_ascii_digit())?;
    let label = typed[..digits].trim_end().trim_end_matches(['.', ':']).trim_end().to_lowercase();
    LABELS.contains(&&*label).then(|| typed[digits..].parse().ok()).flatten().filter(|number| *number > 0).map(MemberId)
}

/// The pattern that requires all of these; `None` where there are none.
fn all_of(patterns: impl Iterator<Item = String>) -> Option<String> {
    let patterns: Vec<String> = patterns.collect();
    (!patterns.is_empty()).then(|| patterns.join(" AND "))
}

/// A string of the FTS5 query language: no operator in `text` has an effect.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The parts of a typed word that are right if the word has one mistake, as patterns: the word that was meant matches at
/// least one. Empty for words that may have none.
///
/// The word is cut into three pieces. A mistake changes one piece, so two are right; two letters that changed places across
/// a cut are put back. The index finds no part of two letters, so the space before or behind the word is the third. The two
/// pieces of words of four letters are each a pattern of their own: a wrong second letter is found by the end of the word,
/// and therefore not where the typed word is the beginning of a longer one.
fn right_parts(letters: &[char]) -> Vec<String> {
    let count = letters.len();
    let (first, last) = match count {
        0..=3 => return Vec::new(),
        4 => (2, 2),
        _ => ((count + 1) / 3, count - (count + 1) / 3),
    };
    let swapped = |place: usize| {
        let mut letters = letters.to_vec();
        letters.swap(place - 1, place);
        prefix(&letters)
    };
    let end = if count - last < GRAM_CHARS { suffix(&letters[last..]) } else { pattern(&letters[last..]) };
    match count {
        4 => vec![prefix(&letters[..2]), pattern(&letters[1..]), end, swapped(1), swapped(2)],
        _ => vec![
            prefix(&letters[..last]),
            format!("({} AND {end})", prefix(&letters[..first])),
            pattern(&letters[first..]),
            swapped(first),
            swapped(last),
        ],
    }
}

/// Patterns for a word that was typed with as many mistakes as [`spelling`] allows, also if the word is the beginning of a longer one:
/// the word that was meant matches at least one. Many other words do too.
///
/// The typed word is cut into one piece more than it may have mistakes, so one piece is right. Two letters that changed
/// places across a cut would change two pieces: words of six and seven letters therefore leave a letter out between the
/// pieces, in words of five letters they are put back, and in longer words such a mistake counts as two.
fn pieces(letters: &[char]) -> Vec<String> {
    let count = letters.len();
    match count {
        0..=4 => right_parts(letters),
        5 => {
            let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|place| letters[place]);
            vec![prefix(&[a, b]), pattern(&[c, d, e]), prefix(&[a, c, b, d, e])]
        }
        6..=7 => vec![prefix(&letters[..count - 4]), pattern(&letters[count - 3..])],
        _ => {
            let first = count / 3;
            let second = first + (count - first) / 2;
            vec![prefix(&letters[..first]), pattern(&letters[first..second]), pattern(&letters[second..])]
        }
    }
}

/// The pattern of members with a word that contains these letters.
fn pattern(letters: &[char]) -> String {
    quoted(&letters.iter().collect::<String>())
}

/// The pattern of members with a word that begins with these letters.
fn prefix(letters: &[char]) -> String {
    pattern(&[&[' '], letters].concat())
}

/// The pattern of members with a word that ends with these letters.
fn suffix(letters: &[char]) -> String {
    pattern(&[letters, &[' ']].concat())
}

/// The order of results, each with its distance and name: by distance, then by name.
pub(crate) fn order(left: (u32, &str), right: (u32, &str)) -> Ordering {
    left.0.cmp(&right.0).then_with(|| left.1.cmp(right.1))
}

#[cfg(test)]
mod tests;
