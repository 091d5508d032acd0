//! Where a text mentions a person: by a name that the person has or had, by an address, a telephone number or the member
//! number. Case and accents do not matter.

use super::unicode::folded;
use super::{phone, strength};
use crate::domain::ids::MemberId;
use std::borrow::Cow;

/// Shorter words of a name are too common to search for.
const WORD_CHARS_MIN: usize = 3;
/// Least length of a name of several words that is searched for in the texts of others.
const NAME_CHARS_MIN: usize = 5;
/// A member number of fewer digits is searched for only where the text says that it is one: "20" is mostly minutes.
const NUMBER_DIGITS_MIN: usize = 5;
/// Words before a member number, folded.
const NUMBER_WORDS: [&str; 21] = [
    "member", "members", "mitglied", "membre", "socio", "socia", "miembro", "membro", "flyer", "flieger", "no", "nr",
    "n", "num", "number", "nummer", "numero", "id", "account", "konto", "customer",
];
/// How letters are written that are no letter with an accent, by people without the key.
const SPELLED: [(char, &str); 8] =
    [('ß', "ss"), ('ø', "o"), ('ł', "l"), ('đ', "d"), ('æ', "ae"), ('œ', "oe"), ('ı', "i"), ('þ', "th")];
const UMLAUTS: [(char, &str); 3] = [('ä', "ae"), ('ö', "oe"), ('ü', "ue")];

/// What a person is called, and reached by, today or earlier.
#[derive(Debug, Clone, Default)]
pub(crate) struct Person {
    pub member_id: MemberId,
    /// User names, screen names and real names.
    pub names: Vec<String>,
    pub addresses: Vec<String>,
    /// In E.164.
    pub phones: Vec<String>,
    /// Names of one word that another member has too, in lower case.
    pub shared: Vec<String>,
}

/// What is searched for.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    terms: Vec<Term>,
    /// Spellings of telephone numbers, digits alone.
    phones: Vec<String>,
    number: String,
}

#[derive(Debug)]
struct Term {
    /// Folded.
    words: Vec<String>,
    /// The exact text between the words; `None`: blanks and little marks.
    gaps: Option<Vec<String>>,
}

/// A word of a text: its place in bytes, and the word folded.
struct Word {
    start: usize,
    end: usize,
    folded: String,
}

impl Person {
    /// The terms to search for in texts by or for the person: every name, and the words of names.
    pub(crate) fn closely(&self) -> Terms {
        let mut close = self.widely();
        for name in &self.names {
            close.terms.extend(Term::of_name(name));
            let long = words(name).into_iter().filter(|word| word.folded.chars().count() >= WORD_CHARS_MIN);
            close.terms.extend(long.map(|word| Term { words: vec![word.folded], gaps: None }));
        }
        close
    }

    /// The terms to search for in the texts of every member: those that hardly mean another person.
    pub(crate) fn widely(&self) -> Terms {
        let mut terms = Vec::new();
        for name in self.names.iter().filter(|name| self.is_distinct(name)) {
            terms.extend(Term::of_name(name));
        }
        terms.extend(self.addresses.iter().filter_map(|address| Term::exact(address)));
        let phones = self.phones.iter().flat_map(|number| phone::spellings(number)).collect();
        Terms { terms, phones, number: self.member_id.to_string() }
    }

    /// Whether a name hardly means anybody else. A name of one word may be a word of the language, or many people's.
    fn is_distinct(&self, name: &str) -> bool {
        let name = name.trim();
        match words(name).len() {
            0 => false,
            1 => !strength::is_common(name) && !self.shared.contains(&name.to_lowercase()),
            _ => name.chars().count() >= NAME_CHARS_MIN,
        }
    }
}

impl Term {
    /// A name, also with the last word first, and with umlauts as two letters.
    fn of_name(name: &str) -> Vec<Term> {
        let spelled =
            UMLAUTS.iter().fold(name.to_lowercase(), |name, (umlaut, letters)| name.replace(*umlaut, letters));
        let mut terms = Vec::new();
        for name in [name, &spelled] {
            let mut words: Vec<String> = words(name).into_iter().map(|word| word.folded).collect();
            if words.is_empty() {
                continue;
            }
            terms.push(Term { words: words.clone(), gaps: None });
            if words.len() > 1 {
                words.rotate_right(1);
                terms.push(Term { words, gaps: None });
            }
        }
        terms
    }

    fn exact(text: &str) -> Option<Term> {
        let text = text.trim();
        let found = words(text);
        let gaps = found.windows(2).map(|pair| text[pair[0].end..pair[1].start].to_owned()).collect();
        (!found.is_empty())
            .then(|| Term { words: found.into_iter().map(|word| word.folded).collect(), gaps: Some(gaps) })
    }

    /// Whether the words of the text from `at` are this term.
    fn is_at(&self, text: &str, found: &[Word], at: usize) -> bool {
        let Some(here) = found.get(at..at + self.words.len()) else { return false };
        if !self.words.iter().zip(here).all(|(wanted, word)| *wanted == word.folded) {
            return false;
        }
        let mut between = here.windows(2).map(|pair| &text[pair[0].end..pair[1].start]);
        match &self.gaps {
            None => between.all(is_little),
            Some(gaps) => gaps.iter().zip(between).all(|(wanted, gap)| wanted == gap) && stands_alone(text, here),
        }
    }
}

/// Whether an address is no part of a longer one.
fn stands_alone(text: &str, found: &[Word]) -> bool {
    let before = found.first().and_then(|word| text[..word.start].chars().next_back());
    let mut after = found.last().map_or("", |word| &text[word.end..]).chars();
    let goes_on = matches!(after.next(), Some('.' | '-' | '@')) && after.next().is_some_and(char::is_alphanumeric);
    !matches!(before, Some('.' | '-' | '_' | '+')) && !goes_on
}

/// Whether this stands between the words of one name.
fn is_little(gap: &str) -> bool {
    gap.len() <= 4 && gap.chars().all(|c| c.is_whitespace() || matches!(c, '-' | ',' | '.' | '_' | '\'' | '\u{2019}'))
}

impl Terms {
    /// Whether the text mentions the person, in the text itself or in one that is escaped in it.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let plain = unescaped(text);
        !self.find(text).is_empty() || (plain != text && (!self.find(&plain).is_empty() || self.are_in(&plain)))
    }

    /// The text with `stand_in` in place of each mention; `None` where the text has none.
    pub(crate) fn replaced(&self, text: &str, stand_in: &str) -> Option<String> {
        let found = self.find(text);
        if found.is_empty() {
            return None;
        }
        let (mut said, mut from) = (String::with_capacity(text.len()), 0);
        for (start, end) in found {
            said.push_str(&text[from..start]);
            said.push_str(stand_in);
            from = end;
        }
        said.push_str(&text[from..]);
        Some(said)
    }

    /// The places of the mentions, in order.
    fn find(&self, text: &str) -> Vec<(usize, usize)> {
        if text.is_empty() {
            return Vec::new();
        }
        let words = words(text);
        let (mut found, mut at) = (Vec::new(), 0);
        while at < words.len() {
            let longest = self.terms.iter().filter(|term| term.is_at(text, &words, at)).map(|t| t.words.len()).max();
            let phone = self.phone_at(text, &words, at);
            match longest.max(phone) {
                Some(count) => {
                    let start = words[at].start;
                    let plus = usize::from(phone.is_some() && text[..start].ends_with('+'));
                    found.push((start - plus, words[at + count - 1].end));
                    at += count;
                }
                None => at += 1,
            }
        }
        let is_named = !found.is_empty();
        let numbers = (0..words.len()).filter(|at| self.is_number(text, &words, *at, is_named));
        found.extend(numbers.map(|at| (words[at].start, words[at].end)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The number of words from `at` that are a telephone number of the person.
    fn phone_at(&self, text: &str, words: &[Word], at: usize) -> Option<usize> {
        let mut digits = String::new();
        for (count, word) in words[at..].iter().enumerate() {
            let gap = if count == 0 { "" } else { &text[words[at + count - 1].end..word.start] };
            let goes_on = gap.len() <= 3 && gap.chars().all(|c| " -./()\u{a0}\u{202f}".contains(c));
            if !goes_on || !word.folded.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            digits.push_str(&word.folded);
            let begins = |spelling: &&String| spelling.starts_with(&digits);
            if self.phones.contains(&digits) {
                return Some(count + 1);
            }
            self.phones.iter().find(begins)?;
        }
        None
    }

    /// Whether the word is the person's member number, and no other quantity. `is_named`: the text mentions the person
    /// otherwise.
    fn is_number(&self, text: &str, words: &[Word], at: usize, is_named: bool) -> bool {
        let word = &words[at];
        if word.folded != self.number {
            return false;
        }
        let (before, after) = (&text[..word.start], &text[word.end..]);
        let is_part = |rest: &str, mark: Option<char>| {
            matches!(mark, Some('.' | ',' | ':')) && rest.starts_with(|c: char| c.is_ascii_digit())
        };
        let ends_part =
            before.chars().rev().nth(1).is_some_and(|c| c.is_ascii_digit()) && before.ends_with(['.', ',', ':']);
        if ends_part || is_part(after.get(1..).unwrap_or(""), after.chars().next()) {
            return false;
        }
        let said = at.checked_sub(1).is_some_and(|previous| {
            let gap = &text[words[previous].end..word.start];
            NUMBER_WORDS.contains(&&*words[previous].folded) && gap.chars().all(|c| !c.is_alphanumeric())
        });
        let marked = before.trim_end().ends_with(['#', '№', '°']);
        is_named || said || marked || words.len() == 1 || self.number.len() >= NUMBER_DIGITS_MIN
    }
}

/// The words of a text: letters and digits, with their accents and with marks that show nothing.
fn words(text: &str) -> Vec<Word> {
    let is_part =
        |c: char| c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200d}');
    let (mut found, mut start) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_part(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(Word { start: from, end: at, folded: fold(&text[from..at]) });
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut plain = String::with_capacity(word.len());
    for c in folded(word).chars().filter(|c| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}')) {
        match SPELLED.iter().find(|(letter, _)| *letter == c) {
            Some((_, letters)) => plain.push_str(letters),
            None => plain.push(c),
        }
    }
    plain
}

/// The text without the escapes of JSON, of forms and of HTML, as far as they can hide a name.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '%', '&', '+']) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let (said, taken) = match bytes[at] {
            b'\\' => of_json(&text[at..]),
            b'%' => of_form(&text[at..]),
            b'&' => of_html(&text[at..]),
            b'+' => Some((vec![b' '], 1)),
            _ => None,
        }
        .unwrap_or((vec![bytes[at]], 1));
        plain.extend(said);
        at += taken;
    }
    Cow::Owned(String::from_utf8_lossy(&plain).into_owned())
}

fn utf8(code: u32) -> Option<Vec<u8>> {
    char::from_u32(code).map(|c| c.to_string().into_bytes())
}

fn of_json(text: &str) -> Option<(Vec<u8>, usize)> {
    match text.as_bytes().get(1)? {
        b'u' => Some((utf8(u32::from_str_radix(text.get(2..6)?, 16).ok()?)?, 6)),
        b'n' | b't' | b'r' => Some((vec![b' '], 2)),
        c @ (b'"' | b'\\' | b'/') => Some((vec![*c], 2)),
        _ => None,
    }
}

fn of_form(text: &str) -> Option<(Vec<u8>, usize)> {
    Some((vec![u8::from_str_radix(text.get(1..3)?, 16).ok()?], 3))
}

fn of_html(text: &str) -> Option<(Vec<u8>, usize)> {
    let (name, _) = text.get(1..)?.split_once(';').filter(|(name, _)| name.len() <= 8)?;
    let taken = name.len() + 2;
    if let Some(number) = name.strip_prefix('#') {
        let hex = number.strip_prefix(['x', 'X']).map(|hex| u32::from_str_radix(hex, 16));
        return Some((utf8(hex.unwrap_or_else(|| number.parse()).ok()?)?, taken));
    }
    let said = match name {
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        "lt" => "<",
        "gt" => ">",
        "nbsp" => " ",
        _ => return None,
    };
    Some((said.as_bytes().to_vec(), taken))
}

#[cfg(test)]
mod tests;
