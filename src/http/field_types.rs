//! The types of fields in bodies, forms and queries. `assets/api/types.json` has the text and pattern of each type for the
//! API description, under the type's name.

use crate::domain::questions;
use crate::domain::{email, minutes, username};
use crate::http::body::{Field, shared};
use crate::http::fields;
use crate::i18n::language::Text;
use serde_json::{Value, json};

/// A pattern of one line of text that is not blank. `types.json` has it too, with the characters of
/// [`is_unseen`](crate::domain::unicode::is_unseen).
const LINE_PATTERN: &str = concat!(
    r"^[\s\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0]*",
    r"[^\s\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0][^\u0000-\u001f\u007f-\u009f]*\s*$"
);

/// Declares field types that have a schema of their own in the API description: name, Rust type of the value, and reader.
macro_rules! kinds {
    ($($(#[doc = $doc:expr])* $name:ident -> $value:ty = $read:expr;)*) => {$(
        $(#[doc = $doc])*
        pub struct $name;

        impl Field for $name {
            type Value = $value;

            fn read(value: &Value) -> Result<$value, Text> {
                $read(value)
            }

            fn schema() -> Value {
                shared(stringify!($name))
            }
        }
    )*};
}

kinds! {
    /// A whole number, or one written as text.
    Whole -> i64 = fields::whole;
    /// A whole number, 0 or more.
    Count -> i64 = fields::whole_in(0..=i64::MAX);
    /// The number of a row: 1 or more.
    Id -> i64 = fields::id;
    /// Unix seconds of a day of birth.
    DayOfBirth -> i64 = fields::day_of_birth;
    /// Minutes of one flight or booking.
    FlightMinutes -> i64 = fields::flight_minutes;
    /// Yes or no.
    Flag -> bool = fields::flag;
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

/// Unix seconds.
pub struct Moment;

/// Unix seconds, new or sent back as they are stored: the operation refuses a new moment before [`fields::MOMENT_MIN`].
pub struct StoredMoment;

macro_rules! moments {
    ($($name:ident = $read:expr),*) => {$(
        impl Field for $name {
            type Value = i64;
            const IS_ABSENT_AS_ZERO: bool = true;

            fn read(value: &Value) -> Result<i64, Text> {
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

/// One line of text of at most this many characters, trimmed.
pub struct Line<const CHARS_MAX: usize>;

impl<const CHARS_MAX: usize> Field for Line<CHARS_MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::line(CHARS_MAX)(value)
    }

    fn schema() -> Value {
        bounded("Line", CHARS_MAX)
    }
}

/// As [`Line`], in the form of Unicode in which it was typed: a username or an address that says who somebody is, an answer whose
/// hash may be of another form.
pub struct LineAsTyped<const CHARS_MAX: usize>;

impl<const CHARS_MAX: usize> Field for LineAsTyped<CHARS_MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::line_as_typed(CHARS_MAX)(value)
    }

    fn schema() -> Value {
        bounded("Line", CHARS_MAX)
    }
}

/// Text that may have line breaks, of at most this many characters, trimmed.
pub struct Lines<const CHARS_MAX: usize>;

impl<const CHARS_MAX: usize> Field for Lines<CHARS_MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::lines(CHARS_MAX)(value)
    }

    fn schema() -> Value {
        bounded("Lines", CHARS_MAX)
    }
}

/// Six digits, or another text of at most this many characters, which is no right passcode or PIN.
pub struct Digits<const CHARS_MAX: usize>;

impl<const CHARS_MAX: usize> Field for Digits<CHARS_MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::code(CHARS_MAX)(value)
    }

    fn schema() -> Value {
        bounded("Line", CHARS_MAX)
    }
}

/// The schema of a shared type, with a maximum length.
pub(crate) fn bounded(kind: &str, chars_max: usize) -> Value {
    let mut schema = shared(kind);
    schema["maxLength"] = chars_max.into();
    schema
}

/// A line so short that large numbers do not fit; the description states which numbers do.
pub struct ShortLine<const CHARS_MAX: usize>;

impl<const CHARS_MAX: usize> Field for ShortLine<CHARS_MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::line(CHARS_MAX)(value)
    }

    fn schema() -> Value {
        let (least, most): (i64, i64) = if CHARS_MAX < 10 { (0, 99_999_999) } else { (-999_999_999, 9_999_999_999) };
        json!({ "anyOf": [
            { "type": "string", "maxLength": CHARS_MAX, "pattern": LINE_PATTERN },
            { "type": "integer", "minimum": least, "maximum": most },
        ] })
    }
}

/// A number of rows, from 1 to this many.
pub struct Rows<const ROWS_MAX: i64>;

impl<const ROWS_MAX: i64> Field for Rows<ROWS_MAX> {
    type Value = i64;

    fn read(value: &Value) -> Result<i64, Text> {
        fields::whole_in(1..=ROWS_MAX)(value)
    }

    fn schema() -> Value {
        shared("Limit")
    }
}

/// The six digits of a passcode, as a number or as text.
pub struct Passcode;

impl Field for Passcode {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::six_digits(value)
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": 999_999 },
            { "type": "string", "pattern": r"^\s*(\+?0*[0-9]{1,6}|-0+)(\.0*)?\s*$" },
        ] })
    }
}

/// Minutes of a logbook entry, 0 or more.
pub struct EntryMinutes;

impl Field for EntryMinutes {
    type Value = i64;

    fn read(value: &Value) -> Result<i64, Text> {
        fields::minutes_up_to(*minutes::MINUTES.end())(value)
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": minutes::MINUTES.end() },
            {
                "type": "string",
                "pattern": r"^\s*((\+?0*([0-9]{1,2}|[1-5][0-9]{2}|600)|-0+)(\.0*)?|0{0,5}[0-9]:[0-5][0-9]|0{0,4}10:00)\s*$",
            },
        ] })
    }
}

/// A payload and its signature, in base64url.
pub(crate) struct SignedText;

impl Field for SignedText {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::line(8 * 1024)(value)
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": r"^[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]+$" })
    }
}

/// The number of a question of the catalogue.
pub struct QuestionNumber;

impl Field for QuestionNumber {
    type Value = i64;

    fn read(value: &Value) -> Result<i64, Text> {
        fields::whole_in(questions::NUMBERS)(value)
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": questions::NUMBERS.start(), "maximum": questions::NUMBERS.end() },
            { "type": "string", "pattern": r"^\s*\+?0*([1-9]|1[0-2])(\.0*)?\s*$" },
        ] })
    }
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
