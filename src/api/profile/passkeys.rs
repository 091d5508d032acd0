//! A member's own passkeys.

use crate::app;
use crate::auth::{Member, passkey};
use crate::domain::ids::PasskeyId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Done};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::passkeys;
use serde_json::json;

crate::answer! {
    struct Passkey {
        passkey_id: PasskeyId = 3,
        name: String = "Telephone",
        /// The client's own number of the device.
        device_id: Option<i64> = 7,
        /// When it was made.
        created_at: Moment = 1780000000,
        /// When it last signed in.
        last_used: Option<Moment>,
    }
}

impl From<passkeys::Passkey> for Passkey {
    fn from(passkey: passkeys::Passkey) -> Passkey {
        Passkey {
            passkey_id: passkey.passkey_id,
            name: passkey.name,
            device_id: passkey.device_id,
            created_at: passkey.created_at,
            last_used: passkey.used_at,
        }
    }
}

crate::answer! {
    /// Passkeys, newest first.
    struct PasskeyList = Vec<Passkey>;
}

crate::operation! {
    /// The member's passkeys
    ///
    /// With the name that the member gave each, when it was made, and when it was last used.
    LIST = "listPasskeys"
        .answers::<PasskeyList>("The passkeys.")
}

pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let rows = passkeys::list(tx, member.id(), page.limit, page.offset)?;
        let total = passkeys::count(tx, member.id())?;
        Ok(reply::list(call, page, total, rows.into_iter().map(Passkey::from)))
    })
}

crate::operation! {
    /// Remove a passkey
    ///
    /// Removes the passkey and ends every other session of the member, because the device may be lost.
    DELETE = "deletePasskey"
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "The passkey is removed, and all other devices are signed out." }))
}

pub(crate) fn delete(site: &Site, call: &Call, member: &Member) -> Answer {
    let passkey_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    member.check_proven(site.now())?;
    app::change(site, member, call.language(), |cx| {
        match passkey::remove(site, call, cx.tx, (member.id(), member.session()), passkey_id)? {
            true => Ok(()),
            false => Err(Failure::not_found()),
        }
    })?;
    Ok(reply::done(call.say("passkey.removed")))
}
