//! Where a member stands as a flyer: the rows that the rules of currency ask for, and what the rules make of them.

use super::{Read, entries, holdings};
use crate::domain::catalogue::LevelKey;
use crate::domain::currency::{self, Currencies, Standing};
use rusqlite::Result;

pub struct Flyer {
    pub last_flight: Option<i64>,
    pub currency: Currencies,
    /// The highest programme held.
    pub role_name: &'static str,
    pub holds_flyer_1: bool,
}

pub fn read(tx: &Read, member_id: i64, now: i64) -> Result<Flyer> {
    let holdings = holdings::list(tx, member_id)?;
    let last_flight = entries::find_last_flight(tx, member_id, now)?;
    let trained = holdings::list_trained(tx, member_id, now)?;
    let held: Vec<LevelKey> = holdings.iter().map(holdings::Holding::key).collect();
    let trained: Vec<(&str, i64)> = trained.iter().map(|(logbook, at)| (logbook.as_str(), *at)).collect();
    Ok(Flyer {
        last_flight,
        currency: currency::of(&Standing { held: &held, last_flight, trained: &trained }, now),
        role_name: currency::role_name(&held),
        holds_flyer_1: held.iter().any(|level| level.cat_group == "Flyer" && level.cat_id == "1"),
    })
}
