//! How easily a password can be guessed, and advice: zxcvbn's score and feedback, in the product's languages.

use crate::i18n::language::Text;
use zxcvbn::feedback::{Feedback, Suggestion, Warning};

/// The least accepted score, of zxcvbn's 0 to 4.
const SCORE_MIN: u8 = 2;
/// The number of characters that are judged; zxcvbn's work grows with its square. A password whose first 32 characters
/// are easily guessed is refused, whatever follows.
const JUDGED_CHARS_MAX: usize = 32;
/// The greatest number of readings of a password. zxcvbn looks every word up once for each reading of the substitutes
/// as letters, and each substitute for one of two letters doubles the readings.
const READINGS_MAX: usize = 4;
/// The letters for which zxcvbn knows substitutes, and the substitutes.
const SUBSTITUTES: [(char, &str); 12] = [
    ('a', "4@"),
    ('b', "8"),
    ('c', "({[<"),
    ('e', "3"),
    ('g', "69"),
    ('i', "1!|"),
    ('l', "1|7"),
    ('o', "0"),
    ('s', "$5"),
    ('t', "+7"),
    ('x', "%"),
    ('z', "2"),
];
/// A shorter word may mean anything.
const WORD_CHARS_MIN: usize = 5;
/// Words of zxcvbn's dictionaries take fewer guesses.
const UNCOMMON_GUESSES: u64 = 100_000;
/// Shorter parts of a name are ignored.
const PART_CHARS_MIN: usize = 3;

/// Refuses a password that is easily guessed with knowledge of these words, and gives advice.
pub(crate) fn judge(password: &str, words: &[&str]) -> Result<(), Text> {
    let estimate = zxcvbn::zxcvbn(&judged_part(password), &with_their_parts(words));
    if u8::from(estimate.score()) >= SCORE_MIN {
        return Ok(());
    }
    Err(Text::new("field.password_weak").followed_by(estimate.feedback().map(advice).unwrap_or_default()))
}

/// Whether a word is one that many people use or have as a name: a dictionary has it, or it is as short as one.
pub(crate) fn is_common(word: &str) -> bool {
    word.chars().count() < WORD_CHARS_MIN || zxcvbn::zxcvbn(&judged_part(word), &[]).guesses() < UNCOMMON_GUESSES
}

/// The start of a password, in a form that is judged within five milliseconds: where the substitutes have too many
/// readings, punctuation is replaced by the letter that it resembles, and digits stay.
fn judged_part(password: &str) -> String {
    let start: String = password.chars().take(JUDGED_CHARS_MAX).collect();
    if readings(&start) <= READINGS_MAX {
        return start;
    }
    let letter =
        |c: char| SUBSTITUTES.iter().find(|(_, substitutes)| substitutes.contains(c)).map(|(letter, _)| *letter);
    start.chars().map(|c| if c.is_ascii_punctuation() { letter(c).unwrap_or(c) } else { c }).collect()
}

/// The number of ways in which the substitutes in a text can be read as letters.
fn readings(text: &str) -> usize {
    let present = |substitutes: &str| substitutes.chars().filter(|c| text.contains(*c)).count();
    SUBSTITUTES.iter().map(|(_, substitutes)| present(substitutes).max(1)).product()
}

/// The words as a whole, and their alphanumeric parts, because a password rarely contains "Jane Doe" with the space.
fn with_their_parts<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let parts = |word: &&'a str| word.split(|c: char| !c.is_alphanumeric()).chain([*word]).collect::<Vec<_>>();
    words.iter().flat_map(parts).filter(|part| part.chars().count() >= PART_CHARS_MIN).collect()
}

/// The warning, followed by the suggestions.
fn advice(feedback: &Feedback) -> Vec<Text> {
    feedback.warning().map(warning).into_iter().chain(feedback.suggestions().iter().copied().map(suggestion)).collect()
}

/// One text for each message of zxcvbn; a new message does not compile without a text.
macro_rules! texts {
    ($function:ident, $all:ident: $kind:ident { $($said:ident => $key:literal,)* }) => {
        fn $function(said: $kind) -> Text {
            Text::new(match said { $($kind::$said => $key,)* })
        }

        #[cfg(test)]
        const $all: &[$kind] = &[$($kind::$said,)*];
    };
}

texts!(warning, WARNINGS: Warning {
    StraightRowsOfKeysAreEasyToGuess => "advice.straight_rows",
    ShortKeyboardPatternsAreEasyToGuess => "advice.keyboard_patterns",
    RepeatsLikeAaaAreEasyToGuess => "advice.repeated_character",
    RepeatsLikeAbcAbcAreOnlySlightlyHarderToGuess => "advice.repeated_group",
    ThisIsATop10Password => "advice.top_10",
    ThisIsATop100Password => "advice.top_100",
    ThisIsACommonPassword => "advice.common",
    ThisIsSimilarToACommonlyUsedPassword => "advice.similar_to_common",
    SequencesLikeAbcAreEasyToGuess => "advice.sequences",
    RecentYearsAreEasyToGuess => "advice.recent_years",
    AWordByItselfIsEasyToGuess => "advice.one_word",
    DatesAreOftenEasyToGuess => "advice.dates",
    NamesAndSurnamesByThemselvesAreEasyToGuess => "advice.names_alone",
    CommonNamesAndSurnamesAreEasyToGuess => "advice.common_names",
});

texts!(suggestion, SUGGESTIONS: Suggestion {
    UseAFewWordsAvoidCommonPhrases => "advice.use_a_few_words",
    NoNeedForSymbolsDigitsOrUppercaseLetters => "advice.no_need_for_symbols",
    AddAnotherWordOrTwo => "advice.add_words",
    CapitalizationDoesntHelpVeryMuch => "advice.capitals",
    AllUppercaseIsAlmostAsEasyToGuessAsAllLowercase => "advice.all_capitals",
    ReversedWordsArentMuchHarderToGuess => "advice.reversed",
    PredictableSubstitutionsDontHelpVeryMuch => "advice.substitutions",
    UseALongerKeyboardPatternWithMoreTurns => "advice.longer_pattern",
    AvoidRepeatedWordsAndCharacters => "advice.avoid_repeats",
    AvoidSequences => "advice.avoid_sequences",
    AvoidRecentYears => "advice.avoid_recent_years",
    AvoidYearsThatAreAssociatedWithYou => "advice.avoid_own_years",
    AvoidDatesAndYearsThatAreAssociatedWithYou => "advice.avoid_own_dates",
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::language::Language;
    use std::collections::BTreeSet;

    #[test]
    fn everything_that_can_be_said_has_a_sentence_of_its_own_in_every_language() {
        let texts: Vec<Text> =
            WARNINGS.iter().copied().map(warning).chain(SUGGESTIONS.iter().copied().map(suggestion)).collect();
        for language in Language::ALL {
            let said: BTreeSet<String> = texts.iter().map(|text| language.say(text)).collect();
            assert_eq!(said.len(), 27, "{} says two things in the same words", language.tag());
            for sentence in &said {
                assert!(sentence.ends_with('.') && !sentence.starts_with("advice."), "{} {sentence}", language.tag());
            }
        }
    }

    #[test]
    fn a_weak_password_is_told_what_is_wrong_and_what_would_help() {
        for (password, keys) in [
            ("password", &["advice.top_10", "advice.add_words"][..]),
            ("Drowssap1", &["advice.similar_to_common", "advice.add_words", "advice.capitals", "advice.reversed"]),
            ("zxcvbnm,./", &["advice.straight_rows", "advice.add_words", "advice.longer_pattern"]),
            ("aaaaaaaaaa", &["advice.repeated_character", "advice.add_words", "advice.avoid_repeats"]),
            ("abcdefghij", &["advice.sequences", "advice.add_words", "advice.avoid_sequences"]),
            ("1.7.1987", &["advice.dates", "advice.add_words", "advice.avoid_own_dates"]),
            ("windwerk", &["advice.add_words"]),
        ] {
            let text = judge(password, &["Windwerk"]).unwrap_err();
            let wanted = Text::new("field.password_weak").followed_by(keys.iter().copied().map(Text::new));
            assert_eq!(text, wanted, "{password}: {}", text.in_english());
        }
    }

    /// The slowest passwords that a search found: every substitute together, and many overlapping matches.
    const DEAR: [&str; 5] = [
        "4@8({[<3691!|7$5+%204@8({[<3691!|7$5+%204@8({[<3691!|7$5+%20",
        "|5|7<9@(<[9{5527050072%2@6150+0[51570|([%1(%70425077<250|7+4$$7",
        "$50!|!5@|!l|10!|$@1$4@5@$44ol0$o4o@!|055o5|l!1o@4|4|o51ll$1$@$5",
        "7729<71 8f012345678[012347729<71",
        "676791634143390696214934782700191667776766799179",
    ];

    #[test]
    fn no_more_than_the_start_is_judged_and_its_substitutes_are_read_in_few_ways() {
        for password in DEAR {
            let part = judged_part(&password.repeat(4));
            assert_eq!(part.chars().count(), JUDGED_CHARS_MAX);
            assert!(readings(&part) <= READINGS_MAX, "{part}: {} readings", readings(&part));
        }
    }

    #[test]
    fn a_password_with_few_substitutes_is_judged_as_it_is() {
        for password in ["p@ssw0rd", "0123456 correct horse", "wet hair, dry socks!", "Тоннель 2026"] {
            assert_eq!(judged_part(password), password);
        }
        let strong = "4@8({[<3691!|7$5+%20";
        assert_eq!(judge(strong, &[]), Ok(()), "read as {}", judged_part(strong));
    }

    #[test]
    fn a_weak_start_stays_weak_however_long_the_password_is() {
        assert!(judge(&"ab".repeat(64), &[]).is_err());
        assert!(judge(&"password".repeat(16), &[]).is_err());
    }

    #[test]
    fn parts_of_names_count_and_crumbs_do_not() {
        assert_eq!(
            with_their_parts(&["Jo Doe", "jane.x@a.example", ""]),
            ["Doe", "Jo Doe", "jane", "example", "jane.x@a.example"]
        );
    }
}
