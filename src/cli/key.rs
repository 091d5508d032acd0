//! `tunneldesk key …`: the site key, while no server runs.

use super::owner::become_owner;
use super::shell::by_us;
use super::{Global, Trouble, as_json, broken, stop_it_first};
use crate::clock::Clock;
use crate::site::Site;
use crate::store::engine::place::Place;
use clap::Subcommand;
use serde_json::json;

#[derive(Subcommand)]
pub enum Key {
    /// Make a new site key and seal everything by it; the server must be stopped
    Rotate,
}

impl Key {
    pub fn run(self, global: &Global) -> Result<String, Trouble> {
        let Key::Rotate = self;
        let config = global.checked()?;
        let dir = config.data.clone();
        let by = by_us();
        become_owner(&dir)?;
        let place = Place::hold(&dir).map_err(|unheld| stop_it_first(unheld, &dir))?;
        let (site, _) = Site::open(&place, config, Clock::machine(0), true).map_err(broken)?;
        let rotated = site.rotate_key(&place, &by);
        site.close();
        let done = rotated.map_err(broken)?;
        if global.json {
            return Ok(as_json(&json!({ "values": done.values, "damaged": done.damaged })));
        }
        let damaged = match done.damaged {
            0 => String::new(),
            damaged => format!(" {damaged} of them could not be opened before, and stay so."),
        };
        Ok(format!(
            "The site has a new key, and {} values are sealed by it.{damaged} PINs, recovery codes and delays go on.\n\
             Copies of the database from before open with the old key only, which is gone from here: make a new backup \
             of {} now, database and key together.",
            done.values,
            dir.display()
        ))
    }
}
