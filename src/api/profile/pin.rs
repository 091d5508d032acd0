//! The PIN that books tunnel time.

use crate::call::Call;
use crate::gate::{Member, pin};
use crate::keys::random;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::members;
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
    // Taken modulo a million from 64 bits: no PIN is likelier than another by more than one in 10^13.
    let new = format!("{:06}", u64::from_be_bytes(random::<8>()) % PINS);
    site.once(call, |tx| {
        members::set_pin(tx, member.id(), &pin::hash(site, member.id(), &new))?;
        Ok(reply::created(&PinReply { status: true, message: call.say("done.pin"), pin: new.clone() }))
    })
}
