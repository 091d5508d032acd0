//! Wrong booking PINs: those of one member, which pause the PIN, and those by one partner's key, over all members. Members
//! mistype some PINs at a partner; a thief of the partner's key would guess a few PINs of each member, below the number that
//! pauses one member's PIN.

use super::counted::Counter;
use crate::domain::audit::{Actor, ActorId, Detail, Subject};
use crate::domain::ids::{MemberId, PartnerId};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::{audit, notices, partners};
use crate::store::{Read, Write};
use serde_json::json;

/// Whether every PIN for a member is refused as a wrong one.
pub(crate) fn is_paused(site: &Site, tx: &Read, member_id: MemberId, now: Moment) -> Result<bool, Failure> {
    Ok(of_member(site, member_id).full_until(tx, now)?.is_some())
}

/// Counts a wrong PIN of a member. The beginning of a pause is told to the member.
pub fn count_wrong(site: &Site, tx: &Write, member_id: MemberId) -> Result<(), Failure> {
    let pause = of_member(site, member_id).count(tx)?;
    if pause > 0 {
        notices::insert(tx, member_id, "notice.pin_paused", &json!({ "minutes": pause / 60 }).to_string())?;
    }
    Ok(())
}

/// Begins the count of a member's wrong PINs anew, after a right one or with a new PIN.
pub(crate) fn forget(site: &Site, tx: &Write, member_id: MemberId) -> Result<(), Failure> {
    of_member(site, member_id).forget(tx)
}

/// The seconds for which every PIN that a partner sends is refused as a wrong one; 0: no pause.
pub(crate) fn partner_paused_for(site: &Site, tx: &Read, partner_id: PartnerId, now: Moment) -> Result<i64, Failure> {
    Ok(of_partner(site, partner_id).full_until(tx, now)?.map_or(0, |until| until - now))
}

/// Counts a wrong PIN by a partner. The beginning of a pause is audited.
pub(crate) fn count_wrong_by_partner(
    site: &Site,
    call: &Call,
    tx: &Write,
    partner_id: PartnerId,
) -> Result<(), Failure> {
    let pause = of_partner(site, partner_id).count(tx)?;
    if pause == 0 {
        return Ok(());
    }
    let client_id = partners::find_by_id(tx, partner_id)?.ok_or_else(Failure::broken)?.client_id;
    let actor = Actor::caller(ActorId::Partner(client_id.clone()), call.peer);
    let detail = Detail::none().number("minutes", pause / 60);
    audit::insert(tx, &actor, "partner.paused", &Subject::Partner(client_id), &detail)?;
    Ok(())
}

/// How many partners are paused.
pub(crate) fn count_paused_partners(site: &Site, tx: &Read, now: Moment) -> Result<i64, Failure> {
    let mut paused = 0;
    for partner in partners::list(tx)? {
        paused += i64::from(partner_paused_for(site, tx, partner.partner_id, now)? > 0);
    }
    Ok(paused)
}

fn of_member(site: &Site, member_id: MemberId) -> Counter {
    let counter = Counter::new(site, super::BOOKING_PINS, &[b"booking PIN", &member_id.0.to_be_bytes()]);
    counter.of_account(site, member_id)
}

fn of_partner(site: &Site, partner_id: PartnerId) -> Counter {
    Counter::new(site, super::PARTNER_PINS, &[b"PINs by partner", &partner_id.0.to_be_bytes()])
}
