//! The types of fields in bodies, forms and queries. `assets/api/types.json` has the text and pattern of each type for the
//! API description, under the type's name.

use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::domain::questions;
use crate::domain::{email, minutes, username};
use crate::http::body::{Field, shared};
use crate::http::fields;
use crate::i18n::language::Text;
use crate::moment::Moment;
use serde_json::{Value, json};

/// A pattern of one line of text that is not blank. `types.json` has it too, with the characters of
/// [`is_unseen`](crate::domain::unicode::is_unseen).
const LINE_PATTERN: &str = concat!(
    r"^[\s\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0]*",
    r"[^\s\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0][^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\s*$"
);

/// Declares field types: name, Rust type of the value, reader, and schema in the API description; without a schema, the one in
/// `types.json` under the type's name.
macro_rules! kinds {
    ($(
        $(#[doc = $doc:expr])*
        $name:ident $(<$size:ident: $kind:ty>)? -> $value:ty = $read:expr $(, $schema:expr)?;
    )*) => {$(
        $(#[doc = $doc])*
        pub struct $name $(<const $size: $kind>)?;

        impl $(<const $size: $kind>)? Field for $name $(<$size>)? {
            type Value = $value;

            fn read(value: &Value) -> Result<$value, Text> {
                $read(value)
            }

            fn schema() -> Value {
                kinds!(@schema $name $(, $schema)?)
            }
        }
    )*};
    (@schema $name:ident) => { shared(stringify!($name)) };
    (@schema $name:ident, $schema:expr) => { $schema };
}

kinds! {
    /// A whole number, or one written as text.
    Whole -> i64 = fields::whole;
    /// A whole number, 0 or more.
    Count -> i64 = fields::whole_in(0..=i64::MAX);
    /// The number of a row: 1 or more.
    Id -> i64 = fields::id;
    /// A number of rows, from 1 to this many.
    Rows<ROWS_MAX: i64> -> i64 = fields::whole_in(1..=ROWS_MAX), shared("Limit");
    /// A number of seconds, from 0 to this many.
    Seconds<SECONDS_MAX: i64> -> i64 = fields::whole_in(0..=SECONDS_MAX), shared("Count");
    /// Unix seconds of a day of birth.
    DayOfBirth -> Moment = fields::day_of_birth;
    /// Minutes of one flight or booking.
    FlightMinutes -> i64 = fields::flight_minutes;
    /// Minutes of a logbook entry, 0 or more.
    EntryMinutes -> i64 = fields::minutes_up_to(*minutes::MINUTES.end()), json!({ "anyOf": [
        { "type": "integer", "minimum": 0, "maximum": minutes::MINUTES.end() },
        {
            "type": "string",
            "pattern": r"^\s*((\+?0*([0-9]{1,2}|[1-5][0-9]{2}|600)|-0+)(\.0*)?|0{0,5}[0-9]:[0-5][0-9]|0{0,4}10:00)\s*$",
        },
    ] });
    /// The number of a question of the catalogue.
    QuestionNumber -> i64 = fields::whole_in(questions::NUMBERS), json!({ "anyOf": [
        { "type": "integer", "minimum": questions::NUMBERS.start(), "maximum": questions::NUMBERS.end() },
        { "type": "string", "pattern": r"^\s*\+?0*([1-9]|1[0-2])(\.0*)?\s*$" },
    ] });
    /// Yes or no.
    Flag -> bool = fields::flag;
    /// One line of text of at most this many characters, trimmed.
    Line<CHARS_MAX: usize> -> String = fields::line(CHARS_MAX), bounded("Line", CHARS_MAX);
    /// As [`Line`], in the form of Unicode in which it was typed: a username or an address that says who somebody is, an
    /// answer whose hash may be of another form.
    LineAsTyped<CHARS_MAX: usize> -> String = fields::line_as_typed(CHARS_MAX), bounded("Line", CHARS_MAX);
    /// A line so short that large numbers do not fit; the description states which numbers do.
    ShortLine<CHARS_MAX: usize> -> String = fields::line(CHARS_MAX), short_line(CHARS_MAX);
    /// Text that may have line breaks, of at most this many characters, trimmed.
    Lines<CHARS_MAX: usize> -> String = fields::lines(CHARS_MAX), bounded("Lines", CHARS_MAX);
    /// Six digits, or another text of at most this many characters, which is no right passcode or PIN.
    Digits<CHARS_MAX: usize> -> String = fields::code(CHARS_MAX), bounded("Line", CHARS_MAX);
    /// The six digits of a passcode, as a number or as text.
    Passcode -> String = fields::six_digits, json!({ "anyOf": [
        { "type": "integer", "minimum": 0, "maximum": 999_999 },
        { "type": "string", "pattern": r"^\s*(\+?0*[0-9]{1,6}|-0+)(\.0*)?\s*$" },
    ] });
    /// A payload and its signature, in base64url.
    SignedText -> String = fields::line(8 * 1024),
        json!({ "type": "string", "pattern": r"^[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]+$" });
    /// A password as typed.
    Secret -> String = fields::secret;
    /// A new password; the operation checks its strength.
    NewPassword -> String = fields::secret;
    /// The proof of a second factor: six digits or a recovery code.
    Code -> String = fields::code(CODE_CHARS_MAX);
    /// An e-mail address.
    Email -> String = fields::as_line(email::parse);
    /// A new username.
    Username -> String = fields::as_line(username::parse);
}

/// The numbers of rows with a type of their own.
macro_rules! ids {
    ($($id:ident),*) => {$(
        impl Field for $id {
            type Value = $id;

            fn read(value: &Value) -> Result<$id, Text> {
                fields::id(value)
            }

            fn schema() -> Value {
                Id::schema()
            }
        }
    )*};
}

ids! { MemberId, EntryId, TunnelId }

/// Unix seconds, new or sent back as they are stored: the operation refuses a new moment before [`fields::MOMENT_MIN`].
pub struct StoredMoment;

macro_rules! moments {
    ($($name:ident = $read:expr),*) => {$(
        impl Field for $name {
            type Value = Moment;
            const IS_ABSENT_AS_ZERO: bool = true;

            fn read(value: &Value) -> Result<Moment, Text> {
                $read(value)
            }

            fn schema() -> Value {
                shared("Moment")
            }
        }
    )*};
}

moments! { Moment = fields::moment, StoredMoment = fields::stored_moment }

/// Longer codes are refused.
const CODE_CHARS_MAX: usize = 40;

/// The schema of a shared type, with a maximum length.
pub(crate) fn bounded(kind: &str, chars_max: usize) -> Value {
    let mut schema = shared(kind);
    schema["maxLength"] = chars_max.into();
    schema
}

fn short_line(chars_max: usize) -> Value {
    let (least, most): (i64, i64) = if chars_max < 10 { (0, 99_999_999) } else { (-999_999_999, 9_999_999_999) };
    json!({ "anyOf": [
        { "type": "string", "maxLength": chars_max, "pattern": LINE_PATTERN },
        { "type": "integer", "minimum": least, "maximum": most },
    ] })
}

/// A value with a name on the wire.
pub trait Named: Copy + 'static {
    /// Each name with its value.
    const NAMES: &'static [(&'static str, Self)];

    /// The value with this name.
    fn named(text: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
    }
}

/// One of the names of `T`.
pub struct Name<T>(T);

impl<T: Named> Field for Name<T> {
    type Value = T;

    fn read(value: &Value) -> Result<T, Text> {
        let names = || T::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let one_of = || Text::new("field.one_of").with("values", names());
        fields::as_line(|text| T::named(text).ok_or_else(one_of))(value)
    }

    fn schema() -> Value {
        json!({ "enum": T::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>() })
    }
}
