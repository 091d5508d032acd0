//! The member's passkeys: add, remove.

use super::{PATH, Problem, page, prove, refuse};
use crate::app;
use crate::app::own_passkeys::{self, NAME_CHARS_MAX};
use crate::auth::{Member, passkey as ceremony};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::{CREDENTIAL_CHARS_MAX, read_form, refused_form};
use serde_json::json;

/// The part of the page that a problem belongs to.
const PART: &str = "passkeys";

/// `POST /me/account/security/passkeys/question`: the challenge for a new passkey, as JSON for the script of the page.
pub(crate) fn begin(site: &Site, call: &Call, member: &Member) -> Answer {
    let name = read_form(call, |form| form.optional("name", fields::line(NAME_CHARS_MAX)))?;
    if let Some(asks) = prove::demand(site, member, PATH) {
        return Ok(asks);
    }
    let options = own_passkeys::begin(site, call, member, (member.id(), member.session()), name)?;
    Ok(reply::ok(&json!({ "publicKey": options })))
}

/// `POST /me/account/security/passkeys`: registers a passkey with the browser's answer.
pub(crate) fn add(site: &Site, call: &Call, member: &Member) -> Answer {
    let (credential, name) = read_form(call, |form| {
        (form.optional("credential", fields::lines(CREDENTIAL_CHARS_MAX)), form.line("name", NAME_CHARS_MAX))
    })?;
    if let Some(asks) = prove::demand(site, member, PATH) {
        return Ok(asks);
    }
    if own_passkeys::add(site, call, member, member.id(), &credential.unwrap_or_default())? {
        return Ok(reply::see_other(&format!("{PATH}?done=passkey")));
    }
    let text = call.say("me.passkey_not_added");
    page(site, call, member, Some(Problem { part: PART, text, typed: name }))
}

/// `POST /me/account/security/passkeys/remove`: removes a passkey and ends the member's other sessions. One that is
/// gone was removed before, and nothing is said to be done.
pub(crate) fn remove(site: &Site, call: &Call, member: &Member) -> Answer {
    let passkey_id = read_form(call, |form| form.required("passkey", fields::id))?;
    if let Some(asks) = prove::demand(site, member, PATH) {
        return Ok(asks);
    }
    let owner = (member.id(), member.session());
    let removed =
        app::change(site, member, call.language(), |cx| ceremony::remove(site, call, cx.tx, owner, passkey_id));
    match removed {
        Ok(true) => Ok(reply::see_other(&format!("{PATH}?done=removed"))),
        Ok(false) => Ok(reply::see_other(PATH)),
        Err(failure) => refused_form(failure, call, |text| refuse(site, call, member, PART, text)),
    }
}
