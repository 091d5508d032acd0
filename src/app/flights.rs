//! The one gate before a flight: no member is checked in, and no flight time at this tunnel is entered, without the
//! waiver that the site requires. The desk, the kiosk, the API, imports and bookings all call this module.
//!
//! Where the site requires no waiver, these functions do not query the database.

use super::{Change, events};
use crate::domain::booking::{Booking, changed};
use crate::domain::entry::Kind;
use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::domain::local_time::TimeZone;
use crate::domain::waiver::{self, Demand, Reason, Signed, State};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::lists::{self, Entry};
use crate::store::queries::standing;
use crate::store::tables::bookings::{self, BookingRow, TimeWaits};
use crate::store::tables::entries::{self, NewTime};
use crate::store::tables::events::Event;
use crate::store::tables::site_texts::{self, Kind as TextKind};
use crate::store::tables::{endings, guardianships, members, tunnels, waivers};
use crate::store::{Read, Write};
use std::collections::HashMap;

/// The demanded waiver, and since when in Unix seconds. `None`: the site requires no waiver, or its text was never
/// published.
pub(crate) fn find_demand(site: &Site, tx: &Read) -> Result<Option<(Demand, Moment)>, Failure> {
    let settings = &site.config.waiver;
    if !settings.required {
        return Ok(None);
    }
    let in_force = site_texts::find_in_force(tx, TextKind::Waiver)?;
    Ok(in_force.map(|in_force| (demand(site, in_force.version_min), in_force.since)))
}

fn demand(site: &Site, version_min: i64) -> Demand {
    let settings = &site.config.waiver;
    Demand { version_min, valid_days: settings.valid_days, guardian_below_years: settings.guardian_below_years }
}

/// Why a member may not fly at a moment; `None` where the member may fly.
pub(crate) fn find_denial(site: &Site, tx: &Read, member_id: MemberId, at: Moment) -> Result<Option<Reason>, Failure> {
    Ok(match find_demand(site, tx)? {
        Some((demand, _)) => {
            let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
            waiver::may_fly(&read_state(tx, demand, member_id, at, &zone)?).err()
        }
        None => None,
    })
}

/// Why a member's waiver is not in force, and whether staff let the member fly without it at that moment. `None` where
/// no text is published.
pub(crate) fn find_waiver(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    at: Moment,
) -> Result<Option<(Option<Reason>, bool)>, Failure> {
    let Some((demand, _)) = find_demand(site, tx)? else { return Ok(None) };
    let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
    let state = read_state(tx, demand, member_id, at, &zone)?;
    let is_overridden = state.is_overridden;
    Ok(Some((waiver::may_fly(&State { is_overridden: false, ..state }).err(), is_overridden)))
}

/// When the waiver that a member signed last ends; `None` where none was signed or none ends.
pub(crate) fn find_waiver_end(site: &Site, tx: &Read, member_id: MemberId) -> Result<Option<Moment>, Failure> {
    let Some((demand, _)) = find_demand(site, tx)? else { return Ok(None) };
    let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
    Ok(waivers::find_latest(tx, member_id)?.and_then(|signed| waiver::ends_at(&demand, &signed, &zone)))
}

fn read_state<'z>(
    tx: &Read,
    demand: Demand,
    member_id: MemberId,
    at: Moment,
    zone: &'z TimeZone,
) -> Result<State<'z>, Failure> {
    Ok(State {
        demand: Some(demand),
        signed: waivers::find_latest(tx, member_id)?,
        dob: members::find_holder(tx, member_id)?.dob,
        is_overridden: waivers::find_override(tx, member_id, at)?.is_some(),
        at,
        zone,
    })
}

/// Whether a person with that day of birth needs a guardian today.
pub(crate) fn is_minor(site: &Site, tx: &Read, dob: Moment) -> Result<bool, Failure> {
    if !site.config.waiver.required {
        return Ok(false);
    }
    let noon_utc = tunnels::find_time_zone(tx, site.tunnel_id)?.noon_utc(site.now());
    Ok(waiver::is_minor(&demand(site, 0), dob, noon_utc))
}

/// What members with a booking in a time span have signed, read in one query for a list.
pub(crate) struct Signatures {
    /// `None`: the site demands nothing, so nothing was read.
    demand: Option<Demand>,
    signed: HashMap<MemberId, Signed>,
    /// Spans in which the staff lets a member fly without a waiver: member, from, until.
    overrides: Vec<(MemberId, Moment, Moment)>,
}

impl Signatures {
    /// Reads the signatures of members with bookings at the site's tunnel between two moments; `to` is exclusive.
    pub(crate) fn read(site: &Site, tx: &Read, span: (Moment, Moment)) -> Result<Signatures, Failure> {
        let demand = find_demand(site, tx)?.map(|(demand, _)| demand);
        if demand.is_none() {
            return Ok(Signatures { demand, signed: HashMap::new(), overrides: Vec::new() });
        }
        let signed = waivers::list_latest_of_booked(tx, site.tunnel_id, span)?;
        let overrides = waivers::list_overrides_of_booked(tx, site.tunnel_id, span)?;
        Ok(Signatures { demand, signed: signed.into_iter().collect(), overrides })
    }

    /// Why a member may not fly at a moment, as [`find_denial`]; `dob` as the account has it.
    pub(crate) fn find_denial(
        &self,
        member_id: MemberId,
        dob: Option<Moment>,
        at: Moment,
        zone: &TimeZone,
    ) -> Option<Reason> {
        self.demand?;
        let is_overridden = self.overrides.iter().any(|(id, from, to)| *id == member_id && (*from..*to).contains(&at));
        let signed = self.signed.get(&member_id).copied();
        waiver::may_fly(&State { demand: self.demand, signed, dob, is_overridden, at, zone }).err()
    }
}

/// Why a member may not enter flight time of a date at a tunnel; `None` where the member may. Flight time at another
/// tunnel, or from before the site demanded a waiver, needs no signature.
fn find_time_denial(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    (tunnel_id, entry_date): (TunnelId, Moment),
    now: Moment,
) -> Result<Option<Reason>, Failure> {
    if tunnel_id != site.tunnel_id {
        return Ok(None);
    }
    match find_demand(site, tx)? {
        Some((demand, since)) if entry_date >= since => {
            let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
            Ok(waiver::may_fly(&read_state(tx, demand, member_id, entry_date.max(now), &zone)?).err())
        }
        _ => Ok(None),
    }
}

/// 409 where a member may not fly at a moment. Only the flyer, those who act for the flyer, and the staff see the
/// reason.
fn check(cx: &Change, member_id: MemberId, at: Moment) -> Result<(), Failure> {
    find_denial(cx.site, cx.tx, member_id, at)?.map_or(Ok(()), |reason| Err(refusal(cx, member_id, reason)?))
}

fn refusal(cx: &Change, member_id: MemberId, reason: Reason) -> Result<Failure, Failure> {
    let is_told = match cx.member_id() {
        _ if cx.rank.is_staff() => true,
        Some(id) => id == member_id || guardianships::find(cx.tx, member_id, id)?.is_some(),
        None => false,
    };
    let failure = Failure::waiver_missing();
    Ok(if is_told { failure.saying(Text::new(reason.key())) } else { failure })
}

/// Whether a partner's member could be checked in now for a booking on a date; `None` where the site demands nothing.
/// The partner does not learn the reason.
pub(crate) fn may_check_in(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    flight_date: Moment,
) -> Result<Option<bool>, Failure> {
    if !site.config.waiver.required || find_demand(site, tx)?.is_none() {
        return Ok(None);
    }
    Ok(Some(find_denial(site, tx, member_id, flight_date.max(site.now()))?.is_none()))
}

/// 409 where a member may not enter flight time of a date at a tunnel.
pub(crate) fn check_time(
    cx: &Change,
    member_id: MemberId,
    tunnel_id: TunnelId,
    entry_date: Moment,
) -> Result<(), Failure> {
    let denial = find_time_denial(cx.site, cx.tx, member_id, (tunnel_id, entry_date), cx.now())?;
    denial.map_or(Ok(()), |reason| Err(refusal(cx, member_id, reason)?))
}

/// Enters flight time in a logbook. Returns the number of the entry. 409 where the member may not fly.
pub(crate) fn enter_time(
    cx: &Change,
    member_id: MemberId,
    author_id: MemberId,
    time: &NewTime,
) -> Result<EntryId, Failure> {
    check_time(cx, member_id, time.tunnel_id, time.entry_date)?;
    insert(cx.tx, member_id, author_id, None, time)
}

/// Inserts flight time, and tells of it.
fn insert(
    tx: &Write,
    member_id: MemberId,
    author_id: MemberId,
    booking_id: Option<BookingId>,
    time: &NewTime,
) -> Result<EntryId, Failure> {
    let entry_id = entries::insert_time(tx, member_id, author_id, booking_id, time)?;
    events::tell_of_time(tx, Event::TimeCreated, (member_id, entry_id, booking_id), time)?;
    Ok(entry_id)
}

/// Takes the flight time out of the logbook that a booking entered, and returns it.
pub(super) fn take_booked(cx: &Change, known: &BookingRow) -> Result<Option<NewTime>, Failure> {
    let time = entries::take_booked_time(cx.tx, known.booking_id)?;
    if let Some((entry_id, time)) = known.entry_id.zip(time.as_ref()) {
        let about = (known.member_id, entry_id, Some(known.booking_id));
        events::tell_of_time(cx.tx, Event::TimeDeleted, about, time)?;
    }
    Ok(time)
}

/// Checks an edit of flight time. An edit to more minutes, a later date or another tunnel counts as a new flight. 409
/// where the member may not fly.
pub(crate) fn check_edit(cx: &Change, member_id: MemberId, known: &NewTime, edited: &NewTime) -> Result<(), Failure> {
    let more = edited.minutes > known.minutes || edited.entry_date > known.entry_date;
    if more || edited.tunnel_id != known.tunnel_id {
        check_time(cx, member_id, edited.tunnel_id, edited.entry_date)?;
    }
    Ok(())
}

/// Enters the flight time of a booking that waited for the check-in. 409 where the member may not fly.
pub(super) fn enter_on_arrival(cx: &Change, known: &BookingRow) -> Result<(), Failure> {
    check(cx, known.member_id, known.booking.flight_date.max(cx.now()))?;
    if known.time_waits == TimeWaits::ForCheckIn {
        let is_current = standing::read(cx.tx, known.member_id, cx.now())?.currency.flyer.current;
        if is_current {
            insert_booked(cx.tx, known.member_id, known.booking_id, &known.booking)?;
        }
        bookings::set_time_waits(cx.tx, known.booking_id, TimeWaits::Entered)?;
    }
    Ok(())
}

/// Removes the flight time that the check-in of a booking entered.
pub(super) fn remove_on_departure(cx: &Change, known: &BookingRow) -> Result<(), Failure> {
    if known.time_waits == TimeWaits::Entered {
        take_booked(cx, known)?;
        bookings::set_time_waits(cx.tx, known.booking_id, TimeWaits::ForCheckIn)?;
    }
    Ok(())
}

/// Forgets that the flight time of a booking waited, before the booking enters it anew.
pub(super) fn stop_waiting(cx: &Change, known: &BookingRow) -> Result<(), Failure> {
    if known.time_waits != TimeWaits::No {
        bookings::set_time_waits(cx.tx, known.booking_id, TimeWaits::No)?;
    }
    Ok(())
}

/// Enters the flight time of a new booking where its member is current. Where the member may not fly yet, the booking
/// is stored, and its flight time waits for the check-in. Returns whether the flight time waits.
pub(crate) fn enter_booked(
    cx: &Change,
    member_id: MemberId,
    booking_id: BookingId,
    sent: &Booking,
    is_current: bool,
) -> Result<bool, Failure> {
    let place = (sent.tunnel_id, sent.flight_date);
    let waits = find_time_denial(cx.site, cx.tx, member_id, place, cx.now())?.is_some();
    if waits {
        bookings::set_time_waits(cx.tx, booking_id, TimeWaits::ForCheckIn)?;
    } else if is_current {
        insert_booked(cx.tx, member_id, booking_id, sent)?;
    }
    Ok(waits)
}

/// Enters the flight time of a reinstated booking again; it waits for the check-in where the member may not fly.
pub(crate) fn enter_again(cx: &Change, known: &BookingRow, time: &NewTime) -> Result<(), Failure> {
    let place = (time.tunnel_id, time.entry_date);
    if find_time_denial(cx.site, cx.tx, known.member_id, place, cx.now())?.is_some() {
        bookings::set_time_waits(cx.tx, known.booking_id, TimeWaits::ForCheckIn)?;
    } else {
        insert(cx.tx, known.member_id, known.member_id, Some(known.booking_id), time)?;
    }
    Ok(())
}

/// Changes the flight time that a booking entered to the new date, minutes and tunnel. Where the member may not fly
/// then, the flight time is removed and waits for the check-in.
pub(crate) fn change_booked(cx: &Change, known: &BookingRow, sent: &Booking) -> Result<(), Failure> {
    let before = &known.booking;
    let date = changed(before.flight_date, sent.flight_date);
    let (minutes, tunnel_id) =
        (changed(before.minutes_booked, sent.minutes_booked), changed(before.tunnel_id, sent.tunnel_id));
    if date.is_none() && minutes.is_none() {
        return Ok(());
    }
    // Flight time that a cancellation or a no-show removed is updated too, because a reinstatement restores it.
    endings::update_removed(cx.tx, known.booking_id, date, minutes)?;
    let place = (sent.tunnel_id, sent.flight_date);
    if known.entry_id.is_some()
        && known.arrived_at.is_none()
        && find_time_denial(cx.site, cx.tx, known.member_id, place, cx.now())?.is_some()
    {
        take_booked(cx, known)?;
        bookings::set_time_waits(cx.tx, known.booking_id, TimeWaits::ForCheckIn)?;
    } else {
        entries::update_booked_time(cx.tx, known.booking_id, date, minutes, tunnel_id)?;
        if let Some(entry_id) = known.entry_id {
            events::tell_of_time_now(cx.tx, Event::TimeChanged, entry_id)?;
        }
    }
    Ok(())
}

fn insert_booked(tx: &Write, member_id: MemberId, booking_id: BookingId, sent: &Booking) -> Result<(), Failure> {
    let time = NewTime {
        entry_date: sent.flight_date,
        minutes: sent.minutes_booked,
        tunnel_id: sent.tunnel_id,
        comment: String::new(),
    };
    insert(tx, member_id, member_id, Some(booking_id), &time)?;
    Ok(())
}

/// Why an entry of an imported list is refused; `None` where it is accepted.
pub(crate) fn find_import_denial(
    site: &Site,
    tx: &Read,
    entry: &Entry,
    now: Moment,
) -> Result<Option<Reason>, Failure> {
    if entry.kind != Kind::Time {
        return Ok(None);
    }
    find_time_denial(site, tx, entry.member_id, (entry.tunnel_id, entry.entry_date), now)
}

/// Inserts an entry of an imported list into the logbook. `opening`: the number of its opening balance. 409 where its
/// member may not fly.
pub(crate) fn import(site: &Site, tx: &Write, entry: &Entry, opening: Option<EntryId>) -> Result<EntryId, Failure> {
    if find_import_denial(site, tx, entry, tx.now())?.is_some() {
        return Err(Failure::waiver_missing());
    }
    let entry_id = lists::insert_entry(tx, entry, opening)?;
    if entry.kind == Kind::Time {
        events::tell_of_time_now(tx, Event::TimeCreated, entry_id)?;
    }
    Ok(entry_id)
}
