//! Countries, for forms.

use super::in_language;
use crate::domain::country::{self, Country};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde::Serialize;

#[derive(Serialize)]
struct CountryReply {
    code: &'static str,
    code3: &'static str,
    name: &'static str,
    dial_code: &'static str,
}

impl From<&'static Country> for CountryReply {
    fn from(country: &'static Country) -> CountryReply {
        CountryReply { code: country.code, code3: country.code3, name: country.name, dial_code: &country.dial_code }
    }
}

/// `GET /public/countries`: every country with its calling code, by name in the caller's language.
pub(crate) fn list(_: &Site, call: &Call) -> Answer {
    let (language, page) = (call.language(), call.page()?);
    let rows = country::all(language).iter().map(CountryReply::from).collect();
    Ok(in_language(reply::part(call, page, rows), language))
}
