//! Countries, for forms.

use super::in_language;
use crate::domain::country;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;

crate::answer! {
    struct Country {
        /// ISO 3166-1 alpha-2.
        code: &'static str { "pattern": "^[A-Z]{2}$" } = "CH",
        /// ISO 3166-1 alpha-3; empty for the two islands that have none.
        code3: &'static str { "pattern": "^([A-Z]{3})?$" } = "CHE",
        /// In the caller's language.
        name: &'static str = "Switzerland",
        /// The calling code; empty if there is none.
        dial_code: &'static str = "+41",
    }
}

impl From<&'static country::Country> for Country {
    fn from(country: &'static country::Country) -> Country {
        Country { code: country.code, code3: country.code3, name: country.name, dial_code: &country.dial_code }
    }
}

crate::answer! {
    /// Every country, by name in the caller's language.
    struct CountryList = Vec<Country>;
}

crate::operation! {
    /// Countries and their calling codes
    ///
    /// Every country, by name in the caller's language.
    LIST = "countries"
        .takes(&["AcceptLanguage"])
        .answers::<CountryList>("The countries.")
}

pub(crate) fn list(_: &Site, call: &Call) -> Answer {
    let (language, page) = (call.language(), call.page()?);
    let rows = country::all(language).iter().map(Country::from).collect();
    Ok(in_language(reply::part(call, page, rows), language))
}
