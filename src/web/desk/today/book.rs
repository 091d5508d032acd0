//! The form that books: for a member who was found, or for one who is named in it.

use crate::domain::booking::{Denial, Standing, admit};
use crate::domain::local_time::{Day, TimeZone};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::keys::random;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::members;
use crate::web::called;
use crate::web::mark::{self, Mark};

/// The minutes that people book most, each a button of its own.
const USUAL: [i64; 6] = [5, 10, 12, 15, 20, 30];
/// Chosen unless another is.
const USUAL_FIRST: i64 = 10;
/// A walk-in flies at the next full five minutes.
const STEP_SECONDS: i64 = 300;

/// The form as it is shown.
pub(super) struct Book {
    /// Whom it books, where that is known.
    pub(super) whom: Option<Whom>,
    pub(super) usual: [i64; 6],
    /// Of those, which is chosen; 0 where other minutes were typed.
    pub(super) chosen: i64,
    pub(super) sent: Sent,
    /// Whether somebody can be here now: the page shows today.
    pub(super) is_today: bool,
}

/// The form as it was filled in.
pub(crate) struct Sent {
    /// A number, a username, an e-mail address or a name.
    pub(crate) member: String,
    /// Other minutes than the usual ones.
    pub(crate) minutes: String,
    pub(crate) usual: i64,
    /// `2026-11-24`; empty: today.
    pub(crate) day: String,
    /// `14:30`, by the site's clock.
    pub(crate) clock: String,
    /// By which the same form sent twice is known.
    pub(crate) number: i64,
    pub(crate) problem: Option<&'static str>,
}

/// A member and what is in the way of a booking.
pub(super) struct Whom {
    pub(super) member_id: i64,
    pub(super) name: String,
    pub(super) marks: Vec<Mark>,
    /// The obstacle to a booking, and whether a payment removes it.
    pub(super) warning: Option<&'static str>,
    pub(super) unpaid: bool,
    pub(super) denied: bool,
}

impl Sent {
    /// Whether it was not clear who is meant.
    pub(super) fn is_unclear(&self) -> bool {
        self.problem == Some("desk.book_several")
    }
}

/// For the member of that number, where the address names one; as it was sent, where that was refused.
pub(super) fn of(
    site: &Site,
    call: &Call,
    (zone, day, is_today): (&TimeZone, Day, bool),
    member_id: Option<i64>,
    refused: Option<Sent>,
) -> Result<Book, Failure> {
    let now = site.now();
    let empty = || Sent {
        member: String::new(),
        minutes: String::new(),
        usual: USUAL_FIRST,
        day: if is_today { String::new() } else { zone.date(day.from) },
        clock: zone.clock(now + STEP_SECONDS - now.rem_euclid(STEP_SECONDS)),
        // Positive, and exact in every program that reads numbers as floats.
        number: i64::from(u32::from_ne_bytes(random())) + 1,
        problem: None,
    };
    let named = refused.as_ref().filter(|sent| sent.problem != Some("desk.book_several"));
    let member_id = member_id.or_else(|| named.and_then(|sent| sent.member.parse().ok()));
    let whom = site.store.read(|tx| match member_id {
        Some(member_id) => whom(site, tx, call, member_id),
        None => Ok(None),
    })?;
    let sent = refused.unwrap_or_else(empty);
    let chosen = if sent.minutes.is_empty() { sent.usual } else { 0 };
    Ok(Book { whom, usual: USUAL, chosen, sent, is_today })
}

fn whom(site: &Site, tx: &Read, call: &Call, member_id: i64) -> Result<Option<Whom>, Failure> {
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
    let marks = mark::of(site, tx, member_id, now, language)?.marks;
    Ok(Some(Whom { member_id, name, marks, warning, unpaid: denial == Some(Denial::Unpaid), denied: denial.is_some() }))
}

/// The name of a member as people use it.
pub(crate) fn name_of(tx: &Read, member_id: i64) -> Result<Option<String>, Failure> {
    let profile = members::find(tx, member_id)?;
    Ok(profile.map(|one| called(&one.real_name, &one.screen_name, &one.username).to_owned()))
}

/// Why it is not clear whom a clerk means.
pub(crate) enum Unclear {
    Nobody,
    /// A username may be another member's number.
    Two,
}

/// The member that a clerk means by a number, a username or an e-mail address.
pub(crate) fn find_member(tx: &Read, typed: &str) -> Result<Result<i64, Unclear>, Failure> {
    let number = typed.parse::<i64>().ok();
    let by_number = number.map(|id| members::find_account_by_id(tx, id)).transpose()?.flatten();
    let by_name = members::find_account(tx, typed)?;
    Ok(match (by_number.map(|one| one.member_id), by_name.map(|one| one.member_id)) {
        (Some(one), Some(other)) if one != other => Err(Unclear::Two),
        (Some(member_id), _) | (None, Some(member_id)) => Ok(member_id),
        (None, None) => Err(Unclear::Nobody),
    })
}
