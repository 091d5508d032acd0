//! The clerk's own passkeys: add, remove.

use super::{PATH, Problem, page};
use crate::app;
use crate::auth::passkey::{self as ceremony, Intent, Label, Outcome, RelyingParty};
use crate::auth::{Clerk, limits};
use crate::domain::passkey;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::{CREDENTIAL_CHARS_MAX, read_form};
use serde_json::json;

const NAME_CHARS_MAX: usize = 60;

/// `POST /desk/account/passkeys/question`: the challenge for a new passkey, as JSON for the script of the page.
pub(crate) fn begin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let name = read_form(call, |form| form.optional("name", fields::line(NAME_CHARS_MAX)))?;
    clerk.check_proven(site.now())?;
    let party = RelyingParty::of(site, call)?;
    limits::PASSKEYS.take(site, call.network())?;
    let user_agent = call.header("user-agent").unwrap_or("");
    let label = Label { name: name.unwrap_or_else(|| passkey::name_from(user_agent)), device_id: None };
    let question = ceremony::start_registration(site, &party, (clerk.id(), clerk.session()), label)?;
    app::change(site, clerk, call.language(), |cx| question.store(cx.tx))?;
    Ok(reply::ok(&json!({ "publicKey": question.public_key })))
}

/// `POST /desk/account/passkeys`: registers a passkey with the browser's answer.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (credential, name) = read_form(call, |form| {
        (form.optional("credential", fields::lines(CREDENTIAL_CHARS_MAX)), form.line("name", NAME_CHARS_MAX))
    })?;
    let refused = || {
        let problem = Problem { part: "passkeys", text: call.say("account.passkey_refused"), typed: name.clone() };
        page(site, call, clerk, Some(problem), None)
    };
    let Some(answer) = ceremony::check_response(site, call, &credential.unwrap_or_default(), Intent::SignIn)? else {
        return refused();
    };
    // A response that signs in opens nothing here.
    match app::change(site, clerk, call.language(), |cx| ceremony::apply(site, call, cx.tx, &answer))? {
        Outcome::Registered(account) if account.member_id == clerk.id() => {
            Ok(reply::see_other(&format!("{PATH}?done=passkey")))
        }
        _ => refused(),
    }
}

/// `POST /desk/account/passkeys/remove`: removes a passkey and ends all other sessions.
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let passkey_id = read_form(call, |form| form.required("passkey", fields::id))?;
    clerk.check_proven(site.now())?;
    let owner = (clerk.id(), clerk.session());
    match app::change(site, clerk, call.language(), |cx| ceremony::remove(site, call, cx.tx, owner, passkey_id))? {
        true => Ok(reply::see_other(&format!("{PATH}?done=removed"))),
        false => Err(Failure::not_found()),
    }
}
