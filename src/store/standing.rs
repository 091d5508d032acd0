//! Where a member stands as a flyer: the rows that the rules of currency ask for, and what the rules make of them.

use super::{Read, entries, holdings};
use crate::domain::currency::Currencies;
use rusqlite::Result;

pub struct Flyer {
    pub held: Vec<holdings::Holding>,
    pub last_flight: Option<i64>,
    pub currency: Currencies,
}

impl Flyer {
    pub fn holds(&self, cat_group: &str, cat_id: &str) -> bool {
        self.held.iter().any(|held| held.cat_group == cat_group && held.cat_id == cat_id)
    }

    pub fn role_name(&self) -> &'static str {
        "Flyer"
    }
}

pub fn read(tx: &Read, member_id: i64, now: i64) -> Result<Flyer> {
    let held = holdings::list(tx, member_id)?;
    let last_flight = entries::find_last_flight(tx, member_id, now)?;
    let _trained = holdings::list_trained(tx, member_id)?;
    Ok(Flyer { held, last_flight, currency: Currencies::default() })
}
