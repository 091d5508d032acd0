//! The PIN that books tunnel time.

use crate::auth::{Member, pin};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::keys::random;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members;
use serde::Serialize;

const PINS: u64 = 1_000_000;

#[derive(Serialize)]
struct PinReply {
    status: bool,
    message: String,
    /// Six digits.
    pin: String,
}

/// `POST /account/profile/booking-pin`: a new PIN; the old one is dead.
pub fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    site.once(call, |tx| {
        let pin = renew(site, tx, member.id())?;
        Ok(reply::created(&PinReply { status: true, message: call.say("done.pin"), pin }))
    })
}

/// A new PIN of the member's; only its hash is kept.
pub fn renew(site: &Site, tx: &Write, member_id: i64) -> Result<String, Failure> {
    // Taken modulo a million from 64 bits: no PIN is likelier than another by more than one in 10^13.
    let new = format!("{:06}", u64::from_be_bytes(random::<8>()) % PINS);
    members::set_pin(tx, member_id, &pin::hash(site, member_id, &new))?;
    Ok(new)
}
