//! A believable tunnel, for looking around and for measuring: invented people, two years of bookings and logbook.
//! Same seed, same day: same site.
//!
//! [`data`] has the cast and everybody's habits, [`people`] makes persons of them, [`ladder`] says what they can climb,
//! [`life`] what happens to each and when, and [`fill`] writes it down. Nothing that is secret comes from the seed: [`facts`]
//! makes it anew, for each site.

mod banner;
mod data;
mod facts;
mod fill;
mod ladder;
mod life;
mod names;
mod people;
mod rng;
#[cfg(test)]
mod tests;

pub(crate) use facts::Facts;

use crate::clock::Clock;
use crate::config::Config;
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::ops::backup::Progress;
use crate::ops::lifecycle::Identity;
use crate::site::Site;
use crate::store::engine::data_dir::{DataDir, LockError};
use crate::store::tables::tunnels;
use serde::Serialize;
use std::fs::{self, File};
use std::path::Path;

pub(crate) const MEMBERS: u64 = 320;
pub(crate) const ENTRIES: u64 = 12_000;
pub(crate) const SEED: u64 = 1;
/// Everybody's.
pub const PASSWORD: &str = "fly-high-land-soft";
const TUNNEL_ID: i64 = 1;
/// The time zone of the demo's country: the desk shows the tunnel's own hours.
const TIME_ZONE: &str = "Europe/Zurich";
/// Where a site is while it is being made, so that half of one is never taken for a whole.
const UNFINISHED: &str = "unfinished";

/// How large a demo site shall be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub members: u64,
    pub entries: u64,
    pub seed: u64,
}

/// The rows that were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Made {
    pub members: u64,
    pub entries: u64,
    pub bookings: u64,
}

/// The usual demo site, in a held directory that has none.
pub(crate) fn create(data_dir: &DataDir, config: Config) -> Result<Site, String> {
    let plan = Plan { members: MEMBERS, entries: ENTRIES, seed: SEED };
    create_as_planned(data_dir, config, &|| Clock::machine(0), &plan, &mut |_, _, _| ()).map(|(site, _)| site)
}

/// A demo site as large as wanted. `progress` is told the step, and how many of how many are done.
pub(crate) fn create_as_planned(
    data_dir: &DataDir,
    config: Config,
    clock: &dyn Fn() -> Clock,
    plan: &Plan,
    progress: &mut Progress,
) -> Result<(Site, Made), String> {
    if data_dir.database().exists() {
        return Err(format!("there is a site in {} already", data_dir.dir().display()));
    }
    let dir = data_dir.dir().join(UNFINISHED);
    let made = make_in(&dir, &config, clock(), plan, progress).and_then(|(unfinished, made)| {
        take_over(&unfinished, data_dir)
            .map_err(|e| format!("cannot finish the site in {}: {e}", data_dir.dir().display()))?;
        Ok(made)
    });
    _ = fs::remove_dir_all(&dir);
    let made = made?;
    let (site, _) = Site::open(data_dir, config, clock(), true)?;
    Ok((site, made))
}

fn make_in(
    dir: &Path,
    config: &Config,
    clock: Clock,
    plan: &Plan,
    progress: &mut Progress,
) -> Result<(DataDir, Made), String> {
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(|e| format!("cannot remove {}: {e}", dir.display()))?;
    }
    let unfinished = DataDir::create(dir).map_err(|error| match error {
        LockError::InUse => format!("{} is in use", dir.display()),
        LockError::Unusable(text) => text,
    })?;
    let identity = Identity {
        tunnel_id: TUNNEL_ID,
        name: "Föhnhalle Thun".to_owned(),
        city: "Thun".to_owned(),
        country: "CH".to_owned(),
    };
    let site = Site::create(&unfinished, config.clone(), clock, &identity)?;
    let filled = settle(&site).and_then(|zone| fill::fill(&site, &zone, plan, progress));
    let made = filled.map_err(|e| format!("the demo site cannot be written: {e}"))?;
    Ok((unfinished, made))
}

/// Gives the site its time zone.
fn settle(site: &Site) -> Result<TimeZone, Failure> {
    site.store.write(site.now(), |tx| Ok(tunnels::set_time_zone(tx, TUNNEL_ID, TIME_ZONE)?))?;
    Ok(TimeZone::named(TIME_ZONE))
}

/// The database last: a site is there when it is.
fn take_over(unfinished: &DataDir, data_dir: &DataDir) -> std::io::Result<()> {
    File::open(unfinished.database())?.sync_all()?;
    fs::rename(unfinished.key(), data_dir.key())?;
    fs::rename(unfinished.database(), data_dir.database())?;
    File::open(data_dir.dir())?.sync_all()
}

/// The accounts and tokens by which a visitor uses the demo site; made anew where they are lost or expired. Refuses a
/// site that is no demo.
pub(crate) fn facts(site: &Site) -> Result<Facts, String> {
    Facts::gather(site)
}
