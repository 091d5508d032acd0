//! `tunneldesk demo`: a site full of invented people, as large as wanted.

use super::{Global, Trouble, as_json, broken, refused};
use crate::clock::Clock;
use crate::demo::{self, Plan};
use crate::store::engine::place::{Place, Unheld};
use clap::Args;
use std::time::Instant;

#[derive(Args)]
pub struct Demo {
    /// How many members
    #[arg(long, default_value_t = demo::MEMBERS, value_parser = clap::value_parser!(u64).range(40..=1_000_000))]
    members: u64,
    /// How many logbook entries, about
    #[arg(long, default_value_t = demo::ENTRIES, value_parser = clap::value_parser!(u64).range(0..=50_000_000))]
    entries: u64,
    /// Another number, another site
    #[arg(long, default_value_t = demo::SEED)]
    seed: u64,
}

impl Demo {
    pub fn run(self, global: &Global) -> Result<String, Trouble> {
        let mut settings = global.settings();
        settings.for_demo();
        let config = super::check_settings(settings)?;
        let dir = config.data.clone();
        let place = Place::make(&dir).map_err(|unheld| match unheld {
            Unheld::InUse => {
                refused(format!("a tunneldesk is running on {}: stop it, or give another --data", dir.display()))
            }
            Unheld::Unfit(text) => broken(text),
        })?;
        if place.database().exists() {
            return Err(refused(format!(
                "there is a site in {} already: remove it, or give another --data",
                dir.display()
            )));
        }
        let plan = Plan { members: self.members, entries: self.entries, seed: self.seed };
        let (port, begun) = (config.listen.first().map_or(0, |address| address.port()), Instant::now());
        let clock = || Clock::machine(0);
        let (site, made) = demo::create_as_planned(&place, config, &clock, &plan, !global.json).map_err(broken)?;
        let mut facts = demo::facts(&site).map_err(broken)?;
        facts.publish(&dir, &site.config.public_url(port), &[]).map_err(broken)?;
        site.close();
        if global.json {
            return Ok(as_json(&made));
        }
        let megabytes = std::fs::metadata(place.database()).map_or(0, |file| file.len() / 1_000_000);
        Ok(format!(
            "{} members, {} logbook entries and {} bookings in {} ({megabytes} MB, {:.1} s).\n\nNext:\n  \
             tunneldesk serve --demo --data {}",
            grouped(made.members),
            grouped(made.entries),
            grouped(made.bookings),
            dir.display(),
            begun.elapsed().as_secs_f64(),
            dir.display()
        ))
    }
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}
