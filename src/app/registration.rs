//! New members at the desk: registered by a clerk, and optionally booked and checked in.

use super::alike::{self, Told};
use super::bookings::{self, DeskBooking, Full};
use super::{Change, Outcome, family, signup};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::waiver::Relation;
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::store::tables::account_claims::{self, Alike};
use crate::store::tables::members;

/// The data of a person at the desk who becomes a member. Unknown fields are empty.
#[derive(Debug)]
pub(crate) struct Registration<'a> {
    pub(crate) real_name: &'a str,
    pub(crate) email: &'a str,
    /// Midnight UTC of the day of birth, in Unix seconds.
    pub(crate) dob: Option<Moment>,
    /// The telephone number in E.164.
    pub(crate) phone: &'a str,
    pub(crate) language: Language,
    /// Minutes of a flight now; `None`: only the account.
    pub(crate) minutes: Option<i64>,
    /// The begin of a quarter of an hour of which the clerk knows that it is full.
    pub(crate) full_quarter: Option<Moment>,
    /// The parent beside whom a child is registered.
    pub(crate) child_of: Option<MemberId>,
    /// Identifies the form, so that a form that is sent twice registers one member.
    pub(crate) form_number: i64,
    /// Whether the clerk saw the possible duplicates and says that this is another person.
    pub(crate) is_somebody_else: bool,
}

/// Why the registration is refused.
#[derive(Debug)]
pub(crate) enum Denial {
    /// A member has confirmed the e-mail address.
    EmailTaken(Alike),
    /// The members who may be the same person.
    Alike(Vec<Alike>),
    /// The form was sent before with other content, and made this member, who stays as they are.
    SentBefore(Alike),
    /// The quarter of an hour has no room for the flight, and the clerk was not asked about it.
    Full(Full),
}

/// Creates an account for a person who accepted the terms; with minutes, also a booking for now with its check-in,
/// which requires no confirmed address, because the clerk sees the person. A child's parent may act for it from then on; 422 names
/// what is wrong with that. The same form sent again returns the same
/// member; with other content it is refused: a browser that goes back keeps the number of the form. The owner chooses a password with a mailed link or a printed code. Audited. Returns the member's number.
pub(crate) fn register(cx: &Change, registration: &Registration) -> Result<MemberId, Stop<Denial>> {
    cx.check_staff()?;
    if let Some(member_id) = account_claims::find_registered(cx.tx, registration.form_number)? {
        let known = account_claims::find_alike(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
        let is_same = is_same(cx, registration, member_id)?;
        return if is_same { Ok(member_id) } else { Err(Stop::Denied(Denial::SentBefore(known))) };
    }
    if let Some(denial) = find_alike(cx, registration)? {
        return Err(Stop::Denied(denial));
    }
    if let Some(minutes) = registration.minutes {
        let placed = bookings::place(cx, cx.now(), minutes, registration.full_quarter);
        placed.map_err(|stop| stop.map(Denial::Full))?;
    }
    let new = members::NewMember {
        real_name: registration.real_name,
        email: registration.email,
        phone: registration.phone,
        dob: registration.dob,
        tunnel_id: Some(cx.site.tunnel_id),
        ..members::NewMember::default()
    };
    let member_id = signup::create(cx, new, Some(registration.language), &[], registration.form_number)?;
    account_claims::insert_registration(cx.tx, registration.form_number, member_id, cx.member_id())?;
    cx.record("member.added", &Subject::Member(member_id), &Detail::none().flag("desk", true))?;
    if let Some(parent_id) = registration.child_of {
        let _: Outcome = family::add(cx, member_id, parent_id, Relation::Parent, "")?;
    }
    if let Some(minutes) = registration.minutes {
        let number = registration.form_number;
        let full_quarter = Some(bookings::begin_of(cx.now()));
        let wanted = DeskBooking { member_id, minutes_booked: minutes, number, beside: None, full_quarter };
        // A new member is neither banned nor owes a fee, and has no booking; the room was asked about above.
        let booked = bookings::book_here_now(cx, &wanted);
        booked.map_err(|stop| stop.into_failure(|why| Failure::broken().because(format_args!("{why:?}"))))?;
    }
    Ok(member_id)
}

/// Whether the member whom a form made is the one that the form names now, with the same flight.
fn is_same(cx: &Change, registration: &Registration, member_id: MemberId) -> Result<bool, Failure> {
    let made = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    let booked = bookings::find_of_desk(cx, registration.form_number)?;
    let booked = booked.map(|booked| booked.as_sent().minutes_booked);
    Ok((&*made.real_name, &*made.email, &*made.phone, made.dob, booked)
        == (registration.real_name, registration.email, registration.phone, registration.dob, registration.minutes))
}

fn find_alike(cx: &Change, registration: &Registration) -> Result<Option<Denial>, Failure> {
    let Registration { real_name, email, dob, phone, .. } = *registration;
    let alike = alike::list(cx.tx, Told { real_name, email, dob, phone })?;
    let owns = |one: &&Alike| one.email_confirmed && !email.is_empty() && one.email.eq_ignore_ascii_case(email);
    if let Some(owner) = alike.first().filter(owns) {
        return Ok(Some(Denial::EmailTaken(owner.clone())));
    }
    Ok((!alike.is_empty() && !registration.is_somebody_else).then_some(Denial::Alike(alike)))
}
