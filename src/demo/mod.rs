//! A believable tunnel, for looking around and for measuring: invented people, two years of bookings and logbook.
//! Same seed, same day: same site.

mod facts;
mod fill;

pub use facts::Facts;

use crate::clock::Clock;
use crate::config::Config;
use crate::site::{Identity, Site};
use crate::store::place::Place;
use serde::Serialize;

pub const MEMBERS: u64 = 320;
pub const ENTRIES: u64 = 12_000;
pub const SEED: u64 = 1;
const TUNNEL_ID: i64 = 1;

/// How large a demo site shall be.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub members: u64,
    pub entries: u64,
    pub seed: u64,
}

/// What was made.
#[derive(Debug, Serialize)]
pub struct Made {
    pub members: u64,
    pub entries: u64,
    pub bookings: u64,
}

impl std::fmt::Display for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} members, {} logbook entries, {} bookings", self.members, self.entries, self.bookings)
    }
}

/// The usual demo site, in a held directory that has none.
pub fn create(place: &Place, config: Config) -> Result<Site, String> {
    let plan = Plan { members: MEMBERS, entries: ENTRIES, seed: SEED };
    create_as_planned(place, config, &plan, false).map(|(site, _)| site)
}

/// A demo site as large as wanted; with a progress bar if `visibly`.
pub fn create_as_planned(place: &Place, config: Config, plan: &Plan, visibly: bool) -> Result<(Site, Made), String> {
    let identity = Identity {
        tunnel_id: TUNNEL_ID,
        name: "Windwerk Demo".to_owned(),
        city: "Winterthur".to_owned(),
        country: "CH".to_owned(),
    };
    let site = Site::create(place, config, Clock::machine(0), &identity)?;
    let made = fill::fill(&site, plan, visibly)?;
    Ok((site, made))
}

/// What somebody needs to use the demo site; made anew where it is lost or worn out.
pub fn facts(site: &Site) -> Result<Facts, String> {
    Facts::gather(site)
}
