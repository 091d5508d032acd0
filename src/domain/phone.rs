//! Telephone numbers, as people type them and as they are stored: E.164, `+41441234567`.

use super::country;
use crate::i18n::language::Text;
use phonenumber::country::Id;
use phonenumber::metadata::DATABASE;
use phonenumber::{Mode, PhoneNumber, Type};
use std::borrow::Cow;

/// The number of digits in a whole number, by E.164.
const DIGITS: std::ops::RangeInclusive<usize> = 7..=15;
/// The number of digits in a number as it is dialled in its country: without the calling code, perhaps with a prefix.
const NATIONAL_DIGITS: std::ops::RangeInclusive<usize> = 4..=17;
/// The international prefix of most countries, which people type instead of `+` everywhere.
const INTERNATIONAL: &str = "00";
/// The kinds of number whose lengths the plan of a country lists.
const KINDS: [Type; 10] = [
    Type::FixedLine,
    Type::Mobile,
    Type::TollFree,
    Type::PremiumRate,
    Type::SharedCost,
    Type::PersonalNumber,
    Type::Voip,
    Type::Pager,
    Type::Uan,
    Type::Voicemail,
];

/// Parses a telephone number in the plan of its country. `country` is a calling code (`41`, `+41`, `0041`) or an ISO
/// 3166 code (`CH`, `CHE`); a number that begins with `+` or `00` needs neither. A number whose length the plan does
/// not allow is refused. A number in an unassigned range passes, because plans change faster than programs, and the
/// passcode shows whether the number works.
pub(crate) fn parse(country: &str, number: &str) -> Result<String, Text> {
    let refused = || Text::new("field.phone");
    let number = &*with_ascii_digits(number);
    let readings = match with_plus(number) {
        Some(whole) => phonenumber::parse(None, whole).into_iter().collect(),
        None => {
            let region = country::find_dialled(country).and_then(|code| code.parse::<Id>().ok());
            readings(region.ok_or_else(refused)?, number.trim())
        }
    };
    let possible: Vec<PhoneNumber> = readings.into_iter().filter(is_possible).collect();
    // The check for assigned ranges compiles a dozen patterns of the country, so it runs only between two readings.
    let likeliest = match &*possible {
        [] | [_] => possible.first(),
        several => several.iter().find(|reading| phonenumber::is_valid(reading)).or(several.first()),
    };
    likeliest.map(stored).ok_or_else(refused)
}

/// The number with digits of other scripts as those of ASCII: keyboards write full-width, Arabic-Indic and Persian ones.
fn with_ascii_digits(number: &str) -> Cow<'_, str> {
    const ZEROS: [char; 4] = ['\u{660}', '\u{6f0}', '\u{966}', '\u{ff10}'];
    if number.is_ascii() {
        return Cow::Borrowed(number);
    }
    let digit = |c: char| {
        let value =
            ZEROS.iter().find_map(|zero| u32::from(c).checked_sub(u32::from(*zero)).filter(|value| *value < 10));
        value.and_then(|value| char::from_digit(value, 10)).unwrap_or(c)
    };
    Cow::Owned(number.chars().map(digit).collect())
}

/// Whether a number begins with `+` or `00`, so that it needs no country.
pub(crate) fn is_whole(number: &str) -> bool {
    with_plus(number).is_some()
}

/// Checks a number whose country is unknown: a whole number by the plan of its country, another by the number of its
/// digits.
pub(crate) fn check_anywhere(number: &str) -> Result<(), Text> {
    let number = &*with_ascii_digits(number);
    if is_whole(number) {
        return parse("", number).map(drop);
    }
    let digits = number.chars().filter(char::is_ascii_digit).count();
    if NATIONAL_DIGITS.contains(&digits) { Ok(()) } else { Err(Text::new("field.phone")) }
}

/// A number that begins with `+` or `00`, with the plus.
fn with_plus(number: &str) -> Option<Cow<'_, str>> {
    let number = number.trim();
    let abroad = number.strip_prefix(INTERNATIONAL).map(|rest| Cow::Owned(format!("+{rest}")));
    abroad.or_else(|| number.starts_with(['+', '\u{ff0b}']).then_some(Cow::Borrowed(number)))
}

/// The ways in which people write a stored number, as digits alone: with the international prefix or the calling code, as it
/// is dialled in its country, or both at once as in `+41 (0)44`.
pub(crate) fn spellings(number: &str) -> Vec<String> {
    let whole: String = number.chars().filter(char::is_ascii_digit).collect();
    let Ok(parsed) = phonenumber::parse(None, number) else { return vec![whole] };
    let code = parsed.country().code().to_string();
    let national = whole.strip_prefix(&code).unwrap_or(&whole).to_owned();
    let mut ways = vec![format!("{INTERNATIONAL}{whole}"), format!("0{national}"), format!("{code}0{national}")];
    ways.extend([format!("{INTERNATIONAL}{code}0{national}"), whole, national]);
    ways
}

fn stored(number: &PhoneNumber) -> String {
    number.format().mode(Mode::E164).to_string()
}

/// The possible readings of a number without `+`, the likelier first. A number that begins with the digits of its
/// country's calling code (in Italy `393 123 4567`) is either a whole national number, or was typed with the code.
/// Where people dial a prefix before a national number, a number without the prefix more likely has the code. The
/// library alone always removes the code.
fn readings(region: Id, typed: &str) -> Vec<PhoneNumber> {
    let usual = phonenumber::parse(Some(region), typed).ok();
    let Some(plan) = DATABASE.by_id(region.as_ref()) else { return usual.into_iter().collect() };
    let code = plan.country_code().to_string();
    let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
    if !digits.starts_with(&code) {
        return usual.into_iter().collect();
    }
    let whole = phonenumber::parse(None, format!("+{code} {typed}")).ok();
    let by_likelihood = if plan.national_prefix().is_some() { [usual, whole] } else { [whole, usual] };
    by_likelihood.into_iter().flatten().collect()
}

/// Whether a plan of the calling code has numbers of this length.
fn is_possible(parsed: &PhoneNumber) -> bool {
    let code = parsed.country().code();
    let digits = stored(parsed).len() - 1;
    let length = (digits - code.to_string().len()) as u16;
    let plans = DATABASE.by_code(&code).unwrap_or_default();
    let is_planned = plans.iter().any(|plan| {
        let known = plan.descriptors();
        let kinds = KINDS.iter().filter_map(|kind| known.get(*kind));
        kinds.chain([known.general()]).any(|kind| kind.possible_length().contains(&length))
    });
    DIGITS.contains(&digits) && is_planned
}

/// Whether the code belongs to a country. Satellite and other international services have codes of their own (870, 881
/// …), which belong to no country.
pub(crate) fn is_calling_code(code: u16) -> bool {
    DATABASE.region(&code).is_some_and(|regions| regions.iter().any(|region| region.parse::<Id>().is_ok()))
}

/// The calling code of a country by its ISO 3166 code (`CH`).
pub(crate) fn calling_code(country: &str) -> Option<u16> {
    DATABASE.by_id(country).map(|metadata| metadata.country_code())
}

/// Checks that the site may send a message to this E.164 number: the calling code is one of these, and the type is not
/// premium-rate, shared-cost or another service. A number of unknown type passes, as in [`parse`].
pub(crate) fn takes_messages(number: &str, calling_codes: &[u16]) -> Result<(), Text> {
    let parsed: PhoneNumber = number.parse().map_err(|_| Text::new("field.phone"))?;
    if !calling_codes.contains(&parsed.country().code()) {
        let codes: Vec<String> = calling_codes.iter().map(|code| format!("+{code}")).collect();
        return Err(Text::new("field.phone_country").with("codes", codes.join(", ")));
    }
    match parsed.number_type(&DATABASE) {
        Type::FixedLine | Type::Mobile | Type::FixedLineOrMobile | Type::Voip | Type::Unknown => Ok(()),
        _ => Err(Text::new("field.phone_type")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_telephones_of_the_countries_on_the_list_and_to_no_service() {
        let home = [calling_code("CH").unwrap()];
        assert_eq!(home, [41]);
        for fine in ["+41791234567", "+41446681800"] {
            assert_eq!(takes_messages(fine, &home), Ok(()), "{fine}");
        }
        for (number, key) in [
            ("+41900123456", "field.phone_type"),
            ("+41906123456", "field.phone_type"),
            ("+41840123456", "field.phone_type"),
            ("+41800123456", "field.phone_type"),
            ("+491711234567", "field.phone_country"),
            ("+870773111632", "field.phone_country"),
            ("+881612345678", "field.phone_country"),
            ("+8835100123456", "field.phone_country"),
        ] {
            assert_eq!(takes_messages(number, &home).unwrap_err().key(), key, "{number}");
        }
        assert_eq!(takes_messages("+19002345678", &[1]).unwrap_err().key(), "field.phone_type");
        assert_eq!(takes_messages("+491711234567", &[41, 49]), Ok(()));
    }

    #[test]
    fn satellite_services_have_no_country() {
        assert!([1, 41, 49, 423, 590].iter().all(|code| is_calling_code(*code)));
        assert!([800, 808, 870, 878, 881, 882, 883, 888, 979, 999, 0].iter().all(|code| !is_calling_code(*code)));
    }

    #[test]
    fn the_same_number_is_one_number_however_it_is_typed() {
        for (country, number) in [
            ("41", "044 668 18 00"),
            ("+41", "446681800"),
            ("CH", "044 668 18 00"),
            ("", "+41 44 668 18 00"),
            ("0041", "044/668-18-00"),
        ] {
            assert_eq!(parse(country, number).as_deref(), Ok("+41446681800"), "{country} {number}");
        }
        for (country, number, stored) in [
            ("1", "(212) 736-5000", "+12127365000"),
            ("CA", "416 736 5000", "+14167365000"),
            ("", "0041 44 668 18 00", "+41446681800"),
            ("US", "0041446681800", "+41446681800"),
            ("49", "+41 44 668 18 00", "+41446681800"),
            ("CHE", "+41 (0)44 668 18 00", "+41446681800"),
            (" +41 ", "0446681800", "+41446681800"),
            ("US", "011 41 44 668 18 00", "+41446681800"),
        ] {
            assert_eq!(parse(country, number).as_deref(), Ok(stored), "{country} {number}");
        }
    }

    #[test]
    fn italy_keeps_its_zero_and_gets_none() {
        for (country, number) in [
            ("39", "06 6982 1234"),
            ("+39", "0669821234"),
            ("IT", "06-6982-1234"),
            ("ITA", "+39 06 6982 1234"),
            ("", "0039 06 6982 1234"),
        ] {
            assert_eq!(parse(country, number).as_deref(), Ok("+390669821234"), "{country} {number}");
        }
        assert_eq!(parse("39", "333 123 4567").as_deref(), Ok("+393331234567"));
    }

    #[test]
    fn a_national_number_that_begins_like_its_calling_code_stays_whole() {
        for (country, number, stored) in [
            ("IT", "393 123 4567", "+393931234567"),
            ("39", "391 234 5678", "+393912345678"),
            ("39", "39 393 123 4567", "+393931234567"),
            ("39", "39 06 6982 1234", "+390669821234"),
            ("CH", "041 820 12 34", "+41418201234"),
            ("CH", "41 820 12 34", "+41418201234"),
            ("CH", "41 79 123 45 01", "+41791234501"),
            ("DE", "0491 123456", "+49491123456"),
            ("DE", "49 171 1234567", "+491711234567"),
            ("KZ", "701 234 5678", "+77012345678"),
            ("7", "7 926 123 45 67", "+79261234567"),
            ("PL", "48 123 45 67", "+48481234567"),
            ("DK", "45 45 12 34", "+4545451234"),
            ("DK", "45 20 12 34 56", "+4520123456"),
            ("NO", "47 12 34 56", "+4747123456"),
            ("IN", "91234 56789", "+919123456789"),
            ("IN", "91 98765 43210", "+919876543210"),
            ("BR", "55 99123 4567", "+5555991234567"),
            ("SG", "6512 3456", "+6565123456"),
            ("US", "1 (212) 736-5000", "+12127365000"),
        ] {
            assert_eq!(parse(country, number).as_deref(), Ok(stored), "{country} {number}");
        }
    }

    #[test]
    fn what_cannot_be_called_is_refused() {
        for (country, number) in [
            ("41", "12"),
            ("", "044 668 18 00"),
            ("999", "123456789"),
            ("CH", "abc"),
            ("", ""),
            ("41", "0446681800000000"),
            ("41", "044 668 18"),
            ("", "+41 44 668 18 00 00 00"),
            ("1", "212 736 500"),
            ("", "+999 123 456 789"),
            ("ZZ", "044 668 18 00"),
            ("41", "0000446681800"),
            ("", "+"),
            ("", "00"),
        ] {
            assert!(parse(country, number).is_err(), "{country} {number}");
        }
    }

    #[test]
    fn digits_of_other_scripts_are_digits() {
        for typed in [
            "٠٧٩ ١٢٣ ٤٥ ٦٧",
            "۰۷۹۱۲۳۴۵۶۷",
            "０７９　１２３　４５　６７",
            "+٤١٧٩١٢٣٤٥٦٧",
            "٠٠٤١٧٩١٢٣٤٥٦٧",
            "＋４１７９１２３４５６７",
        ] {
            assert_eq!(parse("CH", typed).as_deref(), Ok("+41791234567"), "{typed}");
            assert!(check_anywhere(typed).is_ok(), "{typed}");
        }
    }
}
