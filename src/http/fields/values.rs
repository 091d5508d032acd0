//! Parsers of field values: each returns the value, or the text of the problem.

use crate::domain::minutes;
use crate::domain::unicode::{as_meant, breaks_line, is_separator, trimmed, without_marks};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use serde_json::Value;
use std::borrow::Cow;

/// A moment above this is in milliseconds.
const SECONDS_MAX: u64 = 100_000_000_000;
/// The beginning of the years 1900 and 2200, in Unix seconds.
const YEAR_1900: i64 = -2_208_988_800;
const MOMENT_MAX: i64 = 7_258_118_400;
/// The first moment of nine digits, in March 1973, when no tunnel flew. A smaller number is no moment: a day such as
/// 20181126, or the number of a day in a spreadsheet.
pub(crate) const MOMENT_MIN: i64 = 100_000_000;
const DAY_SECONDS: i64 = 86_400;
/// Local midnights differ from midnight UTC by whole quarters of an hour.
const QUARTER_SECONDS: i64 = 900;

/// Text as received; for secrets, in which spaces count.
fn raw_text(value: &Value) -> Result<String, Text> {
    match value {
        Value::String(text) => Ok(text.clone()),
        // Some clients write 41 as 41.0.
        Value::Number(number) => Ok(whole(value).map_or_else(|_| number.to_string(), |whole| whole.to_string())),
        _ => Err(Text::new("field.not_text")),
    }
}

/// Checks a text for control characters and separators of lines other than these and for its length, and returns it as `clean` leaves it. The
/// limit counts what is left out too, as `maxLength` in the API description does.
fn bounded(text: &str, chars_max: usize, allowed: &[char], clean: fn(&str) -> Cow<str>) -> Result<String, Text> {
    let cleaned = clean(text);
    if cleaned.chars().any(|c| breaks_line(c) && !allowed.contains(&c)) {
        return Err(Text::new("field.control_characters"));
    }
    if text.chars().count() > chars_max {
        return Err(Text::new("field.too_long").with_count("max", chars_max));
    }
    Ok(cleaned.into_owned())
}

/// One line of text, trimmed.
pub(crate) fn line(chars_max: usize) -> impl Fn(&Value) -> Result<String, Text> {
    move |value| bounded(&raw_text(value)?, chars_max, &[], as_meant)
}

/// One line of text, trimmed, in the form of Unicode in which it was typed: what is compared with other than new texts. A username
/// or an address says who somebody is, and an old hash may be of another form.
pub(crate) fn line_as_typed(chars_max: usize) -> impl Fn(&Value) -> Result<String, Text> {
    move |value| bounded(&raw_text(value)?, chars_max, &[], |text| without_marks(trimmed(text)))
}

/// A name from elsewhere than a body: one line of text, trimmed and not empty. 422 at `field`.
pub(crate) fn name(field: &str, text: &str, chars_max: usize) -> Result<String, Failure> {
    let name = bounded(text, chars_max, &[], as_meant);
    let name = name.and_then(|name| if name.is_empty() { Err(Text::new("field.missing")) } else { Ok(name) });
    name.map_err(|text| Failure::field(field, text))
}

/// Text that may have line breaks, trimmed.
pub(crate) fn lines(chars_max: usize) -> impl Fn(&Value) -> Result<String, Text> {
    move |value| {
        let text = raw_text(value)?.replace("\r\n", "\n").replace(is_separator, "\n");
        bounded(&text, chars_max, &['\n', '\t'], as_meant)
    }
}

/// A secret, not trimmed; its limit is above every secret that can be set.
pub(crate) fn secret(value: &Value) -> Result<String, Text> {
    bounded(&raw_text(value)?, 1024, &['\u{2028}', '\u{2029}'], |text| Cow::Borrowed(text))
}

/// Six digits, as text or as a number, whose leading zeros are restored.
pub(crate) fn six_digits(value: &Value) -> Result<String, Text> {
    whole_in(0..=999_999)(value).map(|number| format!("{number:06}")).map_err(|_| Text::new("field.passcode"))
}

/// A code of six digits or another form: text stays as typed, and a number is read as six digits.
pub(crate) fn code(chars_max: usize) -> impl Fn(&Value) -> Result<String, Text> {
    move |value| {
        let digits = value.is_number().then(|| six_digits(value).ok()).flatten();
        digits.map_or_else(|| line(chars_max)(value), Ok)
    }
}

/// A line of text, parsed by a rule of the domain, which refuses marks that nobody sees.
pub(crate) fn as_line<T>(rule: impl Fn(&str) -> Result<T, Text>) -> impl Fn(&Value) -> Result<T, Text> {
    move |value| rule(&bounded(&raw_text(value)?, 1024, &[], |text| Cow::Borrowed(trimmed(text)))?)
}

/// A whole number, or one written as text.
pub(crate) fn whole(value: &Value) -> Result<i64, Text> {
    let number = match value {
        // Some clients write 7 as 7.0; up to 2^53 a float is exact.
        Value::Number(number) => {
            number.as_i64().or_else(|| number.as_f64().filter(|f| f.fract() == 0.0).and_then(whole_part))
        }
        Value::String(text) => {
            decimal(text).filter(|(_, rest)| rest.bytes().all(|b| b == b'0')).map(|(whole, _)| whole)
        }
        _ => None,
    };
    number.ok_or_else(|| Text::new("field.not_whole"))
}

/// A number without its fraction; `None` beyond 2^53, where a number of this type is no longer exact.
fn whole_part(number: f64) -> Option<i64> {
    (number.abs() <= 9_007_199_254_740_992.0).then_some(number.trunc() as i64)
}

/// A decimal number in text, as its whole part and the digits of its fraction.
fn decimal(text: &str) -> Option<(i64, &str)> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    Some((whole.parse().ok()?, fraction)).filter(|_| fraction.bytes().all(|b| b.is_ascii_digit()))
}

/// A whole number within bounds.
pub(crate) fn whole_in(bounds: std::ops::RangeInclusive<i64>) -> impl Fn(&Value) -> Result<i64, Text> {
    move |value| {
        let problem = || match *bounds.end() {
            i64::MAX => Text::new("field.at_least").with("min", bounds.start()),
            max => Text::new("field.out_of_range").with("min", bounds.start()).with("max", max),
        };
        whole(value).ok().filter(|number| bounds.contains(number)).ok_or_else(problem)
    }
}

/// The number of a row: 1 or more.
pub(crate) fn id<T: From<i64>>(value: &Value) -> Result<T, Text> {
    whole_in(1..=i64::MAX)(value).map(T::from).map_err(|_| Text::new("field.not_id"))
}

/// The moment of a flight, a purchase or another event in Unix seconds; milliseconds are understood, and a fraction is
/// dropped. Before [`MOMENT_MIN`] and after 2200 is a mistake.
pub(crate) fn moment(value: &Value) -> Result<Moment, Text> {
    moment_in(MOMENT_MIN..=MOMENT_MAX, value).map(Moment)
}

/// As [`moment`], where the value may be a stored one that is sent back, from 1970 on: who reads it refuses a new one before
/// [`MOMENT_MIN`].
pub(crate) fn stored_moment(value: &Value) -> Result<Moment, Text> {
    moment_in(0..=MOMENT_MAX, value).map(Moment)
}

/// A day of birth, from 1900 on, as the nearest midnight in UTC: apps send the midnight of their own time zone. Any other time
/// of day is a number that is not in seconds, as are the numbers below a day, the days of spreadsheets.
pub(crate) fn day_of_birth(value: &Value) -> Result<Moment, Text> {
    let seconds = moment_in(YEAR_1900..=MOMENT_MAX, value)?;
    if seconds.rem_euclid(QUARTER_SECONDS) != 0 || (1..DAY_SECONDS).contains(&seconds) {
        return Err(Text::new("field.not_moment"));
    }
    Ok(Moment(nearest_midnight(seconds)))
}

/// Whether a number is only the fraction that a moment drops: neither a moment nor the 0 that says that there is none.
pub(crate) fn is_fraction_alone(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| (number > 0.0 && number < 1.0) || (number < 0.0 && number > -1.0))
}

/// The midnight in UTC that is nearest to a moment.
pub(crate) fn nearest_midnight(seconds: i64) -> i64 {
    (seconds + DAY_SECONDS / 2).div_euclid(DAY_SECONDS) * DAY_SECONDS
}

/// Whether a written day of birth is from 1900 on and before 2200.
pub(crate) fn is_in_calendar(seconds: i64, is_birth: bool) -> bool {
    (if is_birth { YEAR_1900 } else { 0 }..=MOMENT_MAX).contains(&seconds)
}

fn moment_in(bounds: std::ops::RangeInclusive<i64>, value: &Value) -> Result<i64, Text> {
    if is_fraction_alone(value) {
        return Err(Text::new("field.not_moment"));
    }
    let number = seconds(value).ok_or_else(|| Text::new("field.not_moment"))?;
    let seconds = if number.unsigned_abs() > SECONDS_MAX { number / 1000 } else { number };
    if bounds.contains(&seconds) { Ok(seconds) } else { Err(Text::new("field.not_moment")) }
}

/// A number of seconds, or one written as text, without its fraction.
pub(crate) fn seconds(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole_part)),
        Value::String(text) => decimal(text).map(|(whole, _)| whole),
        _ => None,
    }
}

/// The length of a flight or booking: minutes, or `H:MM`.
pub(crate) fn flight_minutes(value: &Value) -> Result<i64, Text> {
    let read = whole(value).ok().or_else(|| minutes::parse(value.as_str()?.trim()));
    let problem =
        || Text::new("field.minutes").with("min", minutes::MINUTES.start()).with("max", minutes::MINUTES.end());
    read.filter(|m| minutes::MINUTES.contains(m)).ok_or_else(problem)
}

/// Minutes or `H:MM`, from 0 to this many.
pub(crate) fn minutes_up_to(minutes_max: i64) -> impl Fn(&Value) -> Result<i64, Text> {
    move |value| {
        let read = whole(value).ok().or_else(|| minutes::parse(value.as_str()?.trim()));
        let problem = || Text::new("field.minutes").with("min", 0).with("max", minutes_max);
        read.filter(|m| (0..=minutes_max).contains(m)).ok_or_else(problem)
    }
}

/// A boolean, also as text or as 1 and 0.
pub(crate) fn flag(value: &Value) -> Result<bool, Text> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::Number(_) if whole(value) == Ok(1) => Ok(true),
        Value::Number(_) if whole(value) == Ok(0) => Ok(false),
        Value::String(text) if ["true", "1"].contains(&text.trim()) => Ok(true),
        Value::String(text) if ["false", "0"].contains(&text.trim()) => Ok(false),
        _ => Err(Text::new("field.not_flag")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_moment_loses_its_fraction_and_any_other_number_has_none() {
        for (given, read) in [
            (json!(1_700_000_000.999), 1_700_000_000),
            (json!("1700000000.999"), 1_700_000_000),
            (json!(" 1700000000. "), 1_700_000_000),
            (json!(1_700_000_000_999.9), 1_700_000_000),
            (json!("1700000000999.9"), 1_700_000_000),
        ] {
            assert_eq!(moment(&given), Ok(Moment(read)), "{given}");
        }
        for bad in
            [json!("1700000000,5"), json!("17e8"), json!("1.7e9"), json!("1700000000.x"), json!("."), json!(true)]
        {
            assert!(moment(&bad).is_err(), "{bad}");
        }
        assert_eq!((whole(&json!("7.00")), whole(&json!("+7"))), (Ok(7), Ok(7)));
        assert!(whole(&json!("7.5")).is_err() && whole(&json!(7.5)).is_err());
    }

    #[test]
    fn a_number_outside_its_bounds_is_refused_with_the_bounds() {
        let text = |value, bounds| whole_in(bounds)(&value).unwrap_err().in_english();
        for bad in [json!(0), json!(501), json!(1.5), json!("x"), json!(1e30), json!("99999999999999999999")] {
            assert_eq!(text(bad, 1..=500), "Enter a whole number from 1 to 500.");
        }
        assert_eq!(text(json!(-1), 0..=i64::MAX), "Enter a whole number, 0 or more.");
    }

    #[test]
    fn a_number_is_text_by_its_digits_and_yes_or_no_may_have_spaces_around_it() {
        assert_eq!(line(10)(&json!(41.0)).unwrap(), "41");
        assert_eq!((flag(&json!(" true ")), flag(&json!(0.0))), (Ok(true), Ok(false)));
    }

    #[test]
    fn moments_are_from_1973_to_2200_and_days_of_birth_from_1900() {
        for number in [i64::MIN, i64::MAX, YEAR_1900 - 900, MOMENT_MAX + 900, -SECONDS_MAX.cast_signed() * 1000] {
            assert!(moment(&json!(number)).is_err() && day_of_birth(&json!(number)).is_err(), "{number}");
        }
        for number in [0, YEAR_1900, MOMENT_MAX] {
            assert_eq!(day_of_birth(&json!(number)), Ok(Moment(number)));
        }
        for number in [-1, 0, YEAR_1900, MOMENT_MIN - 1] {
            assert!(moment(&json!(number)).is_err(), "{number}");
        }
        for number in [MOMENT_MIN, MOMENT_MAX] {
            assert_eq!(moment(&json!(number)), Ok(Moment(number)));
        }
        assert!(stored_moment(&json!(0.5)).is_err() && moment(&json!(2.5e-42)).is_err());
        assert_eq!(
            (stored_moment(&json!(0)), stored_moment(&json!(20_181_126))),
            (Ok(Moment(0)), Ok(Moment(20_181_126)))
        );
    }

    #[test]
    fn a_day_of_birth_is_the_nearest_midnight_and_no_day_written_as_a_number() {
        let midnight = 643_248_000;
        // Local midnights from Auckland (UTC+12) to Anchorage (UTC-9), and in Kathmandu (UTC+5:45).
        for hours_ahead in [12.0, 5.75, 2.0, 0.0, -4.0, -9.0] {
            let sent = midnight - (hours_ahead * 3_600.0) as i64;
            assert_eq!(day_of_birth(&json!(sent)), Ok(Moment(midnight)), "{hours_ahead}");
            assert_eq!(day_of_birth(&json!(sent.to_string())), Ok(Moment(midnight)), "{hours_ahead}");
            assert_eq!(day_of_birth(&json!(sent * 1_000)), Ok(Moment(midnight)), "{hours_ahead}");
        }
        for bad in [20_181_126, 19_900_531, 43_430, 43_200, 900, 1, -1, midnight + 1, 1_990_053_100] {
            for value in [json!(bad), json!(bad.to_string()), json!(format!("{bad}.0"))] {
                assert!(day_of_birth(&value).is_err(), "{value}");
            }
        }
    }

    #[test]
    fn a_number_gets_its_leading_zeros_back_and_typed_digits_do_not() {
        for (given, read) in [
            (json!(31207), "031207"),
            (json!(0), "000000"),
            (json!(7.0), "000007"),
            (json!(481_516), "481516"),
            (json!("5797"), "5797"),
            (json!(" 005797 "), "005797"),
            (json!("0123-zzzz-zam0"), "0123-zzzz-zam0"),
            (json!(1_234_567), "1234567"),
            (json!(-1), "-1"),
            (json!(0.5), "0.5"),
        ] {
            assert_eq!(code(32)(&given).unwrap(), read, "{given}");
        }
        assert!(code(6)(&json!("0000000")).is_err() && code(32)(&json!([1])).is_err());
    }

    #[test]
    fn marks_that_nobody_sees_are_dropped_from_texts_and_kept_in_secrets() {
        let typed = json!("Jane\u{202e}eoD\u{200b}");
        assert_eq!(line(20)(&typed).unwrap(), "JaneeoD");
        assert_eq!(lines(20)(&typed).unwrap(), "JaneeoD");
        assert_eq!(name("name", "Jane\u{2066} Doe", 20).unwrap(), "Jane Doe");
        assert_eq!(secret(&typed).unwrap(), "Jane\u{202e}eoD\u{200b}");
    }

    #[test]
    fn line_breaks_are_for_longer_texts_only() {
        assert!(line(10)(&json!("a\nb")).is_err());
        assert_eq!(lines(10)(&json!("a\r\nb ")).unwrap(), "a\nb");
        assert!(lines(3)(&json!("abcd")).is_err());
    }
}
