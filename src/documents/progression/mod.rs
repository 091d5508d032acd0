//! A member's progression as a picture: every level of the catalogue as a card on a map, with the ways that lead from one
//! to another. The same progression is the same bytes: nothing here knows a clock or a row.

mod draw;
mod map;

pub(crate) use draw::{draw, draw_map};

use crate::domain::local_time::TimeZone;
use crate::domain::progression::Step;
use crate::i18n::language::Language;
use crate::moment::Moment;

/// The content of the picture.
#[derive(Debug, Clone)]
pub(crate) struct Progression<'a> {
    pub site_name: String,
    pub holder: String,
    /// The moment whose state the picture shows, in Unix seconds.
    pub at: Moment,
    /// The time zone of the site, for the days.
    pub zone: TimeZone,
    /// Every level, in the catalogue's order.
    pub steps: Vec<Step<'a>>,
    pub language: Language,
}

#[cfg(test)]
mod tests;
