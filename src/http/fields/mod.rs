//! A request's fields, read with patience and judged together: every bad one is named at once.
//!
//! A field typed number also takes a decimal string, a field typed string also takes a number, `null` and `""` are as
//! good as absent, unknown fields are ignored: existing clients send all of that.

mod values;

use crate::http::failure::{Failure, Problem};
use crate::i18n::language::Text;
use serde_json::{Map, Value};
pub(crate) use values::{
    as_line, code, flag, flight_minutes, id, line, lines, minutes_up_to, moment, name, seconds, secret, six_digits,
    whole, whole_in,
};

/// The fields of one body or query.
pub(crate) struct Fields {
    map: Map<String, Value>,
    problems: Vec<Problem>,
}

/// The value of a field that was read but not judged with the others yet.
#[must_use]
pub(crate) struct Unvalidated<T>(Option<T>);

/// Proof that every field was good.
pub(crate) struct Validated(());

impl<T> Unvalidated<T> {
    /// The value while the others are still read, `None` when it is bad.
    pub(crate) fn peek(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// The value for those who judge it with the others later, `None` when it is bad.
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

    /// Reads a field that must be there.
    pub(crate) fn required<T>(&mut self, field: &str, kind: impl FnOnce(&Value) -> Result<T, Text>) -> Unvalidated<T> {
        match self.given(field) {
            _ if self.is_refused_already(field) => Unvalidated(None),
            Some(value) => Unvalidated(self.judge(field, kind(&value))),
            None => {
                self.refuse(field, Text::new("field.missing"));
                Unvalidated(None)
            }
        }
    }

    /// Reads a field that may be absent.
    pub(crate) fn optional<T>(
        &mut self,
        field: &str,
        kind: impl FnOnce(&Value) -> Result<T, Text>,
    ) -> Unvalidated<Option<T>> {
        match self.given(field) {
            _ if self.is_refused_already(field) => Unvalidated(None),
            Some(value) => Unvalidated(self.judge(field, kind(&value)).map(Some)),
            None => Unvalidated(Some(None)),
        }
    }

    /// Reads a text that may be absent, and that says something even when it is empty: in an edit it takes away what was.
    pub(crate) fn optional_even_empty(
        &mut self,
        field: &str,
        kind: impl FnOnce(&Value) -> Result<String, Text>,
    ) -> Unvalidated<Option<String>> {
        let said = self.map.get(field).filter(|value| !value.is_null()).cloned();
        Unvalidated(match said {
            Some(value) => self.judge(field, kind(&value)).map(Some),
            None => Some(None),
        })
    }

    /// Refuses a field that says nothing, where this call needs it.
    pub(crate) fn demand(&mut self, field: &str) {
        if !self.has(field) {
            self.refuse(field, Text::new("field.missing"));
        }
    }

    /// Passes over fields that this call has no use for, good or bad.
    pub(crate) fn ignore(&mut self, fields: &[&str]) {
        self.map.retain(|name, _| !fields.contains(&name.as_str()));
    }

    /// Whether the field says anything.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.given(field).is_some()
    }

    /// Whether a field is bad already. Faults that otherwise the transaction would find are then reported together with
    /// it. A body that may be good is judged by the transaction alone, so that a repeated request gets the stored
    /// answer.
    pub(crate) fn is_refused(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Judges a value that could be read once more, by what other fields and the file say.
    pub(crate) fn check<T>(&mut self, field: &str, value: &Option<T>, rule: impl FnOnce(&T) -> Result<(), Text>) {
        if let Some(Err(text)) = value.as_ref().map(rule) {
            self.refuse(field, text);
        }
    }

    /// Names a problem that only the caller can see.
    pub(crate) fn refuse(&mut self, field: &str, text: Text) {
        self.problems.push(Problem { field: field.to_owned(), text });
    }

    /// 422 with every problem, or the proof that opens the values.
    pub(crate) fn finish(self) -> Result<Validated, Failure> {
        if self.problems.is_empty() { Ok(Validated(())) } else { Err(Failure::invalid(self.problems)) }
    }

    /// Puts the problems in the order of these fields; those of others are the last.
    pub(crate) fn sort(&mut self, names: fn(&mut Vec<&'static str>)) {
        if self.is_refused() {
            let mut order = Vec::new();
            names(&mut order);
            let place = |field: &str| order.iter().position(|name| *name == field).unwrap_or(order.len());
            self.problems.sort_by_key(|problem| place(&problem.field));
        }
    }

    /// A field is told its first problem and no second one.
    fn is_refused_already(&self, field: &str) -> bool {
        self.problems.iter().any(|problem| problem.field == field)
    }

    /// Puts what `kind` reads in the place of a field's value: of a list, where moments are written in other ways.
    pub(crate) fn convert(&mut self, field: &str, kind: impl FnOnce(&Value) -> Result<i64, Text>) {
        let Some(value) = self.given(field) else { return };
        if let Some(number) = self.judge(field, kind(&value)) {
            self.map.insert(field.to_owned(), number.into());
        }
    }

    fn given(&self, field: &str) -> Option<Value> {
        self.map
            .get(field)
            .filter(|value| !value.is_null() && value.as_str().is_none_or(|text| !text.trim().is_empty()))
            .cloned()
    }

    fn judge<T>(&mut self, field: &str, outcome: Result<T, Text>) -> Option<T> {
        outcome.map_err(|text| self.refuse(field, text)).ok()
    }
}

/// JSON without the byte order mark that some programs write before it.
pub(crate) fn without_mark(json: &[u8]) -> &[u8] {
    json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: Value) -> Fields {
        Fields::new(value.as_object().unwrap().clone())
    }

    #[test]
    fn numbers_come_as_text_and_text_as_numbers() {
        let mut body =
            fields(json!({"id": "7", "code": 12, "float": 3.0, "when": 1_700_000_000_000_i64, "time": "1:05"}));
        let id_ = body.required("id", id);
        let code = body.required("code", line(10));
        let float = body.required("float", whole);
        let when = body.required("when", moment);
        let time = body.required("time", flight_minutes);
        let ok = body.finish().unwrap();
        assert_eq!(
            (id_.get(&ok), code.get(&ok), float.get(&ok), when.get(&ok), time.get(&ok)),
            (7, "12".into(), 3, 1_700_000_000, 65)
        );
    }

    #[test]
    fn every_bad_field_is_named_and_blank_is_absent() {
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
    fn blank_optional_fields_are_absent() {
        let mut body = fields(json!({"entry_id": "", "comment": null}));
        let (entry_id, comment) = (body.optional("entry_id", id), body.optional("comment", lines(10)));
        let ok = body.finish().unwrap();
        assert_eq!((entry_id.get(&ok), comment.get(&ok)), (None, None));
    }
}
