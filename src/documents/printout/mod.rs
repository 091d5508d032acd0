//! The logbook on paper: A4 pages that a member keeps or shows at another tunnel, as a PDF. The same logbook on the same
//! day is the same bytes: nothing here knows a clock, a random number or a row.

pub(crate) mod account_slip;
mod logbook;
mod page;
pub(crate) mod receipt;
mod table;
pub(crate) mod waiver;

pub(crate) use logbook::draw;

use crate::documents::PersonName;
use crate::documents::paint::{BRONZE, SOFT};
use crate::documents::typesetting::{Align, ROMAN};
use crate::domain::currency::Currency;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use page::{LEFT, Pages, RIGHT, TextStyle};

/// The content of the pages. Moments in Unix seconds, durations in minutes.
#[derive(Debug, Clone)]
pub(crate) struct Logbook {
    pub site_name: String,
    pub site_city: String,
    pub holder: PersonName,
    pub member_id: MemberId,
    /// The day whose state the pages show.
    pub day: Moment,
    /// All that was flown, and in how many flights.
    pub minutes: i64,
    pub flights: i64,
    /// The levels held, and since when; in the catalogue's order.
    pub levels: Vec<(String, Moment)>,
    /// The programmes held that have a currency.
    pub currencies: Vec<(String, Currency)>,
    /// The latest flights, oldest first. Earlier flights are brought forward as one sum.
    pub time: Vec<Flight>,
    /// Signed skills by level, and safety records by logbook.
    pub skills: Vec<(String, Vec<Signed>)>,
    pub safety: Vec<(String, Vec<Signed>)>,
    pub language: Language,
    /// By whose clock days are said.
    pub zone: TimeZone,
}

#[derive(Debug, Clone)]
pub(crate) struct Flight {
    pub day: Moment,
    pub tunnel_name: String,
    pub comment: String,
    pub minutes: i64,
}

/// A skill or a safety record with its signature.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub name: String,
    pub day: Moment,
    /// Empty if there is no signer.
    pub signer: PersonName,
    pub tunnel_name: String,
    /// A remark on the entry, in the pages' language; empty for most.
    pub note: String,
}

/// The site with its city, unless its name says that already.
fn place(site_name: &str, site_city: &str) -> String {
    if site_city.is_empty() || site_name.contains(site_city) {
        return site_name.to_owned();
    }
    format!("{site_name} · {site_city}")
}

/// Sets the head of a document: the site, and the title.
fn set_head(pages: &mut Pages, place: &str, title: &str) {
    let small = TextStyle { typeface: &ROMAN, size: 9.5, tracking: 0.16, colour: SOFT };
    pages.words(&place.to_uppercase(), small, Align::Left, LEFT, 70.0, RIGHT - LEFT);
    let large = TextStyle { typeface: &ROMAN, size: 20.0, tracking: 0.24, colour: BRONZE };
    pages.words(&title.to_uppercase(), large, Align::Left, LEFT, 104.0, RIGHT - LEFT);
}

/// Sets the remark on letters that stand as empty boxes, at the very foot of a page, and what to install; nothing where all
/// letters are there.
fn set_lacking(page: &mut Pages, language: Language) {
    let packages = page.letters().lacking();
    if !packages.is_empty() {
        let text = language.say(&Text::new("printout.lacking").with("packages", packages));
        page.words(&text, table::aside(), Align::Left, LEFT, page::HEIGHT - 28.0, RIGHT - LEFT);
    }
}

#[cfg(test)]
mod tests;
