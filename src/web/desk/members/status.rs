//! The status of a member on the card: flight time, next booking, progress towards the next levels, ban, note and cards.

use crate::app::joining;
use crate::app::logbook::progression;
use crate::domain::catalogue::names;
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::domain::progression::{State, Step};
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::bans;
use crate::store::tables::bookings;
use crate::store::tables::cards;
use crate::store::tables::joins::{self, AlikeAccounts};
use crate::store::tables::members::{self, Profile};
use crate::store::tables::refused_check_ins::{self, RefusedCheckIn};

/// Next levels that are shown, and missing skills that are named for each.
const LEVELS_SHOWN_MAX: usize = 3;
const SKILLS_SHOWN_MAX: usize = 6;
/// How far ahead the next booking is searched for.
const AHEAD_SECONDS: i64 = 400 * 86_400;

/// The status, in words.
pub(crate) struct Status {
    /// Total flight time, `H:MM`.
    pub(crate) flown: String,
    /// The day of the last flight; empty without one.
    pub(crate) last: String,
    pub(crate) booking: Option<NextBooking>,
    pub(crate) levels: Vec<LevelProgress>,
    /// Reason and last day of a ban; the day is empty where the ban has no end.
    pub(crate) ban: Option<(String, String)>,
    /// The note of the staff.
    pub(crate) note: String,
    /// Numbers of cards and wristbands.
    pub(crate) cards: Vec<String>,
    /// Check-ins that a kiosk promised and that were refused: number of the booking, and what happened.
    pub(crate) refused_check_ins: Vec<(BookingId, String)>,
    /// Whom the member may be, of which the desk was told.
    pub(crate) alike: Option<AlikeAccounts>,
    /// Accounts that were joined into this one: number, in words, and whether that can be undone.
    pub(crate) joins: Vec<(MemberId, String, bool)>,
}

/// The next booking from this morning on: the first that is not checked in, else the first of all.
pub(crate) struct NextBooking {
    pub(crate) booking_id: BookingId,
    pub(crate) when: String,
    pub(crate) minutes: i64,
    /// Whether the booking is today and can be checked in.
    pub(crate) open: bool,
    /// The time of the check-in.
    pub(crate) here_since: Option<String>,
}

/// Progress towards a level.
pub(crate) struct LevelProgress {
    pub(crate) name: String,
    /// Signed skills of the required ones.
    pub(crate) done: usize,
    pub(crate) of: usize,
    /// The names of missing skills, with commas.
    pub(crate) missing: String,
    /// Number of missing skills that are not named.
    pub(crate) more: usize,
}

/// Reads the status of a member.
pub(crate) fn read(
    site: &Site,
    tx: &Read,
    profile: &Profile,
    zone: &TimeZone,
    language: Language,
) -> Result<Status, Failure> {
    let (now, member_id) = (site.now(), profile.member_id);
    let flyer = standing::read(tx, member_id, now)?;
    let ban = bans::find(tx, member_id)?.map(|ban| {
        let until = ban.banned_until.map(|until| when::day(language, zone, until)).unwrap_or_default();
        (ban.ban_reason, until)
    });
    Ok(Status {
        flown: minutes::show(profile.flight_minutes - flyer.minutes_ahead),
        last: flyer.last_flight.map(|at| when::day(language, zone, at)).unwrap_or_default(),
        booking: next_booking(site, tx, profile, zone, language)?,
        levels: levels(site, tx, member_id, language)?,
        ban,
        note: members::find_staff_note(tx, member_id)?,
        cards: cards::list(tx, member_id)?,
        refused_check_ins: list_refused_check_ins(tx, member_id, zone, language)?,
        alike: joins::find_alike(tx, member_id)?,
        joins: list_joins(tx, member_id, now, zone, language)?,
    })
}

fn list_joins(
    tx: &Read,
    member_id: MemberId,
    now: Moment,
    zone: &TimeZone,
    language: Language,
) -> Result<Vec<(MemberId, String, bool)>, Failure> {
    let say = |one: joins::Joined| {
        let when = when::moment(language, zone, one.joined_at);
        let text = Text::new("join.was").with("when", when).with("name", one.name).with("number", one.joined_id);
        (one.joined_id, language.say(&text), now < one.joined_at + joining::UNDO_SECONDS)
    };
    Ok(joins::list(tx, member_id)?.into_iter().map(say).collect())
}

fn list_refused_check_ins(
    tx: &Read,
    member_id: MemberId,
    zone: &TimeZone,
    language: Language,
) -> Result<Vec<(BookingId, String)>, Failure> {
    let say = |one: RefusedCheckIn| {
        // Whoever reads this looks at the booking itself; the code tells a technician more.
        let text = Text::new("card.check_in_refused")
            .with("tapped", when::moment(language, zone, one.tapped_at))
            .with("flight", when::moment(language, zone, one.flight_date))
            .with("reason", one.reason);
        (one.booking_id, language.say(&text))
    };
    Ok(refused_check_ins::list_open_of_member(tx, member_id)?.into_iter().map(say).collect())
}

/// See [`NextBooking`].
pub(super) fn next_booking(
    site: &Site,
    tx: &Read,
    profile: &Profile,
    zone: &TimeZone,
    language: Language,
) -> Result<Option<NextBooking>, Failure> {
    let (today, until) = (zone.day(site.now(), 0), site.now() + AHEAD_SECONDS);
    let own = bookings::list_own(tx, site.tunnel_id, profile.member_id, today.from, until, 20)?;
    // The first booking from this morning on that is not checked in: a late member is still checked in.
    let next = own.iter().find(|one| one.arrived_at.is_none()).or(own.first());
    Ok(next.map(|one| NextBooking {
        booking_id: one.booking_id,
        when: when::moment(language, zone, one.flight_date),
        minutes: one.minutes_booked,
        open: one.flight_date < today.to && one.arrived_at.is_none() && profile.banned_at.is_none(),
        here_since: one.arrived_at.map(|at| zone.clock(at)),
    }))
}

/// The open levels of a member, flyer levels first.
fn levels(site: &Site, tx: &Read, member_id: MemberId, language: Language) -> Result<Vec<LevelProgress>, Failure> {
    let mut open: Vec<Step> = progression::steps(site, tx, member_id)?;
    open.retain(|step| step.state == State::Open);
    open.sort_by_key(|step| step.level.cat_group != "Flyer");
    let progress = |step: &Step| {
        let missing = step.missing.iter().take(SKILLS_SHOWN_MAX).map(|skill| names::say(language, &skill.name));
        LevelProgress {
            name: names::say(language, &step.level.name).to_owned(),
            done: step.signed(),
            of: step.required(),
            missing: missing.collect::<Vec<_>>().join(", "),
            more: step.missing.len().saturating_sub(SKILLS_SHOWN_MAX),
        }
    };
    Ok(open.iter().take(LEVELS_SHOWN_MAX).map(progress).collect())
}
