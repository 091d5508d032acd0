//! A member's standing as a flyer: reads the data that the rules of currency need, and applies the rules.

use super::holdings::{self, Holding};
use crate::domain::catalogue::LevelKey;
use crate::domain::currency::{self, Currencies, Standing};
use crate::domain::entry;
use crate::domain::local_time::TimeZone;
use crate::store::Read;
use crate::store::tables::entries::{self, Flown};
use crate::store::tables::tunnels;
use rusqlite::Result;

pub(crate) struct Flyer {
    pub last_flight: Option<i64>,
    /// Minutes that are booked and not flown yet.
    pub minutes_ahead: i64,
    pub currency: Currencies,
    /// The highest programme held.
    pub role_name: &'static str,
    pub holds_flyer_1: bool,
}

pub(crate) fn read(tx: &Read, member_id: i64, now: i64) -> Result<Flyer> {
    read_with(tx, member_id, &holdings::list(tx, member_id)?, now)
}

/// Like [`read`], for a member whose levels were read already.
pub(crate) fn read_with(tx: &Read, member_id: i64, holdings: &[Holding], now: i64) -> Result<Flyer> {
    let held: Vec<LevelKey> = holdings.iter().map(Holding::key).collect();
    let Flown { last_flight, minutes_ahead } = entries::find_flown(tx, member_id, now)?;
    // A member who holds levels of the Flyer programme alone, as most do, needs no training.
    let only_flies = held.iter().all(|level| level.cat_group == "Flyer");
    let (trained, zone) = if only_flies {
        (Vec::new(), TimeZone::UTC)
    } else {
        (holdings::list_trained(tx, member_id, now)?, tunnels::find_zone_of_site(tx)?)
    };
    let trained: Vec<(&str, i64)> = trained.iter().map(|(logbook, at)| (logbook.as_str(), *at)).collect();
    Ok(Flyer {
        last_flight,
        minutes_ahead,
        currency: currency::of(&Standing { held: &held, last_flight, trained: &trained, zone: &zone }, now),
        role_name: currency::role_name(&held),
        holds_flyer_1: held.iter().any(|level| level.cat_group == "Flyer" && level.cat_id == "1"),
    })
}

/// The programmes whose currency has lapsed: their open entries show as `not_current`.
pub(crate) fn lapsed(tx: &Read, member_id: i64, now: i64) -> Result<Vec<&'static str>> {
    let holdings = holdings::list(tx, member_id)?;
    let held: Vec<LevelKey> = holdings.iter().map(Holding::key).collect();
    Ok(entry::lapsed(&held, &read(tx, member_id, now)?.currency))
}
