//! The fields of a request, parsed leniently and validated together: all invalid fields are reported together.
//!
//! A number may come as a decimal string, a string as a number, `null` and `""` count as absent, and unknown fields are
//! ignored: existing clients send all of that.

mod values;

use crate::domain::unicode::trimmed;
use crate::http::failure::{Failure, Problem};
use crate::i18n::language::Text;
use serde_json::{Map, Value};
pub(crate) use values::{
    MOMENT_MIN, as_line, code, day_of_birth, flag, flight_minutes, id, is_fraction_alone, is_in_calendar, line,
    line_as_typed, lines, minutes_up_to, moment, name, nearest_midnight, seconds, secret, six_digits, stored_moment,
    whole, whole_in,
};

/// The fields of one body or query.
pub(crate) struct Fields {
    map: Map<String, Value>,
    problems: Vec<Problem>,
}

/// The value of a parsed field, before the fields are validated together.
#[must_use]
pub(crate) struct Unvalidated<T>(Option<T>);

/// Proof that every field is valid.
pub(crate) struct Validated(());

impl<T> Unvalidated<T> {
    /// The value before validation; `None` where it is invalid.
    pub(crate) fn peek(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// The value without validation; `None` where it is invalid.
    pub(crate) fn into_option(self) -> Option<T> {
        self.0
    }

    pub(crate) fn get(self, _: &Validated) -> T {
        self.0.expect("a field without a value is a problem, and Fields::finish returns those")
    }
}

impl Fields {
    pub(crate) fn new(map: Map<String, Value>) -> Fields {
        Fields { map, problems: Vec::new() }
    }

    /// Parses a required field.
    pub(crate) fn required<T>(&mut self, field: &str, kind: impl FnOnce(&Value) -> Result<T, Text>) -> Unvalidated<T> {
        match self.find(field) {
            _ if self.is_refused_already(field) => Unvalidated(None),
            Some(value) => Unvalidated(self.judge(field, kind(&value))),
            None => {
                self.refuse(field, Text::new("field.missing"));
                Unvalidated(None)
            }
        }
    }

    /// Parses an optional field.
    pub(crate) fn optional<T>(
        &mut self,
        field: &str,
        kind: impl FnOnce(&Value) -> Result<T, Text>,
    ) -> Unvalidated<Option<T>> {
        match self.find(field) {
            _ if self.is_refused_already(field) => Unvalidated(None),
            Some(value) => Unvalidated(self.judge(field, kind(&value)).map(Some)),
            None => Unvalidated(Some(None)),
        }
    }

    /// Parses an optional text of an edit, in which blank text is a value: it clears the old one.
    pub(crate) fn optional_even_empty(
        &mut self,
        field: &str,
        kind: impl FnOnce(&Value) -> Result<String, Text>,
    ) -> Unvalidated<Option<String>> {
        let value = self.map.get(field).filter(|value| !value.is_null()).cloned();
        Unvalidated(match value {
            Some(value) => self.judge(field, kind(&value)).map(Some),
            None => Some(None),
        })
    }

    /// Reports a field as missing, unless it has a value.
    pub(crate) fn demand(&mut self, field: &str) {
        if !self.has(field) {
            self.refuse(field, Text::new("field.missing"));
        }
    }

    /// Removes fields that this call ignores, valid or not.
    pub(crate) fn ignore(&mut self, fields: &[&str]) {
        self.map.retain(|name, _| !fields.contains(&name.as_str()));
    }

    /// Removes those of these moments that are 0, by which some clients say that there is none.
    pub(crate) fn ignore_zeros(&mut self, moments: &[&str]) {
        self.map.retain(|name, value| {
            !moments.contains(&name.as_str()) || seconds(value) != Some(0) || is_fraction_alone(value)
        });
    }

    /// Whether the field has a value.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.find(field).is_some()
    }

    /// Whether a field is invalid. Then problems that the transaction would find are searched for at once and reported
    /// together. A body that may be valid is left to the transaction, so that a repeated request gets the kept outcome.
    pub(crate) fn is_refused(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Checks a parsed value by a further rule.
    pub(crate) fn check<T>(&mut self, field: &str, value: &Option<T>, rule: impl FnOnce(&T) -> Result<(), Text>) {
        if let Some(Err(text)) = value.as_ref().map(rule) {
            self.refuse(field, text);
        }
    }

    /// Adds a problem.
    pub(crate) fn refuse(&mut self, field: &str, text: Text) {
        self.problems.push(Problem { field: field.to_owned(), text });
    }

    /// 422 with every problem, or the proof that unlocks the values.
    pub(crate) fn finish(self) -> Result<Validated, Failure> {
        if self.problems.is_empty() { Ok(Validated(())) } else { Err(Failure::invalid(self.problems)) }
    }

    /// Sorts the problems in the order of these fields; problems of other fields come last.
    pub(crate) fn sort(&mut self, names: fn(&mut Vec<&'static str>)) {
        if self.is_refused() {
            let mut order = Vec::new();
            names(&mut order);
            let place = |field: &str| order.iter().position(|name| *name == field).unwrap_or(order.len());
            self.problems.sort_by_key(|problem| place(&problem.field));
        }
    }

    /// Whether the field has a problem already: each field gets one.
    fn is_refused_already(&self, field: &str) -> bool {
        self.problems.iter().any(|problem| problem.field == field)
    }

    /// Replaces a field's value by the number that `kind` parses, for import lists, which write moments in other ways.
    pub(crate) fn convert<N: Into<i64>>(&mut self, field: &str, kind: impl FnOnce(&Value) -> Result<N, Text>) {
        let Some(value) = self.find(field) else { return };
        if let Some(number) = self.judge(field, kind(&value)) {
            self.map.insert(field.to_owned(), number.into().into());
        }
    }

    fn find(&self, field: &str) -> Option<Value> {
        self.map
            .get(field)
            .filter(|value| !value.is_null() && value.as_str().is_none_or(|text| !trimmed(text).is_empty()))
            .cloned()
    }

    fn judge<T>(&mut self, field: &str, outcome: Result<T, Text>) -> Option<T> {
        outcome.map_err(|text| self.refuse(field, text)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;
    use serde_json::json;

    fn fields(value: Value) -> Fields {
        Fields::new(value.as_object().unwrap().clone())
    }

    #[test]
    fn numbers_come_as_text_and_text_as_numbers() {
        let mut body =
            fields(json!({"id": "7", "code": 12, "float": 3.0, "when": 1_700_000_000_000_i64, "time": "1:05"}));
        let id_ = body.required("id", id::<i64>);
        let code = body.required("code", line(10));
        let float = body.required("float", whole);
        let when = body.required("when", moment);
        let time = body.required("time", flight_minutes);
        let ok = body.finish().unwrap();
        assert_eq!(
            (id_.get(&ok), code.get(&ok), float.get(&ok), when.get(&ok), time.get(&ok)),
            (7, "12".into(), 3, Moment(1_700_000_000), 65)
        );
    }

    #[test]
    fn every_invalid_field_is_reported_and_blank_counts_as_absent() {
        let mut body =
            fields(json!({"a": "x", "b": null, "c": "  ", "d": "a\u{7}b", "e": [1], "f": 2.5, "g": "601", "h": 1e300}));
        _ = body.required("a", whole);
        _ = body.required("b", whole);
        _ = body.required("c", line(5));
        _ = body.optional("d", line(5));
        _ = body.optional("e", line(5));
        _ = body.optional("f", whole);
        _ = body.optional("g", flight_minutes);
        _ = body.optional("h", moment);
        let failure = body.finish().err().unwrap();
        let named: Vec<_> = failure.problems().iter().map(|p| p.field.as_str()).collect();
        assert_eq!(named, ["a", "b", "c", "d", "e", "f", "g", "h"]);
    }

    #[test]
    fn characters_that_show_nothing_are_no_text_and_are_trimmed() {
        let mut body = fields(
            json!({"name": "\u{200b}\u{3164} ", "phone": "\u{202d}079 123\u{202c}", "flag": "\u{1f3f3}\u{fe0f}"}),
        );
        let (phone, flag) = (body.required("phone", line(20)), body.required("flag", line(20)));
        _ = body.required("name", line(20));
        assert_eq!((phone.peek().unwrap().as_str(), flag.peek().unwrap().as_str()), ("079 123", "\u{1f3f3}\u{fe0f}"));
        let failure = body.finish().err().unwrap();
        assert_eq!(failure.problems().iter().map(|p| p.field.as_str()).collect::<Vec<_>>(), ["name"]);
    }

    #[test]
    fn the_limit_of_a_text_counts_what_is_trimmed() {
        let mut body = fields(json!({"a": "\u{ad}abcd", "b": " abcd", "c": "abcd\r\n", "d": " abc "}));
        let read = body.required("d", line(5));
        _ = (body.required("a", line(4)), body.required("b", line(4)), body.required("c", lines(4)));
        assert_eq!(read.peek().unwrap(), "abc");
        let failure = body.finish().err().unwrap();
        assert_eq!(failure.problems().iter().map(|p| p.field.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn blank_optional_fields_are_absent() {
        let mut body = fields(json!({"entry_id": "", "comment": null}));
        let (entry_id, comment) = (body.optional("entry_id", id::<i64>), body.optional("comment", lines(10)));
        let ok = body.finish().unwrap();
        assert_eq!((entry_id.get(&ok), comment.get(&ok)), (None, None));
    }
}
