//! The demo site: invented people with two years of bookings and logbook, to look around in and to measure. The same seed
//! on the same day makes the same site.
//!
//! [`people`] has the cast and draws the crowd, and [`fill`] writes them with all that they did. No secret comes from
//! the seed: [`facts`] makes them anew for each site.

mod facts;
mod fill;
mod names;
mod people;
mod rng;
#[cfg(test)]
mod tests;

pub(crate) use facts::Facts;

use crate::clock::Clock;
use crate::config::Config;
use crate::domain::ids::TunnelId;
use crate::domain::local_time::TimeZone;
use crate::ops::Progress;
use crate::ops::backup::restore;
use crate::ops::lifecycle::Identity;
use crate::site::Site;
use crate::store::data_dir::DataDir;
use crate::store::tables::tunnels;
use serde::Serialize;
use std::fs::{self, File};
use std::path::Path;

/// The password of every account.
pub const PASSWORD: &str = "fly-high-land-soft";
const TUNNEL_ID: TunnelId = TunnelId(1);
const TIME_ZONE: &str = "Europe/Zurich";

/// The size of a demo site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub members: u64,
    pub entries: u64,
    pub seed: u64,
}

/// The size of `serve --demo`.
pub(crate) const USUAL: Plan = Plan { members: 320, entries: 12_000, seed: 1 };

/// The numbers of rows that were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Made {
    pub members: u64,
    pub entries: u64,
    pub bookings: u64,
}

/// Makes a demo site of the planned size in a locked directory that has no site yet. `progress` gets the step, and how many of how many rows are done.
pub(crate) fn create(
    data_dir: &DataDir,
    config: Config,
    clock: &dyn Fn() -> Clock,
    plan: &Plan,
    progress: &mut Progress,
) -> Result<(Site, Made), String> {
    if data_dir.database().exists() {
        return Err(format!("there is a site in {} already", data_dir.dir().display()));
    }
    // Half a site is never taken for a whole one: it lies beside the place of the site.
    let dir = restore::new_site_dir(data_dir);
    _ = fs::remove_dir_all(&dir);
    let made = make_in(&dir, &config, clock(), plan, progress);
    let made = made.inspect_err(|_| _ = fs::remove_dir_all(&dir))?;
    restore::swap_in(data_dir, &dir)?;
    Ok((Site::open(data_dir, config, clock())?, made))
}

fn make_in(dir: &Path, config: &Config, clock: Clock, plan: &Plan, progress: &mut Progress) -> Result<Made, String> {
    let unfinished = DataDir::create(dir).map_err(|error| format!("{} cannot be used: {error:?}", dir.display()))?;
    let name = "Föhnhalle Thun".to_owned();
    let identity = Identity { tunnel_id: TUNNEL_ID, name, city: "Thun".to_owned(), country: "CH".to_owned() };
    let site = Site::create(&unfinished, config.clone(), clock, &identity)?;
    let set_zone = site.store.write(site.now(), |tx| Ok(tunnels::set_time_zone(tx, TUNNEL_ID, TIME_ZONE)?));
    let filled = set_zone.and_then(|_| fill::fill(&site, &TimeZone::named(TIME_ZONE), plan, progress));
    let made = filled.map_err(|e| format!("the demo site cannot be written: {e}"))?;
    drop(site);
    // The fill flushes nothing.
    let flush = || File::open(unfinished.database())?.sync_all();
    flush().map_err(|e| format!("cannot flush {}: {e}", unfinished.database().display()))?;
    Ok(made)
}
