//! Forms of the pages. [`read_form`] returns the values only where every field is valid.

use super::read_form_number;
use crate::app::seen::{self, Seen};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::i18n::language::{Language, Text};
use serde_json::Value;

/// Longest username or address that says who somebody is.
const USERNAME_CHARS_MAX: usize = 254;

/// The fields of a form in their order. A body of another type is refused with 415.
pub(crate) fn form_pairs(call: &Call) -> Result<Vec<(String, String)>, Failure> {
    call.form()?.ok_or_else(Failure::unsupported_type)
}

/// A form whose page is shown again where a field is invalid: the values count only if [`Form::finish`] succeeds.
pub(crate) fn form(call: &Call) -> Result<Form, Failure> {
    let pairs = form_pairs(call)?.into_iter();
    Ok(Form(Fields::new(pairs.map(|(name, text)| (name, Value::String(text))).collect())))
}

/// Reads the values of a form: `read_form(call, |form| (form.line("name", 60), form.optional("seen", fields::id)))`. 422
/// with every problem where a field is invalid.
pub(crate) fn read_form<T>(call: &Call, read: impl FnOnce(&mut Form) -> T) -> Result<T, Failure> {
    form(call)?.read(read)
}

/// The fields of a form or a query that is being read. The value of an invalid field is empty.
pub(crate) struct Form(pub(crate) Fields);

impl Form {
    /// See [`read_form`].
    pub(crate) fn read<T>(mut self, read: impl FnOnce(&mut Form) -> T) -> Result<T, Failure> {
        let values = read(&mut self);
        self.finish()?;
        Ok(values)
    }

    /// 422 with every problem.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.0.finish().map(drop)
    }

    /// One line of at most `chars_max` characters; empty where the field is missing or blank.
    pub(crate) fn line(&mut self, name: &str, chars_max: usize) -> String {
        self.optional(name, fields::line(chars_max)).unwrap_or_default()
    }

    /// As [`Form::line`], for what says who somebody is: as it was typed.
    pub(crate) fn username(&mut self) -> String {
        self.optional("username", fields::line_as_typed(USERNAME_CHARS_MAX)).unwrap_or_default()
    }

    /// As [`Form::line`], with line breaks.
    pub(crate) fn lines(&mut self, name: &str, chars_max: usize) -> String {
        self.optional(name, fields::lines(chars_max)).unwrap_or_default()
    }

    /// The value of an optional field; `None` where the field is missing or blank.
    pub(crate) fn optional<T>(&mut self, name: &str, kind: impl FnOnce(&Value) -> Result<T, Text>) -> Option<T> {
        self.0.optional(name, kind).into_option().flatten()
    }

    pub(crate) fn required<T: Default>(&mut self, name: &str, kind: impl FnOnce(&Value) -> Result<T, Text>) -> T {
        self.0.required(name, kind).into_option().unwrap_or_default()
    }

    /// The idempotency number of the form, if it has one.
    pub(crate) fn number(&mut self) -> Option<i64> {
        self.optional("number", read_form_number)
    }

    /// The mark of the values that the page of the form showed.
    pub(crate) fn seen(&mut self) -> Seen {
        self.seen_in(seen::FIELD)
    }

    /// The mark in the field of this name, for a form that carries more than one.
    pub(crate) fn seen_in(&mut self, name: &str) -> Seen {
        Seen::of(self.optional(name, fields::line(64)))
    }

    /// Whether the field is there and not blank.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.has(name)
    }

    /// The first problem, after the label of its field. `labels` maps field names to the keys of their labels.
    pub(crate) fn mistake(self, language: Language, labels: &[(&str, &'static str)]) -> String {
        let problems = self.0.finish().err();
        let first = problems.as_ref().and_then(|failure| failure.problems().first());
        let label = |field: &str| labels.iter().find(|(name, _)| *name == field).map(|(_, key)| *key);
        match first.and_then(|problem| Some((label(&problem.field)?, &problem.text))) {
            Some((label, text)) => language.labelled(&language.say(&Text::new(label)), &language.say(text)),
            None => language.say(&Text::new("desk.fields_wrong")),
        }
    }
}
