//! A member's own passkeys.

use crate::app;
use crate::auth::{Member, passkey};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::passkeys::{self, Passkey};
use serde::Serialize;

#[derive(Serialize)]
struct PasskeyReply {
    passkey_id: i64,
    name: String,
    device_id: Option<i64>,
    created_at: i64,
    last_used: Option<i64>,
}

impl From<Passkey> for PasskeyReply {
    fn from(passkey: Passkey) -> PasskeyReply {
        PasskeyReply {
            passkey_id: passkey.passkey_id,
            name: passkey.name,
            device_id: passkey.device_id,
            created_at: passkey.created_at,
            last_used: passkey.used_at,
        }
    }
}

/// `GET /account/profile/passkeys`: the caller's passkeys, newest first.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let rows = passkeys::list(tx, member.id(), page.limit, page.offset)?;
        let total = passkeys::count(tx, member.id())?;
        Ok(reply::list(call, page, total, rows.into_iter().map(PasskeyReply::from)))
    })
}

/// `DELETE /account/profile/passkeys/{passkey_id}`: removes the passkey, and ends the member's other sessions, because the
/// device may be lost. 403 without a recent proof of identity; 404 where the caller has no such passkey.
pub(crate) fn delete(site: &Site, call: &Call, member: &Member) -> Answer {
    let passkey_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    member.check_proven(site.now())?;
    app::change(site, member, call.mail_language(), |cx| {
        match passkey::remove(site, call, cx.tx, (member.id(), member.session()), passkey_id)? {
            true => Ok(()),
            false => Err(Failure::not_found()),
        }
    })?;
    Ok(reply::done(call.say("passkey.removed")))
}
