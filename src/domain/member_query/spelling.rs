//! The distance between a typed word and a known one, which allows typing mistakes.

use super::GRAM_CHARS;
use super::words::WORD_CHARS_MAX;

/// The distance of one typing mistake. A typed beginning (1) or part (2) of a word is nearer.
pub(super) const MISTAKE_DISTANCE: u32 = 10;

/// The number of typing mistakes that a typed word of this length may have.
fn mistakes_max(letters: usize) -> u32 {
    match letters {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// The distance of a typed word from a known one. 0: the same; 1: the typed word begins the known one; 2: the typed word is
/// part of the known one; [`MISTAKE_DISTANCE`] for each mistake, and 1 more where only a beginning of the known word is so
/// near. `None` beyond [`mistakes_max`] mistakes.
pub(super) fn word_distance(typed: &[char], known: &[char]) -> Option<u32> {
    if known.starts_with(typed) {
        return Some(if known.len() == typed.len() { 0 } else { 1 });
    }
    if typed.len() >= GRAM_CHARS && known.windows(typed.len()).any(|part| part == typed) {
        return Some(2);
    }
    let mistakes_max = mistakes_max(typed.len());
    // Each letter of the typed word that is nowhere in the known word is at least one mistake. This is much cheaper than
    // `edit_distances`.
    if mistakes_max == 0 || (letter_set(typed) & !letter_set(known)).count_ones() > mistakes_max {
        return None;
    }
    let (whole, beginning) = edit_distances(typed, known);
    match (whole <= mistakes_max, beginning <= mistakes_max) {
        (true, _) => Some(MISTAKE_DISTANCE * whole),
        (false, true) => Some(MISTAKE_DISTANCE * beginning + 1),
        (false, false) => None,
    }
}

/// The set of the letters as 64 bits. Two letters may share a bit, so a difference of two sets may be too small, never too
/// large.
fn letter_set(letters: &[char]) -> u64 {
    letters.iter().fold(0, |set, letter| set | 1 << (u32::from(*letter) % 64))
}

/// The number of typing mistakes by which `typed` differs from `known`, and from the nearest beginning of `known`. A mistake
/// is a letter too many, a letter too few, a wrong letter, or two neighbours that changed places: the edit distance that is
/// called optimal string alignment. Three rows of its table are kept. Both words are folded, so neither is longer than
/// [`WORD_CHARS_MAX`].
fn edit_distances(typed: &[char], known: &[char]) -> (u32, u32) {
    let mut rows = [[0_u32; WORD_CHARS_MAX + 1]; 3];
    for (place, distance) in rows[0].iter_mut().enumerate() {
        *distance = place as u32;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The edit distance by its recursive definition, which is slow.
    fn distance_by_definition(typed: &[char], known: &[char]) -> u32 {
        match (typed, known) {
            ([], rest) | (rest, []) => rest.len() as u32,
            ([a, b, more @ ..], [c, d, others @ ..]) if a == d && b == c && a != b => {
                let swapped = 1 + distance_by_definition(more, others);
                swapped.min(one_by_one(typed, known))
            }
            _ => one_by_one(typed, known),
        }
    }

    fn one_by_one(typed: &[char], known: &[char]) -> u32 {
        let replaced = u32::from(typed[0] != known[0]) + distance_by_definition(&typed[1..], &known[1..]);
        replaced.min(1 + distance_by_definition(&typed[1..], known)).min(1 + distance_by_definition(typed, &known[1..]))
    }

    proptest::proptest! {
        #[test]
        fn the_edit_distance_is_that_of_its_definition_and_the_letter_sets_exclude_no_near_word(typed in "[abcdé]{1,6}", known in "[abcdé]{0,6}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            let (typed, known) = (letters(&typed), letters(&known));
            let (whole, beginning) = edit_distances(&typed, &known);
            proptest::prop_assert_eq!(whole, distance_by_definition(&typed, &known));
            let best = (0..=known.len()).map(|end| distance_by_definition(&typed, &known[..end])).min().unwrap();
            proptest::prop_assert_eq!(beginning, best);
            proptest::prop_assert!((letter_set(&typed) & !letter_set(&known)).count_ones() <= best);
        }
    }
}
