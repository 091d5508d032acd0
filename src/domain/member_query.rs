//! A search for members: the typed text as patterns of the search index, and the distance of a member's names from the text.
//! A search finds beginnings and parts of names, names with typing mistakes, member numbers, telephone numbers and the
//! beginnings of e-mail addresses. A pattern is a query of SQLite's FTS5 with the trigram tokenizer: quoted parts of the
//! indexed words, joined by `AND` and `OR`. In the index each word has a space before it, so a part that begins with a space
//! matches beginnings of words only.

use std::cmp::Ordering;

/// Further words of the typed text are ignored.
const WORDS_MAX: usize = 6;
const WORD_CHARS_MAX: usize = 40;
/// The letters of a trigram: the index finds no shorter part.
const GRAM_CHARS: usize = 3;
/// The distance of one typing mistake. A typed beginning (1) or part (2) of a word is nearer.
pub(crate) const GUESS: u32 = 10;

/// A parsed search text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MemberQuery {
    /// The typed words of two letters or more, folded: see [`fold`].
    words: Vec<String>,
    /// The letters of each of `words`.
    letters: Vec<Vec<char>>,
    /// The typed text as a member's number, if it is one.
    pub number: Option<i64>,
    /// The typed text, if it can be the beginning of an e-mail address: if it has an `@`, but not as its first character.
    pub email: Option<String>,
    /// The typed digits, if they can be part of a telephone number, without leading zeros, because stored numbers are
    /// international: `+41 79 …` and not `079 …`.
    digits: Option<String>,
}

impl MemberQuery {
    pub(crate) fn parse(typed: &str) -> MemberQuery {
        let typed = typed.trim();
        if let Some(number) = labelled(typed) {
            return MemberQuery { number: Some(number), ..MemberQuery::default() };
        }
        // In `+41 (0)79`, the zero in brackets is dialled from within the country only, so stored numbers do not have it.
        let bare = typed.replace("(0)", "");
        let bare: String = bare.chars().filter(|c| !c.is_whitespace() && !"-‐‑–/().+#".contains(*c)).collect();
        let digits = Some(&bare).filter(|bare| bare.len() >= GRAM_CHARS && bare.bytes().all(|b| b.is_ascii_digit()));
        let digits = digits.map(|bare| bare.trim_start_matches('0').to_owned()).filter(|d| d.len() >= GRAM_CHARS);
        let named = if typed.contains('@') { typed.split('@').next().unwrap_or("") } else { typed };
        let words: Vec<String> = words(named).filter(|word| word.chars().count() >= 2).take(WORDS_MAX).collect();
        MemberQuery {
            letters: words.iter().map(|word| word.chars().collect()).collect(),
            words,
            number: typed.trim_start_matches('#').parse().ok().filter(|number| *number > 0),
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

    /// The pattern of members with a word that begins like each typed word.
    pub(crate) fn prefix_pattern(&self) -> Option<String> {
        all(self.words.iter().map(|word| quoted(&format!(" {word}"))))
    }

    /// The pattern of members whose words contain each typed word.
    pub(crate) fn substring_pattern(&self) -> Option<String> {
        let long = self.words.iter().filter(|word| word.chars().count() >= GRAM_CHARS);
        all(long.map(|word| quoted(word)))
    }

    /// Patterns for a text with typing mistakes, the likelier first. `is_known`: whether any member has a word with this
    /// part; its errors are returned. The first pattern keeps known words as typed and replaces each other word by its
    /// [`pieces`]; the second replaces every word. Words of three letters stay in both, shorter ones are left out. Call this
    /// only after a search for the words as typed has found no member.
    pub(crate) fn misspelling_patterns<E>(
        &self,
        mut is_known: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<Vec<String>, E> {
        let (mut likely, mut possible, mut guessed) = (Vec::new(), Vec::new(), 0);
        for letters in self.letters.iter().filter(|letters| letters.len() >= GRAM_CHARS) {
            let word = quoted(&letters.iter().collect::<String>());
            let pieces = pieces(letters);
            let pieces = if pieces.is_empty() { word.clone() } else { format!("({})", pieces.join(" OR ")) };
            // A text of one word was searched for as typed, so the word is not known.
            let right = pieces == word || self.letters.len() > 1 && is_known(&word)?;
            guessed += usize::from(!right);
            likely.push(if right { word } else { pieces.clone() });
            possible.push(pieces);
        }
        let mut patterns = vec![likely.join(" AND "), possible.join(" AND ")];
        // Where each word is known, the first pattern is the search as typed, which found no member.
        patterns.drain(..usize::from(guessed == 0));
        patterns.dedup();
        patterns.retain(|pattern| pattern.contains('('));
        Ok(patterns)
    }

    /// The distance of a member with these names from the typed text: the sum, over the typed words, of the distance
    /// ([`apart`]) to the nearest word of the names. 0: each typed word is a word of the names. `None`: a typed word is
    /// like none of them. A search judges thousands of members at each keystroke, so this allocates once and `apart`
    /// excludes most words by comparing the sets of their letters.
    pub(crate) fn distance<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<u32> {
        let mut nearest = [None; WORDS_MAX];
        let mut letters = Vec::with_capacity(WORD_CHARS_MAX);
        for part in names.flat_map(parts) {
            fold_into(&mut letters, part);
            for (typed, least) in self.letters.iter().zip(&mut nearest) {
                let far = apart(typed, &letters);
                *least = far.into_iter().chain(*least).min();
            }
        }
        nearest[..self.letters.len()].iter().copied().sum()
    }
}

/// The member's number in a text of a label and a number, as our pages and printouts write it: `No. 13`, `Nr. 13`, `#13`.
fn labelled(typed: &str) -> Option<i64> {
    const LABELS: [&str; 9] = ["no", "nr", "nº", "n°", "n.º", "n.°", "№", "num", "#"];
    let digits = typed.find(|c: char| c.is_ascii_digit())?;
    let label = typed[..digits].trim_end().trim_end_matches(['.', ':']).trim_end().to_lowercase();
    LABELS.contains(&&*label).then(|| typed[digits..].parse().ok()).flatten().filter(|number| *number > 0)
}

/// The pattern that requires all of these; `None` where there are none.
fn all(patterns: impl Iterator<Item = String>) -> Option<String> {
    let patterns: Vec<String> = patterns.collect();
    (!patterns.is_empty()).then(|| patterns.join(" AND "))
}

/// A string of the FTS5 query language: no operator in `text` has an effect.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The folded words of a text.
fn words(text: &str) -> impl Iterator<Item = String> {
    parts(text).map(|part| fold(part).collect())
}

/// The words of a text as written; mail addresses and usernames are split too.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "-._@".contains(c)).filter(|part| !part.is_empty())
}

/// The first [`WORD_CHARS_MAX`] letters of a word, in lower case and without accents.
fn fold(text: &str) -> impl Iterator<Item = char> {
    let letters = text.chars().flat_map(char::to_lowercase).filter(|c| !('\u{300}'..='\u{36f}').contains(c));
    letters.map(plain).take(WORD_CHARS_MAX)
}

/// Replaces `letters` by the letters of [`fold`], without an allocation.
fn fold_into(letters: &mut Vec<char>, text: &str) {
    letters.clear();
    match text.is_ascii() {
        true => letters.extend(text.bytes().take(WORD_CHARS_MAX).map(|b| char::from(b.to_ascii_lowercase()))),
        false => letters.extend(fold(text)),
    }
}

/// A lower-case letter without its accent.
fn plain(letter: char) -> char {
    const PLAIN: [(&str, char); 15] = [
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
    PLAIN.iter().find(|(letters, _)| letters.contains(letter)).map_or(letter, |(_, plain)| *plain)
}

/// Patterns for a word that was typed with up to [`edits_max`] mistakes: the word that was meant matches at least one.
///
/// From six letters on, the typed word is cut into one piece more than it may have mistakes. A mistake changes one piece, so
/// one piece is right. Two letters that changed places across a cut would change two pieces: words of six and seven letters
/// therefore leave a letter out between the pieces, and in longer words such a mistake counts as two. Words of four and five
/// letters are too short to cut: their patterns are the first two letters, each three letters in a row, and the word with
/// each two neighbours swapped. These patterns miss some mistakes in words of four letters, such as a wrong second letter.
fn pieces(letters: &[char]) -> Vec<String> {
    let pattern = |piece: &[char]| quoted(&piece.iter().collect::<String>());
    let begun = |piece: &[char]| pattern(&[&[' '], piece].concat());
    let count = letters.len();
    match count {
        0..=3 => Vec::new(),
        4..=5 => {
            let grams = letters.windows(GRAM_CHARS).map(pattern);
            let turned = (1..count).map(|place| {
                let mut letters = letters.to_vec();
                letters.swap(place - 1, place);
                pattern(&letters)
            });
            std::iter::once(begun(&letters[..2])).chain(grams).chain(turned).collect()
        }
        6..=7 => vec![begun(&letters[..count - 4]), pattern(&letters[count - 3..])],
        _ => {
            let first = count / 3;
            let second = first + (count - first) / 2;
            vec![begun(&letters[..first]), pattern(&letters[first..second]), pattern(&letters[second..])]
        }
    }
}

/// The number of typing mistakes that a typed word of so many letters may have.
fn edits_max(letters: usize) -> u32 {
    match letters {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// The distance of a typed word from a known one. 0: the same; 1: the typed word begins the known one; 2: the typed word is
/// part of the known one; [`GUESS`] for each mistake, and 1 more where only a beginning of the known word is so near. `None`
/// beyond [`edits_max`] mistakes.
fn apart(typed: &[char], known: &[char]) -> Option<u32> {
    if known.starts_with(typed) {
        return Some(if known.len() == typed.len() { 0 } else { 1 });
    }
    if typed.len() >= GRAM_CHARS && known.windows(typed.len()).any(|part| part == typed) {
        return Some(2);
    }
    let slips_max = edits_max(typed.len());
    // Each letter of the typed word that is nowhere in the known word is at least one mistake. This is much cheaper than
    // `slips`.
    if slips_max == 0 || (kinds(typed) & !kinds(known)).count_ones() > slips_max {
        return None;
    }
    let (whole, beginning) = slips(typed, known);
    match (whole <= slips_max, beginning <= slips_max) {
        (true, _) => Some(GUESS * whole),
        (false, true) => Some(GUESS * beginning + 1),
        (false, false) => None,
    }
}

/// The set of the letters as 64 bits. Two letters may share a bit, so a difference of two sets may be too small, never too
/// large.
fn kinds(letters: &[char]) -> u64 {
    letters.iter().fold(0, |kinds, letter| kinds | 1 << (u32::from(*letter) % 64))
}

/// The number of typing mistakes by which `typed` differs from `known`, and from the nearest beginning of `known`. A mistake
/// is a letter too many, a letter too few, a wrong letter, or two neighbours that changed places: the edit distance that is
/// called optimal string alignment. Three rows of its table are kept.
fn slips(typed: &[char], known: &[char]) -> (u32, u32) {
    // `fold` gives no word more letters.
    let mut rows = [[0_u32; WORD_CHARS_MAX + 1]; 3];
    for (place, steps) in rows[0].iter_mut().enumerate() {
        *steps = place as u32;
    }
    for (i, letter) in typed.iter().enumerate() {
        let [before, last, row] = [(i + 2) % 3, i % 3, (i + 1) % 3];
        rows[row][0] = i as u32 + 1;
        for (j, other) in known.iter().enumerate() {
            let replaced = rows[last][j] + u32::from(letter != other);
            let mut least = replaced.min(rows[last][j + 1] + 1).min(rows[row][j] + 1);
            let swapped = i > 0 && j > 0 && typed[i - 1] == *other && known[j - 1] == *letter;
            if swapped {
                least = least.min(rows[before][j - 1] + 1);
            }
            rows[row][j + 1] = least;
        }
    }
    let last = &rows[typed.len() % 3][..=known.len()];
    (last[known.len()], last.iter().copied().min().unwrap_or(0))
}

/// The order of results, each with its distance and name: by distance, then by name.
pub(crate) fn order(left: (u32, &str), right: (u32, &str)) -> Ordering {
    left.0.cmp(&right.0).then_with(|| left.1.cmp(right.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(typed: &str, name: &str) -> Option<u32> {
        MemberQuery::parse(typed).distance([name].into_iter())
    }

    #[test]
    fn the_very_words_come_before_beginnings_parts_and_guesses() {
        let name = "Jane Okonkwo-Schmidt";
        let far = ["jane okonkwo", "ja oko", "konk", "okonkow", "schimdt"].map(|typed| distance(typed, name));
        assert_eq!(far, [Some(0), Some(2), Some(2), Some(10), Some(10)]);
        assert_eq!(distance("Müller", "Muller"), Some(0));
        assert_eq!(distance("Jose", "José"), Some(0));
        assert_eq!(distance("Mueller", "Müller"), Some(10));
        assert!(distance("muelle", "Müller").is_some_and(|far| far >= GUESS), "also while it is being typed");
    }

    /// The number of mistakes by the recursive definition, which is slow.
    fn slips_by_the_book(typed: &[char], known: &[char]) -> u32 {
        match (typed, known) {
            ([], rest) | (rest, []) => rest.len() as u32,
            ([a, b, more @ ..], [c, d, others @ ..]) if a == d && b == c && a != b => {
                let swapped = 1 + slips_by_the_book(more, others);
                swapped.min(one_by_one(typed, known))
            }
            _ => one_by_one(typed, known),
        }
    }

    fn one_by_one(typed: &[char], known: &[char]) -> u32 {
        let replaced = u32::from(typed[0] != known[0]) + slips_by_the_book(&typed[1..], &known[1..]);
        replaced.min(1 + slips_by_the_book(&typed[1..], known)).min(1 + slips_by_the_book(typed, &known[1..]))
    }

    proptest::proptest! {
        #[test]
        fn slips_are_those_of_the_book_and_a_glance_puts_nobody_aside(typed in "[abcdé]{1,6}", known in "[abcdé]{0,6}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            let (typed, known) = (letters(&typed), letters(&known));
            let (whole, beginning) = slips(&typed, &known);
            proptest::prop_assert_eq!(whole, slips_by_the_book(&typed, &known));
            let best = (0..=known.len()).map(|end| slips_by_the_book(&typed, &known[..end])).min().unwrap();
            proptest::prop_assert_eq!(beginning, best);
            proptest::prop_assert!((kinds(&typed) & !kinds(&known)).count_ones() <= best);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_word_with_a_slip_has_a_piece_of_the_word_that_was_meant(
            known in "[a-d]{6,14}", slips in proptest::collection::vec((0..4_u8, 0..14_usize, "[a-d]"), 1..=2),
        ) {
            let mut typed: Vec<char> = known.chars().collect();
            let slips = if typed.len() < 10 { &slips[..1] } else { &slips };
            for (kind, place, letter) in slips {
                let letter = letter.chars().next().unwrap();
                let place = place % (typed.len() - 1);
                match kind {
                    0 => _ = typed.remove(place),
                    1 => typed.insert(place, letter),
                    // Two swaps can change all three pieces.
                    2 if slips.len() == 1 => typed.swap(place, place + 1),
                    _ => typed[place] = letter,
                }
            }
            proptest::prop_assume!(typed.len() >= 6);
            let known = format!(" {known}");
            let has = |piece: &String| known.contains(piece.trim_matches('"'));
            proptest::prop_assert!(pieces(&typed).iter().any(has), "{typed:?}");
        }
    }

    #[test]
    fn of_mistyped_words_the_right_ones_are_kept_and_of_the_others_pieces() {
        let misspelling_patterns = |typed: &str, known: &[&str]| {
            let is_known = |word: &str| Ok::<_, ()>(known.contains(&word.trim_matches('"')));
            MemberQuery::parse(typed).misspelling_patterns(is_known).unwrap()
        };
        assert_eq!(misspelling_patterns("bauamn", &[]), ["(\" ba\" OR \"amn\")"]);
        assert_eq!(misspelling_patterns("okonkwoo", &[]), ["(\" ok\" OR \"onk\" OR \"woo\")"]);
        assert_eq!(
            misspelling_patterns("eva bauamn", &["eva"]),
            ["\"eva\" AND (\" ba\" OR \"amn\")"],
            "three letters have no slip"
        );
        assert_eq!(
            misspelling_patterns("robert bauamn", &["robert"]),
            ["\"robert\" AND (\" ba\" OR \"amn\")", "(\" ro\" OR \"ert\") AND (\" ba\" OR \"amn\")"]
        );
        assert_eq!(
            misspelling_patterns("robert baumann", &["robert", "baumann"]).len(),
            1,
            "together they were looked for"
        );
        let anna = misspelling_patterns("anan", &[]);
        assert!(anna.len() == 1 && anna[0].contains("\"anna\""), "{anna:?}");
        assert!(misspelling_patterns("eva", &[]).is_empty() && misspelling_patterns("eva tom", &["eva"]).is_empty());
    }

    #[test]
    fn somebody_else_is_not_meant() {
        for (typed, name) in [("jan", "June"), ("anna", "Otto"), ("jane flyer", "Jane Doe"), ("okonkwo", "Kowalski")] {
            assert_eq!(distance(typed, name), None, "{typed}");
        }
    }

    #[test]
    fn numbers_addresses_and_telephones_are_known_by_their_form() {
        let phone = |typed: &str| MemberQuery::parse(typed).phone_pattern();
        assert_eq!(phone("079 123 45-67"), Some("\"791234567\"".into()));
        assert_eq!(phone("+41 (79) 123"), Some("\"4179123\"".into()));
        assert_eq!(phone("12 a"), None);
        assert_eq!((MemberQuery::parse("#42").number, MemberQuery::parse("0").number), (Some(42), None));
        assert_eq!(MemberQuery::parse("jane@ex").email.as_deref(), Some("jane@ex"));
        assert!(
            MemberQuery::parse(" a ").is_empty()
                && MemberQuery::parse("").is_empty()
                && MemberQuery::parse("@").is_empty()
        );
    }

    #[test]
    fn a_number_behind_its_label_is_that_number_and_no_name() {
        for typed in ["No. 13", "no 13", "Nr. 13", "N° 13", "N.º 13", "#13", "№13"] {
            let wanted = MemberQuery::parse(typed);
            assert_eq!(
                (wanted.number, wanted.prefix_pattern(), wanted.phone_pattern()),
                (Some(13), None, None),
                "{typed}"
            );
            assert_eq!(wanted.misspelling_patterns(|_| Ok::<_, ()>(false)), Ok(vec![]), "{typed}: nobody is guessed");
        }
        for name in ["Noah 13", "Nora", "No", "No."] {
            assert!(MemberQuery::parse(name).prefix_pattern().is_some(), "{name}");
        }
    }

    #[test]
    fn a_telephone_number_is_known_however_it_is_spaced() {
        for typed in [
            "+41 79 123 45 67",
            "0041 79 1234567",
            "+41 (0)79 123 45 67",
            "+41\u{a0}79\u{202f}123 45 67",
            "41-79-123.45.67",
        ] {
            assert_eq!(MemberQuery::parse(typed).phone_pattern().as_deref(), Some("\"41791234567\""), "{typed}");
        }
        assert_eq!(MemberQuery::parse("079 123 45").phone_pattern().as_deref(), Some("\"7912345\""));
    }

    #[test]
    fn what_is_typed_stays_within_its_quotes() {
        let wanted = MemberQuery::parse("x\" OR \"y NEAR(");
        assert_eq!(wanted.prefix_pattern().as_deref(), Some("\" x\"\"\" AND \" or\" AND \" \"\"y\" AND \" near(\""));
    }
}
