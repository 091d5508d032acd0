//! How a member stands, first on the card: the next booking, the way to the next levels, and the hours.

use crate::app::logbook::rules::list_next_skills;
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::bans;
use crate::store::tables::bookings;
use crate::store::tables::cards;
use crate::store::tables::members::{self, Profile};

/// Levels on the way that are shown, and skills that are named of each.
const LEVELS_SHOWN_MAX: usize = 3;
const SKILLS_SHOWN_MAX: usize = 6;
/// How far ahead a booking is looked for.
const AHEAD_SECONDS: i64 = 400 * 86_400;

pub(crate) struct Standing {
    /// Flown in all, `H:MM`.
    pub(crate) flown: String,
    pub(crate) last: String,
    pub(crate) booking: Option<Next>,
    pub(crate) levels: Vec<Way>,
    /// Why and until when the account is banned.
    pub(crate) ban: Option<(String, String)>,
    pub(crate) note: String,
    /// The numbers of cards and wristbands.
    pub(crate) cards: Vec<String>,
}

/// The next booking, today's before all others.
pub(crate) struct Next {
    pub(crate) booking_id: i64,
    pub(crate) when: String,
    pub(crate) minutes: i64,
    /// Whether it is today and the member may be checked in for it.
    pub(crate) open: bool,
    pub(crate) here: bool,
}

/// A level on the way.
pub(crate) struct Way {
    pub(crate) name: String,
    pub(crate) done: usize,
    pub(crate) of: usize,
    pub(crate) missing: String,
    /// Skills that are missing and not named.
    pub(crate) more: usize,
}

pub(crate) fn read(
    site: &Site,
    tx: &Read,
    profile: &Profile,
    zone: &TimeZone,
    language: Language,
) -> Result<Standing, Failure> {
    let (now, member_id) = (site.now(), profile.member_id);
    let flyer = standing::read(tx, member_id, now)?;
    let today = zone.day(now, 0);
    let own = bookings::list_own(tx, site.tunnel_id, member_id, today.from, now + AHEAD_SECONDS, 20)?;
    // Of today's the first that the member has not come for; one that was missed this morning may still be meant.
    let next = own.iter().find(|one| one.arrived_at.is_none()).or(own.first());
    let booking = next.map(|one| Next {
        booking_id: one.booking_id,
        when: when::moment(language, zone, one.flight_date),
        minutes: one.minutes_booked,
        open: one.flight_date < today.to && one.arrived_at.is_none() && profile.banned_at.is_none(),
        here: one.arrived_at.is_some(),
    });
    let ban = bans::find(tx, member_id)?.map(|ban| {
        let until = ban.banned_until.map(|until| when::day(language, zone, until)).unwrap_or_default();
        (ban.ban_reason, until)
    });
    Ok(Standing {
        flown: minutes::show(profile.flight_minutes - flyer.minutes_ahead),
        last: flyer.last_flight.map(|at| when::day(language, zone, at)).unwrap_or_default(),
        booking,
        levels: levels(site, tx, member_id)?,
        ban,
        note: members::find_staff_note(tx, member_id)?,
        cards: cards::list(tx, member_id)?,
    })
}

/// The levels that the member may go for next, the flyers' first.
fn levels(site: &Site, tx: &Read, member_id: i64) -> Result<Vec<Way>, Failure> {
    let mut ways: Vec<(&str, Way)> = Vec::new();
    for (level, skill) in list_next_skills(site, tx, member_id)?.into_iter().filter(|(_, skill)| skill.required) {
        let known = ways.iter().position(|(_, way)| way.name == level.name);
        let place = known.unwrap_or_else(|| {
            let of = level.required().count();
            let way = Way { name: level.name.clone(), done: of, of, missing: String::new(), more: 0 };
            ways.push((&level.cat_group, way));
            ways.len() - 1
        });
        let way = &mut ways[place].1;
        way.done -= 1;
        if way.of - way.done > SKILLS_SHOWN_MAX {
            way.more += 1;
        } else {
            let comma = if way.missing.is_empty() { "" } else { ", " };
            way.missing = format!("{}{comma}{}", way.missing, skill.name);
        }
    }
    ways.sort_by_key(|(cat_group, _)| *cat_group != "Flyer");
    Ok(ways.into_iter().map(|(_, way)| way).take(LEVELS_SHOWN_MAX).collect())
}
