//! The personal data of a new member, validated by the same rules from a form and from an imported list.

use crate::domain::ids::TunnelId;
use crate::domain::password::Owner;
use crate::domain::{country, phone};
use crate::http::body::{Body, Field, RequiredByCaller, shared};
use crate::http::field_types::{DayOfBirth, Email, Line, ShortLine, Username};
use crate::http::fields::{self, Fields};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::tables::members::NewMember;
use serde_json::Value;

/// Greatest plausible age, in seconds; an earlier day of birth is a typing mistake.
pub(crate) const AGE_SECONDS_MAX: i64 = 120 * 366 * 86_400;

const COUNTRY_CODE_CHARS_MAX: usize = 8;

crate::body! {
    pub(crate) struct Person {
        username: Username,
        email: RequiredByCaller<Email>,
        real_name: Line<100>,
        /// The name that others see; without one, the username.
        screen_name: Option<Line<60>>,
        /// A calling code or an ISO 3166 code, for `phone`.
        country_code: Option<CountryCode>,
        /// An ISO 3166 code of two or three letters, the country's name in English, German, French, Spanish or Italian, or
        /// its calling code. Stored as the two letters.
        country: Option<Country>,
        /// A telephone number: `+41…`, `0041…`, or as it is dialled in the country of `country_code`, else of
        /// `country`, else of the site.
        phone: Option<Line<32>>,
        /// The home tunnel; without one, this site's.
        tunnel_id as "tunnel": Option<TunnelId>,
        /// Midnight of the day of birth: in the past, less than 120 years ago.
        dob: Option<DayOfBirth>,
    }
}

impl Person {
    /// The member to add, with this site's tunnel as home where no other was given.
    pub(crate) fn as_new<'a>(&'a self, tunnel_id: TunnelId, password_hash: &'a str) -> NewMember<'a> {
        let text = |field: &'a Option<String>| field.as_deref().unwrap_or("");
        NewMember {
            username: &self.username,
            screen_name: self.screen_name.as_deref().unwrap_or(&self.username),
            real_name: &self.real_name,
            email: text(&self.email),
            phone: text(&self.phone),
            country: text(&self.country),
            country_code: text(&self.country_code),
            dob: self.dob,
            tunnel_id: Some(self.tunnel_id.unwrap_or(tunnel_id)),
            role: "",
            password_hash: Some(password_hash),
            accepted_terms: true,
        }
    }
}

/// The fields as they were read, before the form is complete.
pub(crate) type ReadPerson = <Person as Body>::Read;

/// Validates what depends on several fields. A telephone number without a calling code is one of `country_code`,
/// otherwise of `country`, otherwise of the site's country (`home`).
pub(crate) fn judge(read: &mut ReadPerson, now: Moment, home: &str, fields: &mut Fields) {
    if let Some(Some(typed)) = &read.phone {
        let number = match (&read.country_code, &read.country) {
            (Some(Some(code)), _) | (Some(None), Some(Some(code))) => phone::parse(code, typed),
            (Some(None), Some(None)) => phone::parse(home, typed),
            // A refused country: the number is wrong where it is wrong in every country.
            _ => phone::check_anywhere(typed).map(|()| typed.clone()),
        };
        read.phone = number.map_err(|text| fields.refuse("phone", text)).ok().map(Some);
    }
    if let Some(Some(dob)) = read.dob
        && !(now - AGE_SECONDS_MAX + 1..=now).contains(&dob)
    {
        fields.refuse("dob", Text::new("field.dob"));
    }
}

/// The owner of a new password at the tunnel of this name, from the fields that could be read.
pub(crate) fn owner<'a>(read: &'a ReadPerson, site: &'a str) -> Owner<'a> {
    fn text(field: &Option<Option<String>>) -> &str {
        field.as_ref().and_then(Option::as_deref).unwrap_or("")
    }
    Owner {
        username: read.username.as_deref().unwrap_or(""),
        email: text(&read.email),
        real_name: read.real_name.as_deref().unwrap_or(""),
        screen_name: text(&read.screen_name),
        site,
    }
}

/// A country, by code, name or calling code.
pub(crate) struct Country;

impl Field for Country {
    /// ISO 3166-1 alpha-2.
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        fields::as_line(country)(value)
    }

    fn schema() -> Value {
        shared("Line")
    }
}

/// The country of a telephone number: a calling code or an ISO 3166 code, stored as it was given.
pub(crate) struct CountryCode;

impl Field for CountryCode {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        let code = ShortLine::<COUNTRY_CODE_CHARS_MAX>::read(value)?;
        if code.is_empty() || country::find_dialled(&code).is_some() {
            Ok(code)
        } else {
            Err(Text::new("field.country_code"))
        }
    }

    fn schema() -> Value {
        ShortLine::<COUNTRY_CODE_CHARS_MAX>::schema()
    }
}

/// The ISO 3166-1 alpha-2 code of a country.
fn country(text: &str) -> Result<String, Text> {
    country::parse(text).map(str::to_owned).ok_or_else(|| Text::new("field.country"))
}
