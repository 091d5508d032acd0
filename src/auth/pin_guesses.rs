//! Wrong PINs by one partner's key, over all members. Members mistype some PINs at a partner; a thief of the partner's key
//! would guess a few PINs of each member, below the number that pauses one member's PIN.

use super::limits;
use crate::domain::audit::{Actor, ActorId, Detail, Subject};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::throttles::{self, ThrottleKey};
use crate::store::tables::{audit, partners};
use crate::store::{Read, Write};

/// The seconds for which every PIN that a partner sends is refused as a wrong one; 0: no pause.
pub(crate) fn paused_for(site: &Site, tx: &Read, partner_id: i64, now: i64) -> Result<i64, Failure> {
    Ok(throttles::closed_for(tx, &key(site, partner_id), now)?)
}

/// Counts a wrong PIN. The beginning of a pause is audited.
pub(crate) fn record_wrong_pin(site: &Site, call: &Call, tx: &Write, partner_id: i64) -> Result<(), Failure> {
    if throttles::add_to_bucket(tx, &key(site, partner_id), limits::PARTNER_PINS.bucket())? == 0 {
        return Ok(());
    }
    let client_id = partners::find_by_id(tx, partner_id)?.ok_or_else(Failure::broken)?.client_id;
    let detail = Detail::none().number("minutes", limits::PARTNER_PINS.seconds() / 60);
    let actor = Actor::caller(ActorId::Partner(client_id.clone()), call.peer);
    audit::insert(tx, &actor, "partner.paused", &Subject::Partner(client_id), &detail)?;
    Ok(())
}

/// How many partners are paused.
pub(crate) fn count_paused(site: &Site, tx: &Read, now: i64) -> Result<i64, Failure> {
    let mut paused = 0;
    for partner in partners::list(tx)? {
        paused += i64::from(paused_for(site, tx, partner.partner_id, now)? > 0);
    }
    Ok(paused)
}

fn key(site: &Site, partner_id: i64) -> ThrottleKey {
    site.keys.hash(Purpose::Throttle, &[b"PINs by partner", &partner_id.to_be_bytes()])
}
