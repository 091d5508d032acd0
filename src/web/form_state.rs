//! The values and problems of a form that a page shows again after it was refused.

use super::{failure_text, with_failure};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Language;

/// The field beside whose place a form shows a problem that is no field's: its idempotency number.
const WHOLE_FORM: &str = "number";

pub(crate) struct FormState {
    /// Names and values of the fields, as typed.
    typed: Vec<(String, String)>,
    /// Names of fields with their problems.
    problems: Vec<(String, String)>,
    /// Idempotency number of the form.
    pub number: i64,
}

impl FormState {
    pub(crate) fn empty() -> FormState {
        FormState { typed: Vec::new(), problems: Vec::new(), number: super::new_form_number() }
    }

    /// A form as it was sent. The idempotency number stays.
    pub(crate) fn sent(typed: Vec<(String, String)>) -> FormState {
        let number = value(&typed, "number").parse().ok();
        FormState { number: number.unwrap_or_else(super::new_form_number), typed, problems: Vec::new() }
    }

    /// The page of a form that was refused, which `page` makes, with the status of the failure. A server error is returned.
    pub(crate) fn refused(
        typed: Vec<(String, String)>,
        failure: Failure,
        call: &Call,
        language: Language,
        page: impl FnOnce(FormState) -> Answer,
    ) -> Answer {
        if !failure.status().is_client_error() {
            return Err(failure);
        }
        let problems = failure.problems().iter().map(|problem| (problem.field.clone(), language.say(&problem.text)));
        let mut problems: Vec<(String, String)> = problems.collect();
        if problems.is_empty() {
            problems.push((WHOLE_FORM.to_owned(), failure_text(&failure, language)));
        }
        let mut form = FormState { problems, ..FormState::sent(typed) };
        // Its number belongs to what was sent before, so that what is typed now is another form.
        if failure.is(Failure::exists) {
            form.number = super::new_form_number();
        }
        let page = page(form)?;
        Ok(with_failure(page, &failure, language, &call.request_id))
    }

    pub(crate) fn typed(&self, field: &str) -> &str {
        value(&self.typed, field)
    }

    pub(crate) fn problem(&self, field: &str) -> Option<&str> {
        self.problems.iter().find(|(named, _)| named == field).map(|(_, text)| text.as_str())
    }

    /// The problems of fields that a page does not show.
    pub(crate) fn other_problems(&self, shown: &[&str]) -> impl Iterator<Item = &str> {
        self.problems.iter().filter(|(field, _)| !shown.contains(&field.as_str())).map(|(_, text)| text.as_str())
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// The value of a field as typed; empty where there is none.
pub(crate) fn value<'t>(typed: &'t [(String, String)], field: &str) -> &'t str {
    typed.iter().find(|(named, _)| named == field).map_or("", |(_, text)| text.as_str())
}
