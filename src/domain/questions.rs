//! Security questions: a numbered catalogue, whose texts are `question.N` in the translations.

use crate::i18n::language::Language;

/// The numbers of the catalogue.
pub(crate) const NUMBERS: std::ops::RangeInclusive<i64> = 1..=12;

/// The text of a question; empty for an unknown number.
pub(crate) fn text(language: Language, question: i64) -> String {
    language.texts().get(&format!("question.{question}")).cloned().unwrap_or_default()
}

/// Normalises an answer before it is hashed or compared, because people do not remember capitals and spaces.
pub(crate) fn normalise(answer: &str) -> String {
    answer.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_and_spaces_do_not_count() {
        assert_eq!(normalise("  Fluffy  the CAT "), "fluffy the cat");
    }

    #[test]
    fn every_number_has_its_text() {
        for number in NUMBERS {
            assert!(Language::English.texts().contains_key(&format!("question.{number}")), "{number}");
        }
    }
}
