//! The items of a body: required fields, optional fields, and special cases.

use super::schema::or_blank;
use super::{Body, BodyItem, Field, Object};
use crate::http::fields::Fields;
use serde_json::json;

/// A required field.
impl<F: Field> BodyItem for F {
    type Read = Option<F::Value>;
    type Value = F::Value;

    fn take(fields: &mut Fields, name: &'static str) -> Option<F::Value> {
        fields.required(name, F::read).into_option()
    }

    fn value(read: Option<F::Value>) -> Option<F::Value> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        object.add(name, F::schema(), about);
        object.require(name);
    }
}

/// An optional field, which may be absent or blank.
impl<F: Field> BodyItem for Option<F> {
    type Read = Option<Option<F::Value>>;
    type Value = Option<F::Value>;

    fn take(fields: &mut Fields, name: &'static str) -> Self::Read {
        if F::IS_ABSENT_AS_ZERO {
            fields.ignore_zeros(&[name]);
        }
        fields.optional(name, F::read).into_option()
    }

    fn value(read: Self::Read) -> Option<Option<F::Value>> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        object.add(name, or_blank(F::schema()), about);
    }
}

/// An item that is parsed as `P`, and described as `D`.
pub(crate) struct DescribedAs<P, D>(P, D);

/// A field that only some callers need: described as required, and checked by the operation ([`Fields::demand`]).
pub(crate) type RequiredByCaller<F> = DescribedAs<Option<F>, F>;

/// An optional field that some calls ignore, so that the description accepts any value.
pub(crate) type Undescribed<F> = DescribedAs<Option<F>, Ignored>;

impl<P: BodyItem, D: BodyItem> BodyItem for DescribedAs<P, D> {
    type Read = P::Read;
    type Value = P::Value;

    fn take(fields: &mut Fields, name: &'static str) -> P::Read {
        P::take(fields, name)
    }

    fn value(read: P::Read) -> Option<P::Value> {
        P::value(read)
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        D::describe(object, name, about);
    }
}

/// Optional text of an edit: blank text clears the old value, and an absent field keeps it.
pub(crate) struct Clearable<F>(F);

impl<F: Field<Value = String>> BodyItem for Clearable<F> {
    type Read = Option<Option<String>>;
    type Value = Option<String>;

    fn take(fields: &mut Fields, name: &'static str) -> Self::Read {
        fields.optional_even_empty(name, F::read).into_option()
    }

    fn value(read: Self::Read) -> Option<Option<String>> {
        read
    }

    fn describe(object: &mut Object, name: &str, about: &str) {
        <Option<F> as BodyItem>::describe(object, name, about);
    }
}

/// A field that clients send and the operation ignores.
pub(crate) struct Ignored;

impl BodyItem for Ignored {
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

/// Another body, whose fields are flattened into this one.
pub(crate) struct Flattened<B>(B);

impl<B: Body> BodyItem for Flattened<B> {
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
