//! Tunnels in an imported list: the rules for each field.

use super::unicode::{as_meant, breaks_line};
use super::{country, phone};
use crate::domain::ids::TunnelId;
use crate::i18n::language::Language;

/// The columns of the list.
pub(crate) const FIELDS: [&str; 7] = ["tunnel_id", "name", "city", "country", "time_zone", "website", "phone"];

const NAME_CHARS_MAX: usize = 100;
const WEBSITE_CHARS_MAX: usize = 200;
const TIME_ZONE_CHARS_MAX: usize = 64;

/// The known data of a tunnel. Unknown fields are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunnel {
    /// The number by which partners and entries identify the tunnel.
    pub tunnel_id: TunnelId,
    /// The name that people use.
    pub name: String,
    /// The city of the tunnel.
    pub city: String,
    /// ISO 3166-1 alpha-2, upper case.
    pub country: String,
    /// The IANA name.
    pub time_zone: String,
    /// The URL, with `https://`.
    pub website: String,
    /// E.164.
    pub phone: String,
}

/// The data of a tunnel in a list. Fields that the list lacks keep their known values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub tunnel_id: TunnelId,
    pub name: String,
    pub country: String,
    pub city: Option<String>,
    pub time_zone: Option<String>,
    pub website: Option<String>,
    pub phone: Option<String>,
}

impl Listed {
    /// Validates one row, whose fields `value` returns; the error has a sentence for each mistake.
    pub(crate) fn read(value: impl Fn(&str) -> Option<String>) -> Result<Listed, Vec<String>> {
        let mut mistakes = Vec::new();
        let mut judge = |field: &str, rule: &dyn Fn(&str) -> Result<String, &'static str>| {
            let given = value(field).map(|text| text.trim().to_owned())?;
            let judged = rule(&given);
            judged.map_err(|what| mistakes.push(format!("{field} {given:?} {what}"))).ok()
        };
        let tunnel_id = judge("tunnel_id", &number);
        let name = judge("name", &name);
        let code = judge("country", &code);
        let city = judge("city", &line);
        let time_zone = judge("time_zone", &|text| optional(text, time_zone));
        let website = judge("website", &|text| optional(text, website));
        let dialled = |text: &str| phone::parse(code.as_deref().unwrap_or(""), text).map_err(|_| "cannot be dialled");
        let phone = judge("phone", &|text| optional(text, dialled));
        let missing = ["tunnel_id", "name", "country"].into_iter().filter(|field| value(field).is_none());
        mistakes.extend(missing.map(|field| format!("{field} is missing")));
        let tunnel_id = tunnel_id.and_then(|text| text.parse().ok());
        match (tunnel_id, name, code) {
            (Some(tunnel_id), Some(name), Some(country)) if mistakes.is_empty() => {
                Ok(Listed { tunnel_id, name, country, city, time_zone, website, phone })
            }
            _ => Err(mistakes),
        }
    }

    /// Merges the row into the known tunnel.
    pub(crate) fn over(self, known: Option<&Tunnel>) -> Tunnel {
        let keep = |said: Option<String>, known: Option<&String>| {
            said.unwrap_or_else(|| known.map_or_else(String::new, String::clone))
        };
        Tunnel {
            tunnel_id: self.tunnel_id,
            name: self.name,
            country: self.country,
            city: keep(self.city, known.map(|one| &one.city)),
            time_zone: keep(self.time_zone, known.map(|one| &one.time_zone)),
            website: keep(self.website, known.map(|one| &one.website)),
            phone: keep(self.phone, known.map(|one| &one.phone)),
        }
    }
}

fn optional(text: &str, rule: impl Fn(&str) -> Result<String, &'static str>) -> Result<String, &'static str> {
    if text.is_empty() { Ok(String::new()) } else { rule(text) }
}

fn number(text: &str) -> Result<String, &'static str> {
    let number = text.parse::<i64>().ok().filter(|number| *number > 0);
    number.map(|number| number.to_string()).ok_or("is not a number from 1 on")
}

/// Judges a tunnel's name.
pub(crate) fn name(text: &str) -> Result<String, &'static str> {
    if as_meant(text).is_empty() { Err("must say something") } else { line(text.trim()) }
}

/// Judges one line of text, like the name of a city; it may be empty.
pub(crate) fn line(text: &str) -> Result<String, &'static str> {
    if text.chars().any(breaks_line) {
        return Err("holds a control character");
    }
    if text.chars().count() > NAME_CHARS_MAX {
        Err("is longer than 100 characters")
    } else {
        Ok(as_meant(text).into_owned())
    }
}

/// Judges the code of a country (ISO 3166).
pub(crate) fn code(text: &str) -> Result<String, &'static str> {
    let found = country::find(Language::English, text);
    found.map(|country| country.code.to_owned()).ok_or("is not a country code like CH")
}

/// Validates the form of a time zone name only, because the set of zones changes every year.
pub(crate) fn time_zone(text: &str) -> Result<String, &'static str> {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_+-".contains(&b))
    };
    let sound = text.len() <= TIME_ZONE_CHARS_MAX
        && text.split('/').all(part)
        && (text == "UTC" || (2..=3).contains(&text.split('/').count()));
    if sound { Ok(text.to_owned()) } else { Err("is not a time zone like Europe/Zurich") }
}

fn website(text: &str) -> Result<String, &'static str> {
    let sound = text.parse::<http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    let short = text.chars().count() <= WEBSITE_CHARS_MAX;
    if sound && short { Ok(text.to_owned()) } else { Err("is not an address like https://tunnel.example.org") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(row: &[(&str, &str)]) -> Result<Listed, Vec<String>> {
        Listed::read(|field| row.iter().find(|(name, _)| *name == field).map(|(_, value)| (*value).to_owned()))
    }

    const WHOLE: [(&str, &str); 7] = [
        ("tunnel_id", " 12 "),
        ("name", "Aufwind"),
        ("city", "Bern"),
        ("country", "che"),
        ("time_zone", "Europe/Zurich"),
        ("website", "https://aufwind.example"),
        ("phone", "031 300 00 00"),
    ];

    #[test]
    fn a_whole_row_is_a_tunnel_and_its_number_is_one_of_its_country() {
        let tunnel = read(&WHOLE).unwrap().over(None);
        assert_eq!((tunnel.tunnel_id, &*tunnel.country, &*tunnel.phone), (TunnelId(12), "CH", "+41313000000"));
        assert_eq!((&*tunnel.time_zone, &*tunnel.website), ("Europe/Zurich", "https://aufwind.example"));
    }

    #[test]
    fn a_name_is_one_line_that_reads_as_it_is_written() {
        assert_eq!(name(" Auf\u{202e}wind\u{200b} "), Ok("Aufwind".to_owned()));
        for broken in ["Auf\u{2028}wind", "Auf\u{2029}wind", "Auf\nwind"] {
            assert!(name(broken).is_err(), "{broken:?}");
        }
        assert!(name("\u{202e}").is_err(), "nothing is left of it");
    }

    #[test]
    fn what_a_list_does_not_say_stays_and_what_it_empties_goes() {
        let known = read(&WHOLE).unwrap().over(None);
        let said = [("tunnel_id", "12"), ("name", "Aufwind Bern"), ("country", "CH"), ("website", "")];
        let tunnel = read(&said).unwrap().over(Some(&known));
        assert_eq!(tunnel, Tunnel { name: "Aufwind Bern".into(), website: String::new(), ..known });
    }

    #[test]
    fn every_mistake_of_a_row_is_named() {
        let wrong = [
            ("tunnel_id", "0"),
            ("name", " "),
            ("city", "a\tb"),
            ("country", "Switzerland"),
            ("time_zone", "MEZ 1"),
            ("website", "javascript:alert(1)"),
            ("phone", "12"),
        ];
        let mistakes = read(&wrong).unwrap_err();
        assert_eq!(mistakes.len(), wrong.len(), "{mistakes:#?}");
        for (field, _) in wrong {
            assert!(mistakes.iter().any(|one| one.starts_with(field)), "{field}: {mistakes:#?}");
        }
        assert_eq!(read(&[]).unwrap_err().len(), 3);
        for (field, value) in [("website", "ftp://a.example"), ("website", "https://"), ("time_zone", "Europe/../etc")]
        {
            let row: Vec<_> = WHOLE.iter().map(|(f, v)| if *f == field { (*f, value) } else { (*f, *v) }).collect();
            assert_eq!(read(&row).unwrap_err().len(), 1, "{field} {value}");
        }
    }
}
