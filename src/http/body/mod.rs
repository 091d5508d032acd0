//! Bodies, forms and queries as types: [`body!`](crate::http::body) declares the fields once. The declaration parses and
//! validates them, and describes them in the API description.

mod items;
mod schema;

use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::i18n::language::Text;
pub(crate) use items::{Clearable, Flattened, Ignored, RequiredByCaller, Undescribed};
pub(crate) use schema::{BodySchema, Object, SHARED, shared};
use serde_json::Value;

/// A type of field: how its value is parsed, and its schema in the API description.
pub trait Field {
    /// The type of a good value.
    type Value;
    /// Whether 0 in an optional field of this type counts as absent.
    const IS_ABSENT_AS_ZERO: bool = false;

    /// Parses a value that is neither absent nor blank; the error says what is wrong with it.
    fn read(value: &Value) -> Result<Self::Value, Text>;

    /// The JSON schema of accepted values.
    fn schema() -> Value;
}

/// An item of a [`body!`](crate::http::body): a field, or another body whose fields are flattened into this one.
pub(crate) trait BodyItem {
    /// The result of parsing: `None` for a field that is invalid or missing.
    type Read;
    type Value;

    fn take(fields: &mut Fields, name: &'static str) -> Self::Read;

    /// The value, where it is valid.
    fn value(read: Self::Read) -> Option<Self::Value>;

    /// The names of the fields, in their order.
    fn names(name: &'static str, names: &mut Vec<&'static str>) {
        names.push(name);
    }

    /// Adds the fields to a schema.
    fn describe(object: &mut Object, name: &str, about: &str);
}

/// A declared body, form or query.
pub(crate) trait Body: Sized {
    /// The parsed fields, each `None` where it is invalid.
    type Read;
    /// The name of the schema in the description.
    const NAME: &'static str;

    /// Parses every field.
    fn read(fields: &mut Fields) -> Self::Read;

    /// The body, where every field is valid.
    fn value(read: Self::Read) -> Option<Self>;

    /// The fields' names, as clients send them, in their order.
    fn names(names: &mut Vec<&'static str>);

    /// Adds the fields to a schema.
    fn describe(object: &mut Object);
}

/// Declares a body: a struct whose fields are parsed from those of a request. An item is `name: Type`, where the type is a
/// [`Field`], an `Option` of one, or one of the item types of [`crate::http::body`]; `as "other"` gives the field another name
/// on the wire. The comment on an item is the field's text in the description. `also` adds rules between fields to the
/// schema.
#[macro_export]
macro_rules! body {
    (
        $(#[doc = $about:expr])*
        $vis:vis struct $name:ident {
            $($(#[doc = $doc:expr])* $field:ident $(as $key:literal)? : $kind:ty),* $(,)?
        }
        $(also $also:expr)?
    ) => {
        $(#[doc = $about])*
        #[allow(dead_code, reason = "some fields are only validated")]
        $vis struct $name { $($(#[doc = $doc])* pub $field: <$kind as $crate::http::body::BodyItem>::Value),* }

        const _: () = {
            // Public, because some bodies are.
            #[allow(dead_code, unreachable_pub, reason = "some fields are only validated")]
            pub struct Read { $(pub $field: <$kind as $crate::http::body::BodyItem>::Read),* }

            impl $crate::http::body::Body for $name {
                type Read = Read;
                const NAME: &'static str = stringify!($name);

                fn read(fields: &mut $crate::http::fields::Fields) -> Read {
                    Read { $($field: <$kind as $crate::http::body::BodyItem>::take(fields, $crate::key!($field $($key)?))),* }
                }

                fn value(read: Read) -> Option<$name> {
                    Some($name { $($field: <$kind as $crate::http::body::BodyItem>::value(read.$field)?),* })
                }

                fn names(names: &mut Vec<&'static str>) {
                    $(<$kind as $crate::http::body::BodyItem>::names($crate::key!($field $($key)?), names);)*
                }

                fn describe(object: &mut $crate::http::body::Object) {
                    $(<$kind as $crate::http::body::BodyItem>::describe(object, $crate::key!($field $($key)?), concat!($($doc),*));)*
                    $(object.also($also);)?
                }
            }
        };
    };
}

/// The name that clients send for a field.
#[macro_export]
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// A body whose fields are parsed and not validated together yet, so that an operation can add problems of its own.
pub(crate) struct ParsedBody<B: Body> {
    pub read: B::Read,
    pub fields: Fields,
}

impl<B: Body> ParsedBody<B> {
    pub(crate) fn read(mut fields: Fields) -> ParsedBody<B> {
        ParsedBody { read: B::read(&mut fields), fields }
    }

    /// The body, or 422 with every problem.
    pub(crate) fn finish(self) -> Result<B, Failure> {
        self.fields.finish()?;
        Ok(B::value(self.read).expect("a field without a value is a problem, and Fields::finish returns those"))
    }

    /// As [`ParsedBody::finish`], with the problems in the order of the fields.
    pub(crate) fn finish_in_order(mut self) -> Result<B, Failure> {
        self.fields.sort(B::names);
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::field_types::{Count, FlightMinutes, Id, Line, Lines};
    use serde_json::json;

    crate::body! {
        struct Inner {
            /// How many.
            /// Or none.
            count: Option<Count>,
        }
        also json!({ "dependentRequired": { "count": ["id"] } })
    }

    crate::body! {
        struct Outer {
            id: Id,
            minutes as "time": FlightMinutes,
            comment: Clearable<Lines<10>>,
            name: Option<Line<5>>,
            salt: Ignored,
            inner: Flattened<Inner>,
        }
    }

    fn read(value: Value) -> Result<Outer, Failure> {
        ParsedBody::read(Fields::new(value.as_object().unwrap().clone())).finish()
    }

    #[test]
    fn a_body_is_parsed_by_the_names_on_the_wire() {
        let outer =
            read(json!({ "id": "7", "time": "1:05", "comment": "", "salt": [1], "count": 3, "name": " " })).unwrap();
        assert_eq!((outer.id, outer.minutes, outer.inner.count), (7, 65, Some(3)));
        assert_eq!((outer.comment.as_deref(), outer.name), (Some(""), None), "blank text replaces, and else is absent");
    }

    #[test]
    fn every_invalid_field_of_a_body_is_reported_at_once() {
        let failure = read(json!({ "time": 601, "comment": 1.5, "name": "too long", "count": -1 })).err().unwrap();
        let named: Vec<_> = failure.problems().iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(named, ["id", "time", "name", "count"]);
    }

    #[test]
    fn a_refused_field_has_one_problem_and_an_ignored_field_none() {
        let mut fields = Fields::new(json!({ "id": 0, "time": "x" }).as_object().unwrap().clone());
        fields.demand("name");
        fields.convert("id", |_| Err::<i64, _>(Text::new("field.moment_or_day")));
        fields.ignore(&["time"]);
        let failure = ParsedBody::<Outer>::read(fields).finish().err().unwrap();
        let named: Vec<_> = failure.problems().iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(named, ["name", "id", "time"], "without its value `time` is missing");
    }

    #[test]
    fn a_body_describes_its_fields() {
        let schema = Object::of::<Outer>();
        assert_eq!(schema["required"], json!(["id", "time"]));
        assert_eq!(schema["properties"]["name"], json!({ "$ref": format!("{SHARED}OptionalLine"), "maxLength": 5 }));
        assert_eq!(schema["properties"]["count"]["description"], "How many. Or none.");
        assert_eq!(schema["dependentRequired"], json!({ "count": ["id"] }));
        assert_eq!(Object::of::<Inner>().get("required"), None);
    }
}
