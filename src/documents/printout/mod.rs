//! The logbook on paper: A4 pages that a member keeps or shows at another tunnel, as a PDF. The same logbook on the same
//! day is the same bytes: nothing here knows a clock, a random number or a row.

mod page;
mod sheet;
mod table;

pub(crate) use sheet::draw;

use crate::domain::currency::Currency;
use crate::domain::local_time::Hall;
use crate::i18n::language::Language;

/// All that the pages say. Moments in Unix seconds, durations in minutes.
#[derive(Debug, Clone)]
pub(crate) struct Printout {
    pub site_name: String,
    pub site_city: String,
    pub holder: String,
    pub member_id: i64,
    /// The day of which they speak.
    pub day: i64,
    /// All that was flown, and in how many flights.
    pub minutes: i64,
    pub flights: i64,
    /// The levels held, and since when; in the catalogue's order.
    pub levels: Vec<(String, i64)>,
    /// The programmes held that have a currency.
    pub currencies: Vec<(String, Currency)>,
    /// The latest flights, oldest first. What was flown before them is brought forward.
    pub time: Vec<Flight>,
    /// Signed skills by level, and safety records by logbook.
    pub skills: Vec<(String, Vec<Signed>)>,
    pub safety: Vec<(String, Vec<Signed>)>,
    pub language: Language,
    /// By whose clock days are said.
    pub hall: Hall,
}

#[derive(Debug, Clone)]
pub(crate) struct Flight {
    pub day: i64,
    pub tunnel_name: String,
    pub comment: String,
    pub minutes: i64,
}

/// A skill or a safety record with its signature.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub name: String,
    pub day: i64,
    /// Empty where nobody signed.
    pub signer_name: String,
    pub tunnel_name: String,
    /// What is to be said of it besides, in the pages' language; empty for most.
    pub note: String,
}

#[cfg(test)]
mod tests;
