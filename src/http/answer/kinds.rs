//! The kinds of fields in answers: the types of Rust, and names for those with a narrower schema.

use super::{FieldOfAnswer, Schemas, Shape, ShapeField, Shown, StructOfAnswer};
use crate::domain::ids::{BookingId, EntryId, MemberId, NoticeId, PasskeyId, PaymentId, SignatureId, TunnelId};
use crate::http::body::Flattened;
use crate::http::field_types::{Count, FlightMinutes, Id};
use crate::moment::Moment;
use serde::Serialize;
use serde::ser::SerializeStruct;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Declares the schemas of kinds that bodies have too: an answer has them in one form.
macro_rules! shared_kinds {
    ($($name:ty, $unit:literal = $schema:tt;)*) => {$(
        impl FieldOfAnswer for $name {
            type Value = i64;
            const UNIT: &'static str = $unit;

            fn show(_: &mut Schemas) -> Shown {
                Shown::of(json!($schema))
            }
        }
    )*};
}

shared_kinds! {
    Id, "" = { "type": "integer", "format": "int64", "minimum": 1 };
    Count, "" = { "type": "integer", "minimum": 0 };
    FlightMinutes, "" = { "type": "integer", "minimum": 1, "maximum": 600 };
    Number, "" = { "type": "integer", "format": "int64", "minimum": 0 };
    Int, "" = { "type": "integer" };
}

/// The numbers of rows with a type of their own.
macro_rules! ids {
    ($($id:ident),*) => {$(
        impl FieldOfAnswer for $id {
            type Value = $id;

            fn show(schemas: &mut Schemas) -> Shown {
                Id::show(schemas)
            }
        }
    )*};
}

impl FieldOfAnswer for Moment {
    type Value = Moment;
    const UNIT: &'static str = "Unix seconds.";

    fn show(schemas: &mut Schemas) -> Shown {
        i64::show(schemas)
    }
}

ids! { MemberId, EntryId, BookingId, PaymentId, TunnelId, NoticeId, PasskeyId, SignatureId }

/// A number of a partner.
pub(crate) enum Number {}

/// A small number.
pub(crate) enum Int {}

/// `true`, where a refusal has another shape.
pub(crate) enum True {}

impl FieldOfAnswer for True {
    type Value = bool;

    fn show(_: &mut Schemas) -> Shown {
        Shown { schema: json!({ "const": true }), example: Some(true.into()) }
    }
}

/// Declares Rust types that are kinds themselves.
macro_rules! natives {
    ($($native:ty = $schema:tt;)*) => {$(
        impl FieldOfAnswer for $native {
            type Value = $native;

            fn show(_: &mut Schemas) -> Shown {
                Shown::of(json!($schema))
            }
        }
    )*};
}

natives! {
    bool = { "type": "boolean" };
    i64 = { "type": "integer", "format": "int64" };
    u8 = { "type": "integer" };
    u32 = { "type": "integer" };
    usize = { "type": "integer" };
    String = { "type": "string" };
}

impl<'a> FieldOfAnswer for &'a str {
    type Value = &'a str;

    fn show(schemas: &mut Schemas) -> Shown {
        String::show(schemas)
    }
}

/// Texts by key.
impl FieldOfAnswer for BTreeMap<&'static str, &'static str> {
    type Value = Self;

    fn show(_: &mut Schemas) -> Shown {
        Shown::of(json!({ "type": "object", "additionalProperties": { "type": "string" } }))
    }
}

/// A PDF, as a string.
pub(crate) enum PdfInBase64 {}

impl FieldOfAnswer for PdfInBase64 {
    type Value = String;

    fn show(_: &mut Schemas) -> Shown {
        Shown::of(json!({
            "type": "string", "description": "The PDF in base64.", "contentEncoding": "base64",
            "contentMediaType": "application/pdf", "pattern": "^[A-Za-z0-9+/]+={0,2}$",
        }))
    }
}

impl FieldOfAnswer for Value {
    type Value = Value;

    fn show(_: &mut Schemas) -> Shown {
        Shown::of(json!({}))
    }
}

/// `null` where there is none.
impl<K: FieldOfAnswer> FieldOfAnswer for Option<K> {
    type Value = Option<K::Value>;
    const UNIT: &'static str = K::UNIT;

    fn show(schemas: &mut Schemas) -> Shown {
        let Shown { mut schema, .. } = K::show(schemas);
        schema["type"] = json!([schema["type"], "null"]);
        Shown { schema, example: Some(Value::Null) }
    }
}

impl<K: FieldOfAnswer> FieldOfAnswer for Vec<K> {
    type Value = Vec<K::Value>;

    fn show(schemas: &mut Schemas) -> Shown {
        let Shown { schema, example } = K::show(schemas);
        Shown { schema: json!({ "type": "array", "items": schema }), example: example.map(|one| json!([one])) }
    }
}

/// A field that is left out where it has no value.
pub(crate) struct Sometimes<K>(K);

impl<K: FieldOfAnswer> FieldOfAnswer for Sometimes<K> {
    type Value = Option<K::Value>;
    const IS_ALWAYS_THERE: bool = false;
    const UNIT: &'static str = K::UNIT;

    fn show(schemas: &mut Schemas) -> Shown {
        K::show(schemas)
    }

    fn write<S: SerializeStruct>(object: &mut S, key: &'static str, value: &Self::Value) -> Result<(), S::Error> {
        match value {
            Some(value) => K::write(object, key, value),
            None => object.skip_field(key),
        }
    }
}

impl<T: StructOfAnswer> FieldOfAnswer for Flattened<T> {
    type Value = T;

    fn show(schemas: &mut Schemas) -> Shown {
        schemas.object::<T>(None, &[])
    }

    fn write<S: SerializeStruct>(object: &mut S, _: &'static str, value: &T) -> Result<(), S::Error> {
        value.write_fields(object)
    }

    fn describe(shape: &mut Shape, _: ShapeField) {
        T::describe_fields(shape);
    }
}

/// A value that is serialised as one of a few words.
pub(crate) struct Word<T>(T);

impl<T: Serialize> FieldOfAnswer for Word<T> {
    type Value = T;

    fn show(schemas: &mut Schemas) -> Shown {
        String::show(schemas)
    }
}

/// A value beside the answer, which is not in it.
pub(crate) struct Hidden<T>(T);

impl<T: Serialize> FieldOfAnswer for Hidden<T> {
    type Value = T;

    fn show(_: &mut Schemas) -> Shown {
        Shown::of(Value::Null)
    }

    fn write<S: SerializeStruct>(_: &mut S, _: &'static str, _: &T) -> Result<(), S::Error> {
        Ok(())
    }

    fn describe(_: &mut Shape, _: ShapeField) {}
}

/// JSON that was stored in this form.
pub(crate) struct Stored<K>(K);

impl<K: FieldOfAnswer> FieldOfAnswer for Stored<K> {
    type Value = Box<RawValue>;

    fn show(schemas: &mut Schemas) -> Shown {
        K::show(schemas)
    }
}

/// One answer or the other; the example is of the first. Only described.
impl<A: FieldOfAnswer, B: FieldOfAnswer> FieldOfAnswer for (A, B) {
    type Value = ();

    fn show(schemas: &mut Schemas) -> Shown {
        let (one, other) = (A::show(schemas), B::show(schemas));
        Shown { schema: json!({ "anyOf": [one.schema, other.schema] }), example: one.example }
    }
}
