//! The booking form of *Today*: for a member who was found, or for one who is typed into it.

use crate::app::bookings;
use crate::domain::booking::{Denial, Standing, admit};
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::{Day, TimeZone};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::members;
use crate::web::badge::{self, Badge};
use crate::web::desk::members::lookup::name_of;
use crate::web::new_form_number;

/// The duration that is preselected, where the site offers it.
const USUAL_FIRST: i64 = 10;
/// The proposed time is rounded up to five minutes.
const STEP_SECONDS: i64 = 300;

/// The form, ready to be rendered.
pub(super) struct BookingForm {
    /// The member to book for, where known.
    pub(super) member: Option<FormMember>,
    /// Minutes with a button each.
    pub(super) usual: Vec<i64>,
    /// The chosen one of `usual`; 0 where other minutes were typed.
    pub(super) chosen: i64,
    pub(super) sent: BookingInput,
    /// Whether the page shows today, so that a member can be booked and checked in now.
    pub(super) is_today: bool,
}

/// The values of the form, as typed.
pub(crate) struct BookingInput {
    /// A number, a username, an e-mail address or a name.
    pub(crate) member: String,
    /// Minutes, where none of the usual ones is chosen.
    pub(crate) minutes: String,
    pub(crate) usual: i64,
    /// `2026-11-24`; empty for today.
    pub(crate) day: String,
    /// `14:30`, in the site's time zone.
    pub(crate) clock: String,
    /// Idempotency number of the form.
    pub(crate) number: i64,
    /// The member's booking on that day that the page showed.
    pub(crate) beside: Option<BookingId>,
    /// The begin of a quarter of an hour of which the clerk knows that it is full.
    pub(crate) full_quarter: Option<Moment>,
    pub(crate) problem: Option<&'static str>,
}

/// The member to book for, with obstacles to a booking.
pub(super) struct FormMember {
    pub(super) member_id: MemberId,
    pub(super) name: String,
    pub(super) badges: Vec<Badge>,
    /// Key of the obstacle to a booking, and whether a payment removes it.
    pub(super) warning: Option<&'static str>,
    pub(super) unpaid: bool,
    pub(super) denied: bool,
    /// The member's booking on the shown day.
    pub(super) has_one: Option<OnDay>,
}

/// A booking that the member has on the shown day.
pub(super) struct OnDay {
    pub(super) booking_id: BookingId,
    /// The time and the minutes, in words.
    pub(super) when: String,
    /// Whether the member can be checked in for it.
    pub(super) may_check_in: bool,
}

impl BookingForm {
    /// Whether the member has a booking on the shown day.
    pub(super) fn has_one(&self) -> bool {
        self.member.as_ref().is_some_and(|member| member.has_one.is_some())
    }
}

impl BookingInput {
    /// Whether the clerk chooses whom the typed text means.
    pub(super) fn is_unclear(&self) -> bool {
        matches!(self.problem, Some("desk.book_several" | "desk.book_similar"))
    }

    /// Whether nobody matches what was typed.
    pub(super) fn is_unknown(&self) -> bool {
        self.problem == Some("desk.walk_in_nobody")
    }
}

/// The form for the member `member_id`, if any, with the values of a form that was refused, if any.
pub(super) fn build(
    site: &Site,
    call: &Call,
    (zone, day, is_today): (&TimeZone, Day, bool),
    member_id: Option<MemberId>,
    refused: Option<BookingInput>,
) -> Result<BookingForm, Failure> {
    let (now, usual) = (site.now(), site.config.usual_minutes.clone());
    let empty = || BookingInput {
        member: String::new(),
        minutes: String::new(),
        usual: usual.iter().copied().find(|one| *one == USUAL_FIRST).or(usual.first().copied()).unwrap_or(0),
        day: if is_today { String::new() } else { zone.date(day.from) },
        clock: zone.clock(now.rounded_down(STEP_SECONDS) + STEP_SECONDS),
        number: new_form_number(),
        beside: None,
        full_quarter: None,
        problem: None,
    };
    let named = refused.as_ref().filter(|sent| !sent.is_unclear());
    let member_id = member_id.or_else(|| named.and_then(|sent| sent.member.parse().ok()));
    let member = site.store.read(|tx| match member_id {
        Some(member_id) => member(site, tx, call, member_id, (zone, day, is_today)),
        None => Ok(None),
    })?;
    let sent = refused.unwrap_or_else(empty);
    let chosen = if sent.minutes.is_empty() { sent.usual } else { 0 };
    Ok(BookingForm { member, usual, chosen, sent, is_today })
}

fn member(
    site: &Site,
    tx: &Read,
    call: &Call,
    member_id: MemberId,
    (zone, day, is_today): (&TimeZone, Day, bool),
) -> Result<Option<FormMember>, Failure> {
    let Some(name) = name_of(tx, member_id)? else { return Ok(None) };
    let (now, language) = (site.now(), call.language());
    let account: Standing = members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let flyer = standing::read(tx, member_id, now)?;
    let denial = admit(&Standing { email_confirmed: true, ..account }, site.config.yearly_fee_cents, now).err();
    let lapsed = flyer.holds_flyer_1 && !flyer.currency.flyer.current;
    let warning = match denial {
        Some(Denial::Banned) => Some("desk.book_banned"),
        Some(Denial::Unpaid) => Some("desk.book_unpaid"),
        _ => lapsed.then_some("desk.book_lapsed"),
    };
    let badges = badge::member_status(site, tx, member_id, now, language)?.badges;
    Ok(Some(FormMember {
        member_id,
        name,
        badges,
        warning,
        unpaid: denial == Some(Denial::Unpaid),
        denied: denial.is_some(),
        has_one: bookings::find_on_day(site, tx, member_id, day.to - 1)?.map(|one| OnDay {
            booking_id: one.booking_id,
            when: format!("{} · {} min", zone.clock(one.flight_date), one.minutes_booked),
            may_check_in: is_today && one.arrived_at.is_none() && !account.banned,
        }),
    }))
}
