//! A member's standing as a flyer: reads the data that the rules of currency need, and applies the rules. What follows from signed
//! skills and trainings is kept with the member, so that a profile costs the same whatever its owner holds.

use super::holdings;
use crate::domain::catalogue::LevelKey;
use crate::domain::currency::{self, Currencies, Standing};
use crate::domain::entry;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::moment::Moment;
use crate::store::tables::entries::{self, Flown};
use crate::store::{Read, Write};
use rusqlite::Result;

pub(crate) struct Flyer {
    pub last_flight: Option<Moment>,
    /// Minutes that are booked and not flown yet.
    pub minutes_ahead: i64,
    pub currency: Currencies,
    /// The highest programme held.
    pub role_name: &'static str,
    pub holds_flyer_1: bool,
    /// The programmes whose currency has lapsed: their open entries show as `not_current`.
    pub lapsed: Vec<&'static str>,
}

row! {
    /// What decides about the currency of a member's programmes beside flights, and by whose clock. Triggers of the logbook and of
    /// the levels keep it.
    #[derive(Debug, Default)]
    struct Kept in "m." {
        /// The programmes of which a level is held, with commas between.
        programmes: String,
        holds_flyer_1: bool,
        /// The last safety brief or training of each safety logbook.
        coach_trained: Option<Moment>,
        instructor_trained: Option<Moment>,
        trainer_trained: Option<Moment>,
        military_trained: Option<Moment>,
        /// That of the site.
        time_zone: Option<String> = "t.time_zone",
    }
}

fn find_kept(tx: &Read, member_id: MemberId) -> Result<Option<Kept>> {
    let sql = sql!(
        "SELECT ",
        Kept::COLUMNS,
        " FROM members m LEFT JOIN site s ON s.only = 1 LEFT JOIN tunnels t ON t.tunnel_id = s.tunnel_id
               WHERE m.member_id = ?1"
    );
    tx.find(sql, [member_id])
}

impl Kept {
    /// One level of each programme that is held, as the rules of currency need it.
    fn held(&self) -> Vec<LevelKey<'_>> {
        let programmes = self.programmes.split(',').filter(|one| !one.is_empty());
        let level = |cat_group| if cat_group == "Flyer" && self.holds_flyer_1 { "1" } else { "" };
        programmes.map(|cat_group| LevelKey { cat_group, cat_id: level(cat_group), track: "" }).collect()
    }

    /// The last training of each safety logbook.
    fn trained(&self) -> Vec<(&'static str, Moment)> {
        let last = [
            ("Coach", self.coach_trained),
            ("Instructor", self.instructor_trained),
            ("Trainer", self.trainer_trained),
            ("Military", self.military_trained),
        ];
        last.into_iter().filter_map(|(logbook, at)| Some((logbook, at?))).collect()
    }
}

pub(crate) fn read(tx: &Read, member_id: MemberId, now: Moment) -> Result<Flyer> {
    let kept = find_kept(tx, member_id)?.unwrap_or_default();
    let Flown { last_flight, minutes_ahead } = entries::find_flown(tx, member_id, now)?;
    let (held, mut trained) = (kept.held(), kept.trained());
    // A training of a later day does not count yet, and hides those before it.
    let earlier;
    if trained.iter().any(|(_, at)| *at > now) {
        earlier = holdings::list_trained(tx, member_id, now)?;
        trained = earlier.iter().map(|(logbook, at)| (logbook.as_str(), *at)).collect();
    }
    let zone = TimeZone::named(kept.time_zone.as_deref().unwrap_or_default());
    let currency = currency::of(&Standing { held: &held, last_flight, trained: &trained, zone: &zone }, now);
    Ok(Flyer {
        last_flight,
        minutes_ahead,
        currency,
        role_name: currency::role_name(&held),
        holds_flyer_1: kept.holds_flyer_1,
        lapsed: entry::lapsed(&held, &currency),
    })
}

/// The programmes whose currency has lapsed.
pub(crate) fn lapsed(tx: &Read, member_id: MemberId, now: Moment) -> Result<Vec<&'static str>> {
    Ok(read(tx, member_id, now)?.lapsed)
}

/// Sums up the logbook of every member, after rows were written without the triggers.
pub(crate) fn recount(tx: &Write) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET (entries, flight_minutes, coach_trained, instructor_trained, trainer_trained, military_trained) =
             (SELECT count(*), coalesce(sum(minutes) FILTER (WHERE kind = 'time' AND status = 'open'), 0),
                     max(entry_date) FILTER (WHERE kind = 'safety' AND status = 'open' AND cat_group = 'Coach'),
                     max(entry_date) FILTER (WHERE kind = 'safety' AND status = 'open' AND cat_group = 'Instructor'),
                     max(entry_date) FILTER (WHERE kind = 'safety' AND status = 'open' AND cat_group = 'Trainer'),
                     max(entry_date) FILTER (WHERE kind = 'safety' AND status = 'open' AND cat_group = 'Military')
              FROM entries e WHERE e.member_id = members.member_id)"
    );
    tx.run(sql, [])
}

#[cfg(test)]
mod tests;
