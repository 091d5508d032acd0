//! Telephone numbers, as people type them and as they are stored: E.164, `+41441234567`.

use crate::language::Text;
use phonenumber::country::Id;

/// Of a whole number. Whether somebody has it is settled by the passcode that goes there, so numbers that the library
/// does not count as given out pass: plans change faster than programs.
const DIGITS: std::ops::RangeInclusive<usize> = 7..=15;

/// `country` is a calling code (`41`, `+41`) or an ISO 3166 code (`CH`); a number that begins with `+` needs neither.
pub fn parse(country: &str, number: &str) -> Result<String, Text> {
    let country = country.trim().trim_start_matches('+').trim_start_matches("00");
    let region: Option<Id> = country.to_ascii_uppercase().parse().ok();
    if country.is_empty() && !number.trim_start().starts_with('+') {
        return Err(Text::new("field.phone"));
    }
    let international = number.trim_start().starts_with('+') || region.is_some();
    let text = if international {
        number.trim().to_owned()
    } else {
        format!("+{country} {}", number.trim().trim_start_matches('0'))
    };
    let parsed = phonenumber::parse(region, text).map_err(|_| Text::new("field.phone"))?;
    let stored = parsed.format().mode(phonenumber::Mode::E164).to_string();
    if DIGITS.contains(&(stored.len() - 1)) { Ok(stored) } else { Err(Text::new("field.phone")) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(parse("1", "(212) 736-5000").as_deref(), Ok("+12127365000"));
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
        ] {
            assert!(parse(country, number).is_err(), "{country} {number}");
        }
    }
}
