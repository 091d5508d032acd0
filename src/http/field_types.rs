//! The kinds of fields: what bodies, forms and queries are made of. The words and patterns by which the API description
//! shows a kind are in `assets/api/types.json`, under the kind's name.

use crate::domain::questions;
use crate::domain::{email, minutes, username};
use crate::http::body::{Field, shared};
use crate::http::fields;
use crate::i18n::language::Text;
use serde_json::{Value, json};

/// A pattern of one line of text that is not blank.
const LINE_PATTERN: &str = r"^\s*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*\s*$";

/// Declares kinds that the description has a type of their own for: the name, its value, and how it is read.
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
    /// The same, 0 or more.
    Count -> i64 = fields::whole_in(0..=i64::MAX);
    /// The number of a row: 1 or more.
    Id -> i64 = fields::id;
    /// Unix seconds.
    Moment -> i64 = fields::moment;
    /// Minutes of one flight or booking.
    FlightMinutes -> i64 = fields::flight_minutes;
    /// Yes or no.
    Flag -> bool = fields::flag;
    /// A password as it was typed.
    Secret -> String = fields::secret;
    /// A password that is being set; whether it is a good one, the operation judges.
    NewPassword -> String = fields::secret;
    /// The proof of a second factor: six digits or a recovery code.
    Code -> String = fields::code(CODE_CHARS_MAX);
    /// An e-mail address.
    Email -> String = fields::as_line(email::parse);
    /// A username that is being set.
    Username -> String = fields::as_line(username::parse);
}

/// The longest code that is looked at.
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

/// Six digits, or something else of at most this many characters that a passcode or PIN was taken for.
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

/// Text of a shared kind, of at most this many characters.
pub(crate) fn bounded(kind: &str, chars_max: usize) -> Value {
    let mut schema = shared(kind);
    schema["maxLength"] = chars_max.into();
    schema
}

/// A line so short that the digits of a large number do not fit: the description says which numbers do.
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

/// How many rows of a list or report, of at most this many.
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

/// Minutes of an entry, which need not be a flight of its own.
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

/// A value that clients name.
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
