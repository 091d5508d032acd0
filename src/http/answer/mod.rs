//! Answers as types: [`answer!`](crate::answer) declares the fields once, each with its text and an example. An operation
//! serialises the struct, and the API description has its schema and its example from it.

mod kinds;
mod operation;
mod shape;

pub(crate) use kinds::{Hidden, Int, Number, PdfInBase64, Sometimes, Stored, True, Word};
pub use operation::Operation;
pub(crate) use shape::{Schemas, Shape, ShapeField, Shown, overlay, prose};

use serde::Serialize;
use serde::ser::SerializeStruct;

/// A type of field in an answer: its value, its schema and an example of it.
pub(crate) trait FieldOfAnswer {
    /// What the operation puts in.
    type Value: Serialize;
    /// Whether every answer has the field.
    const IS_ALWAYS_THERE: bool = true;
    /// The end of the text of every such field.
    const UNIT: &'static str = "";

    fn show(schemas: &mut Schemas) -> Shown;

    fn write<S: SerializeStruct>(object: &mut S, key: &'static str, value: &Self::Value) -> Result<(), S::Error> {
        object.serialize_field(key, value)
    }

    /// Adds the field to the description of its struct.
    fn describe(shape: &mut Shape, field: ShapeField) {
        let shown = Self::show(shape.schemas());
        shape.add(field.in_unit(Self::UNIT), shown, Self::IS_ALWAYS_THERE);
    }
}

/// A declared answer with fields.
pub(crate) trait StructOfAnswer: Serialize {
    fn describe_fields(shape: &mut Shape);

    fn write_fields<S: SerializeStruct>(&self, object: &mut S) -> Result<(), S::Error>;
}

/// Declares an answer: a struct that serialises itself, and describes itself in the API description under its own name, or
/// in place where it is `inline`. A field is `name: Kind`, where the kind is a [`FieldOfAnswer`]; then may follow the values
/// that it can have (`["a", "b"]`), or other keywords of its schema (`{ "minLength": 1 }`), and ` = ` an example. `as "other"`
/// gives the field another name on the wire. The comment on a field is its text in the description. `struct Name = Kind;`
/// names a kind, such as a list.
#[macro_export]
macro_rules! answer {
    ($(#[doc = $about:expr])* $vis:vis struct $name:ident = $kind:ty;) => {
        $(#[doc = $about])*
        $vis enum $name {}

        impl $crate::http::answer::FieldOfAnswer for $name {
            type Value = <$kind as $crate::http::answer::FieldOfAnswer>::Value;

            fn show(schemas: &mut $crate::http::answer::Schemas) -> $crate::http::answer::Shown {
                schemas.kind::<$kind>(stringify!($name), &[$($about),*])
            }
        }
    };
    ($(#[doc = $about:expr])* $(#[derive($($derived:ident),*)])* $vis:vis inline struct $name:ident $($rest:tt)*) => {
        $crate::answer! { @ None, [$($about),*], $(#[doc = $about])* $(#[derive($($derived),*)])* $vis struct $name $($rest)* }
    };
    ($(#[doc = $about:expr])* $(#[derive($($derived:ident),*)])* $vis:vis struct $name:ident $($rest:tt)*) => {
        $crate::answer! {
            @ Some(stringify!($name)), [$($about),*], $(#[doc = $about])* $(#[derive($($derived),*)])* $vis struct $name $($rest)*
        }
    };
    (
        @ $named:expr, [$($about:expr),*],
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$life:lifetime>)? $(<$kind_of_rows:ident>)? {
            $(
                $(#[doc = $doc:expr])*
                $field:ident $(as $key:literal)? : $kind:ty $([$($one:tt)*])? $({$($also:tt)*})? $(= $example:tt)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[allow(dead_code, reason = "some answers are only described")]
        $vis struct $name $(<$life>)? $(<$kind_of_rows: $crate::http::answer::FieldOfAnswer>)? {
            $($(#[doc = $doc])* pub $field: <$kind as $crate::http::answer::FieldOfAnswer>::Value),*
        }

        impl $(<$life>)? $(<$kind_of_rows: $crate::http::answer::FieldOfAnswer>)?
            $crate::http::answer::StructOfAnswer for $name $(<$life>)? $(<$kind_of_rows>)?
        {
            fn describe_fields(shape: &mut $crate::http::answer::Shape) {
                $(
                    let field = $crate::http::answer::ShapeField::new($crate::key!($field $($key)?), &[$($doc),*])
                        $(.one_of(serde_json::json!([$($one)*])))?
                        $(.also(serde_json::json!({$($also)*})))?
                        $(.example(serde_json::json!($example)))?;
                    <$kind as $crate::http::answer::FieldOfAnswer>::describe(shape, field);
                )*
            }

            fn write_fields<S: serde::ser::SerializeStruct>(&self, object: &mut S) -> Result<(), S::Error> {
                $(<$kind as $crate::http::answer::FieldOfAnswer>::write(object, $crate::key!($field $($key)?), &self.$field)?;)*
                Ok(())
            }
        }

        impl $(<$life>)? $(<$kind_of_rows: $crate::http::answer::FieldOfAnswer>)?
            serde::Serialize for $name $(<$life>)? $(<$kind_of_rows>)?
        {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;
                // For JSON the number only says that the object is not empty.
                let mut object = serializer.serialize_struct(stringify!($name), 1)?;
                $crate::http::answer::StructOfAnswer::write_fields(self, &mut object)?;
                object.end()
            }
        }

        impl $(<$life>)? $(<$kind_of_rows: $crate::http::answer::FieldOfAnswer>)?
            $crate::http::answer::FieldOfAnswer for $name $(<$life>)? $(<$kind_of_rows>)?
        {
            type Value = Self;

            fn show(schemas: &mut $crate::http::answer::Schemas) -> $crate::http::answer::Shown {
                schemas.object::<Self>($named, &[$($about),*])
            }
        }
    };
}

/// Declares the description of an operation, as a constant beside it: the comment's first line is its title, the rest its
/// text; then its name for programs, and what else [`Operation`] says.
#[macro_export]
macro_rules! operation {
    ($(#[doc = $doc:expr])* $name:ident = $id:literal $($more:tt)*) => {
        pub(crate) static $name: $crate::http::answer::Operation =
            $crate::http::answer::Operation::new($id, &[$($doc),*]) $($more)*;
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::body::Flattened;
    use crate::http::field_types::Id;
    use crate::moment::Moment;
    use serde_json::{Value, json};

    crate::answer! {
        /// What is inside.
        inline struct Inner {
            /// When.
            at: Option<Moment>,
            word: Option<String> ["a", "b"] = "a",
        }
    }

    crate::answer! {
        /// One row,
        /// of several.
        struct Outer {
            status: True,
            row_id as "rowId": Id = 7,
            inner: Flattened<Inner>,
            again: Sometimes<Inner>,
            beside: Hidden<i64>,
        }
    }

    #[test]
    fn an_answer_is_written_by_its_names_on_the_wire_in_the_order_of_its_fields() {
        let inner = || Inner { at: None, word: Some("b".to_owned()) };
        let mut outer = Outer { status: true, row_id: 3, inner: inner(), again: None, beside: 1 };
        let text = |outer: &Outer| serde_json::to_string(outer).unwrap();
        assert_eq!(text(&outer), r#"{"status":true,"rowId":3,"at":null,"word":"b"}"#);
        outer.again = Some(inner());
        assert_eq!(text(&outer), r#"{"status":true,"rowId":3,"at":null,"word":"b","again":{"at":null,"word":"b"}}"#);
    }

    #[test]
    fn an_answer_describes_its_fields_and_has_their_examples() {
        let mut schemas = Schemas::default();
        let Shown { schema, example } = Vec::<Outer>::show(&mut schemas);
        assert_eq!(schema, json!({ "type": "array", "items": { "$ref": "Outer" } }));
        assert_eq!(example.unwrap(), json!([{ "status": true, "rowId": 7, "at": null, "word": "a" }]));
        let outer: &Value = &schemas.0["Outer"];
        assert_eq!(outer["description"], "One row, of several.");
        assert_eq!(outer["required"], json!(["status", "rowId", "at", "word"]));
        assert_eq!(outer["properties"]["at"]["description"], "When. Unix seconds.");
        assert_eq!(outer["properties"]["word"]["enum"], json!(["a", "b", null]));
        assert_eq!(outer["properties"]["again"]["required"], json!(["at", "word"]));
        assert!(outer["properties"].get("beside").is_none());
    }
}
