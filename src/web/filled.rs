//! A form that a page shows again: what was typed, and what is wrong with it.

use crate::http::failure::Failure;
use crate::i18n::language::Language;

pub(crate) struct Filled {
    /// Fields as they were typed.
    typed: Vec<(String, String)>,
    /// Fields, and what is wrong with each.
    problems: Vec<(String, String)>,
    /// By which the same form sent twice is known.
    pub number: i64,
}

impl Filled {
    pub(crate) fn empty() -> Filled {
        Filled { typed: Vec::new(), problems: Vec::new(), number: super::form_number() }
    }

    /// A form that was refused: it keeps its number.
    pub(crate) fn refused(typed: Vec<(String, String)>, failure: &Failure, language: Language) -> Filled {
        let problems = failure.problems().iter().map(|problem| (problem.field.clone(), language.say(&problem.text)));
        let number = value(&typed, "number").parse().ok();
        Filled { problems: problems.collect(), number: number.unwrap_or_else(super::form_number), typed }
    }

    pub(crate) fn typed(&self, field: &str) -> &str {
        value(&self.typed, field)
    }

    pub(crate) fn problem(&self, field: &str) -> Option<&str> {
        self.problems.iter().find(|(named, _)| named == field).map(|(_, text)| text.as_str())
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// What was typed into a field; empty where there is no such field.
pub(crate) fn value<'t>(typed: &'t [(String, String)], field: &str) -> &'t str {
    typed.iter().find(|(named, _)| named == field).map_or("", |(_, text)| text.as_str())
}
