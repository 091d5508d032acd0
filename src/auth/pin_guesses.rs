//! Wrong PINs by one partner's key, over all members. A partner reads PINs that members tell it, so some are wrong; whoever
//! has stolen the key guesses a few PINs of each member, below what pauses one member's PIN.

use super::idempotency;
use crate::domain::audit::{Detail, Origin, Who, Whom};
use crate::domain::throttle::Drained;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::throttles::{self, ThrottleKey};
use crate::store::tables::{audit, partners};
use crate::store::{Read, Write};

/// For how many seconds every PIN of a partner's gets the answer of a wrong one; 0: not at all.
pub(crate) fn paused_for(site: &Site, tx: &Read, partner_id: i64, now: i64) -> Result<i64, Failure> {
    Ok(throttles::closed_for(tx, &key(site, partner_id), now)?)
}

/// Counts a wrong PIN. The one that begins a pause is in the audit log.
pub(crate) fn record_wrong_pin(site: &Site, call: &Call, tx: &Write, partner_id: i64) -> Result<(), Failure> {
    if throttles::miss_drained(tx, &key(site, partner_id), Drained::PARTNER_PINS)? == 0 {
        return Ok(());
    }
    let client_id = partners::find_by_id(tx, partner_id)?.ok_or_else(Failure::broken)?.client_id;
    let detail = Detail::none().number("minutes", Drained::PARTNER_PINS.pause_seconds / 60);
    let (who, whom) = (Who::Partner(client_id.clone()), Whom::Partner(client_id));
    audit::insert(tx, &who, "partner.paused", &whom, &Origin::Address(call.peer), &detail)?;
    Ok(())
}

/// The answer to this call leaves nothing behind, not even under its `Idempotency-Key`: a pause that wrote would fill the
/// disk as fast as guesses come.
pub(crate) fn leave_no_trace(call: &Call) {
    idempotency::store_no_answer(call);
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
