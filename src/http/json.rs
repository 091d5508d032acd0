//! JSON by its grammar. Some JSON texts have parts that no [`Value`] can hold: half of a surrogate pair, or a number beyond
//! every float. Such a part, and one that is nested too deeply, becomes a value that no field accepts, so that the request
//! is refused only where the part is needed.

use crate::http::failure::Failure;
use crate::i18n::language::Text;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Error, Value};
use std::fmt;
use std::str::Utf8Error;

/// More levels than any body of ours has. Each level is scanned once more, and needs some stack.
const LEVELS_MAX: usize = 16;

/// Parses a text, which may begin with a byte order mark. Memory and stack are bounded for every text.
///
/// # Errors
/// The text is not JSON.
pub(crate) fn parse(text: &[u8]) -> Result<Value, Error> {
    raw(text).map(read)
}

/// A text that is JSON, unparsed.
pub(crate) fn raw(text: &[u8]) -> Result<&RawValue, Error> {
    serde_json::from_slice(without_mark(text))
}

/// The refusal of a body that is not JSON: it says where.
pub(crate) fn refusal(body: &[u8], error: &Error) -> Failure {
    match std::str::from_utf8(body) {
        Ok(_) => refusal_at(Text::new("bad_json"), error),
        Err(error) => not_utf8(&error),
    }
}

/// The refusal of a field whose text is not JSON.
pub(crate) fn refusal_of(field: &str, error: &Error) -> Failure {
    refusal_at(Text::new("bad_json.field").with("field", field), error)
}

fn refusal_at(text: Text, error: &Error) -> Failure {
    let (line, column) = (error.line(), error.column());
    let text = text.with("line", line).with("column", column);
    Failure::bad_json().saying(text).because(format_args!("line {line} column {column}"))
}

/// The refusal of a body that is not text.
pub(crate) fn not_utf8(error: &Utf8Error) -> Failure {
    let text = Text::new("bad_json.not_utf8").with("byte", error.valid_up_to() + 1);
    Failure::bad_json().saying(text).because(error)
}

/// JSON without a byte order mark, which some programs write.
pub(crate) fn without_mark(json: &[u8]) -> &[u8] {
    json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json)
}

/// Parses a value as [`parse`] does.
pub(crate) fn read(raw: &RawValue) -> Value {
    read_levels(raw, LEVELS_MAX)
}

fn read_levels(raw: &RawValue, levels: usize) -> Value {
    let below = |raw| read_levels(raw, levels - 1);
    let value = match raw.get().as_bytes() {
        [b'{' | b'[', ..] if levels == 0 => None,
        [b'{', ..] => members(raw).map(|all| all.into_iter().map(|(name, raw)| (name, below(raw))).collect()),
        [b'[', ..] => items(raw).map(|all| all.into_iter().map(below).collect()),
        _ => serde_json::from_str(raw.get()).ok(),
    };
    value.unwrap_or_else(|| unreadable(raw))
}

/// The members of an object in their order, repeated ones too; `None` for any other value.
pub(crate) fn members(raw: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str::<Members>(raw.get()).ok().map(|members| members.0)
}

/// The items of an array; `None` for any other value.
pub(crate) fn items(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// The text of a string, in which half of a surrogate pair becomes U+FFFD; `None` for any other value.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Lossy>(raw.get()).ok().map(|text| text.0)
}

/// A value that no field accepts. The JSON text is part of the value, so that two different ones differ.
fn unreadable(raw: &RawValue) -> Value {
    Value::Array(vec![Value::Array(vec![Value::String(raw.get().to_owned())])])
}

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Members<'de>, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Lossy(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        json.deserialize_map(Object)
    }
}

/// A string, read as bytes: serde_json checks surrogates only in text.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Lossy, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: serde::de::Error>(self, text: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(text).into_owned()))
            }
        }

        json.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Value {
        super::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_text_without_odd_parts_is_read_as_serde_json_reads_it() {
        for text in [
            "null",
            " true ",
            "-0",
            "12345678901234567890123",
            "1.5e3",
            "1e-400",
            "\"\\ud83d\\ude00 \\n\"",
            "[]",
            "{}",
            "\u{feff}{}",
            "{\"a\": [1, {\"b\": [null, \"x\"]}], \"a\\u0062\": {}, \"a\": 2}",
        ] {
            let plain: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
            assert_eq!(parse(text), plain, "{text}");
        }
    }

    #[test]
    fn a_part_that_no_value_can_hold_spoils_nothing_else() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        for odd in ["\"\\ud83d\"", "\"\\ude00\\ud83d\"", "1e400", "-1e400", &deep] {
            let all = parse(&format!("{{\"odd\": {odd}, \"good\": 1, \"list\": [{odd}, 2], \"\\ud83d\": 3}}"));
            assert_eq!((&all["good"], &all["list"][1]), (&json!(1), &json!(2)), "{odd:.20}");
            assert!(all["odd"].is_array() && all["list"][0].is_array(), "{odd:.20}");
            assert_eq!(all["\u{fffd}\u{fffd}\u{fffd}"], json!(3));
        }
        assert_ne!(parse("1e400"), parse("1e401"));
    }

    #[test]
    fn a_text_that_breaks_the_grammar_anywhere_is_an_error() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":01}",
            "\"\\ud8\"",
            "\"\n\"",
            "{} {}",
            "{\"a\":[{\"b\":nul}]}",
            "{1:2}",
            "+1",
            &deep,
        ] {
            assert!(super::parse(text.as_bytes()).is_err(), "{text:.20}");
        }
        assert!(super::parse(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn a_string_with_half_a_pair_has_a_text() {
        let text_of = |json: &str| text(raw(json.as_bytes()).unwrap());
        assert_eq!(text_of("\"a\\ud83d\"").unwrap(), "a\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!((text_of("\"é\\u00e9\"").as_deref(), text_of("1e400")), (Some("éé"), None));
    }
}
