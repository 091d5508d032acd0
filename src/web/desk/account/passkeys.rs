//! The clerk's own passkeys: add, remove.

use super::{PATH, Problem, page};
use crate::app;
use crate::app::own_passkeys::{self, NAME_CHARS_MAX};
use crate::auth::Clerk;
use crate::auth::passkey as ceremony;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::{CREDENTIAL_CHARS_MAX, read_form};
use serde_json::json;

/// `POST /desk/account/passkeys/question`: the challenge for a new passkey, as JSON for the script of the page.
pub(crate) fn begin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let name = read_form(call, |form| form.optional("name", fields::line(NAME_CHARS_MAX)))?;
    let options = own_passkeys::begin(site, call, clerk, (clerk.id(), clerk.session()), name)?;
    Ok(reply::ok(&json!({ "publicKey": options })))
}

/// `POST /desk/account/passkeys`: registers a passkey with the browser's answer.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (credential, name) = read_form(call, |form| {
        (form.optional("credential", fields::lines(CREDENTIAL_CHARS_MAX)), form.line("name", NAME_CHARS_MAX))
    })?;
    if own_passkeys::add(site, call, clerk, clerk.id(), &credential.unwrap_or_default())? {
        return Ok(reply::see_other(&format!("{PATH}?done=passkey")));
    }
    let problem = Problem { part: "passkeys", text: call.say("account.passkey_refused"), typed: name };
    page(site, call, clerk, Some(problem), None)
}

/// `POST /desk/account/passkeys/remove`: removes a passkey and ends all other sessions.
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let passkey_id = read_form(call, |form| form.required("passkey", fields::id))?;
    let owner = (clerk.id(), clerk.session());
    match app::change(site, clerk, call.language(), |cx| ceremony::remove(site, call, cx.tx, owner, passkey_id))? {
        true => Ok(reply::see_other(&format!("{PATH}?done=removed"))),
        false => Err(Failure::not_found()),
    }
}
