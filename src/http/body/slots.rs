//! The lines of a body: a field that must be there, one that may be absent, and the other ways in which calls use a field.

use super::schema::or_blank;
use super::{Body, Field, Object, Slot};
use crate::http::fields::Fields;
use serde_json::json;

/// A field that must be there.
impl<F: Field> Slot for F {
    type Read = Option<F::Value>;
    type Value = F::Value;

    fn take(fields: &mut Fields, name: &'static str) -> Option<F::Value> {
        fields.required(name, F::read).peeked()
    }

    fn value(read: Option<F::Value>) -> Option<F::Value> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        object.add(name, F::schema(), about);
        object.require(name);
    }
}

/// A field that may be absent or blank.
impl<F: Field> Slot for Option<F> {
    type Read = Option<Option<F::Value>>;
    type Value = Option<F::Value>;

    fn take(fields: &mut Fields, name: &'static str) -> Self::Read {
        fields.optional(name, F::read).peeked()
    }

    fn value(read: Self::Read) -> Option<Option<F::Value>> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        object.add(name, or_blank(F::schema()), about);
    }
}

/// A field that only some calls need: described as needed, and the operation says when it is
/// ([`Fields::demand`]).
pub(crate) struct Needed<F>(F);

impl<F: Field> Slot for Needed<F> {
    type Read = Option<Option<F::Value>>;
    type Value = Option<F::Value>;

    fn take(fields: &mut Fields, name: &'static str) -> Self::Read {
        fields.optional(name, F::read).peeked()
    }

    fn value(read: Self::Read) -> Option<Option<F::Value>> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        <F as Slot>::describe(object, name, about);
    }
}

/// A field that some calls do not read at all, so that the description leaves it open.
pub(crate) struct Open<F>(F);

impl<F: Field> Slot for Open<F> {
    type Read = Option<Option<F::Value>>;
    type Value = Option<F::Value>;

    fn take(fields: &mut Fields, name: &'static str) -> Self::Read {
        fields.optional(name, F::read).peeked()
    }

    fn value(read: Self::Read) -> Option<Option<F::Value>> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        object.add(name, json!({}), about);
    }
}

/// Text that may be absent, and that says something even when it is blank: in an edit it takes away what was.
pub(crate) struct Replaces<F>(F);

impl<F: Field<Value = String>> Slot for Replaces<F> {
    type Read = Option<Option<String>>;
    type Value = Option<String>;

    fn take(fields: &mut Fields, name: &'static str) -> Self::Read {
        fields.optional_even_empty(name, F::read).peeked()
    }

    fn value(read: Self::Read) -> Option<Option<String>> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        <Option<F> as Slot>::describe(object, name, about);
    }
}

/// A field that clients send and that is not looked at.
pub(crate) struct Unread;

impl Slot for Unread {
    type Read = ();
    type Value = ();

    fn take(_: &mut Fields, _: &'static str) {}

    fn value((): ()) -> Option<()> {
        Some(())
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        object.add(name, json!({}), about);
    }
}

/// The fields of another body, among those of this one.
pub(crate) struct All<B>(B);

impl<B: Body> Slot for All<B> {
    type Read = B::Read;
    type Value = B;

    fn take(fields: &mut Fields, _: &'static str) -> B::Read {
        B::read(fields)
    }

    fn value(read: B::Read) -> Option<B> {
        B::value(read)
    }

    fn names(_: &'static str, names: &mut Vec<&'static str>) {
        B::names(names);
    }

    fn describe(object: &mut Object, _: &str, _: &str) {
        B::describe(object);
    }
}
