//! Passkeys: the questions to the browser, and its answers.

use super::login::{self, LoginReply};
use crate::auth::Rates;
use crate::auth::passkey as ceremony;
use crate::auth::passkey::{Intent, Label, Outcome, Party, Question};
use crate::auth::{Caller, Member, Pace, member_if_any};
use crate::domain::passkey;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use serde::Serialize;
use serde_json::Value;

/// More than any authenticator's answer, within what a body may have.
const CREDENTIAL_CHARS_MAX: usize = 60_000;

/// What a question to sign in may be asked for.
const PURPOSES: &str = "sign_in, desk, kiosk, sign_entry";

#[derive(Serialize)]
struct OptionsReply<'a> {
    status: bool,
    /// What `navigator.credentials` takes, its bytes in base64url.
    #[serde(rename = "publicKey")]
    public_key: &'a Value,
}

/// `POST /auth/login/bio-web-option`: without a session, what to ask a browser for to sign in as `username`; with one,
/// what to ask it for to make the caller a passkey, kept under `device_id`.
// Not shown in the contract: `name`, because a list of passkeys without names says nothing to its owner.
pub fn options(site: &Site, call: &Call) -> Answer {
    let body = call.fields()?;
    match member_if_any(site, call)? {
        Some(member) => to_register(site, call, body, &member),
        None => to_sign_in(site, call, body),
    }
}

fn to_sign_in(site: &Site, call: &Call, mut body: Fields) -> Answer {
    let username = body.required("username", fields::line(254));
    _ = body.optional("device_id", fields::whole);
    let entry_id = body.optional("entry_id", fields::id);
    let entry = entry_id.peek().copied().flatten();
    let wanted = body.optional("purpose", fields::as_line(|name| intent(name, entry)));
    let ok = body.finish()?;
    let (username, intent) = (username.get(&ok), wanted.get(&ok).unwrap_or_default());
    let party = admit(site, call)?;
    ask(site, call, &ceremony::ask_to_sign_in(site, &party, &username, intent)?)
}

/// Not shown in the contract: `purpose`, because an answer that was given to sign an entry must not sign anybody in.
fn intent(name: &str, entry_id: Option<i64>) -> Result<Intent, Text> {
    match (name, entry_id) {
        ("sign_in", _) => Ok(Intent::SignIn),
        ("desk", _) => Ok(Intent::Desk),
        ("kiosk", _) => Ok(Intent::Kiosk),
        ("sign_entry", Some(entry_id)) => Ok(Intent::SignEntry(entry_id)),
        ("sign_entry", None) => Err(Text::new("passkey.entry_missing")),
        _ => Err(Text::new("field.one_of").with("values", PURPOSES)),
    }
}

fn to_register(site: &Site, call: &Call, mut body: Fields, member: &Member) -> Answer {
    _ = body.optional("username", fields::line(254));
    let device_id = body.optional("device_id", fields::whole);
    let name = body.optional("name", fields::line(60));
    let ok = body.finish()?;
    member.check_proven(site.now())?;
    let party = admit(site, call)?;
    let user_agent = call.header("user-agent").unwrap_or("");
    let name = name.get(&ok).unwrap_or_else(|| passkey::name_from(user_agent));
    let label = Label { name, device_id: device_id.get(&ok) };
    ask(site, call, &ceremony::ask_to_register(site, &party, member, label)?)
}

/// Each question leaves a row for a while, so an address may ask so many; and where it asks, passkeys must work.
fn admit(site: &Site, call: &Call) -> Result<Party, Failure> {
    let party = Party::of(site, call)?;
    let pace = Pace::per_minute(site.config.limits.passkey_questions_per_minute_per_address);
    site.kept::<Rates>().take(Caller::PasskeysFrom(call.network()), pace)?;
    Ok(party)
}

fn ask(site: &Site, call: &Call, question: &Question) -> Answer {
    site.once(call, |tx| {
        question.keep(tx)?;
        Ok(reply::ok(&OptionsReply { status: true, public_key: &question.public_key }))
    })
}

/// `POST /auth/login/bio-web-verify`: the browser's answer, as JSON text: signs in, or keeps the new passkey.
pub fn verify(site: &Site, call: &Call) -> Answer {
    let mut body = call.fields()?;
    let credential = body.required("credential", fields::lines(CREDENTIAL_CHARS_MAX));
    let ok = body.finish()?;
    let refused = || login::refused(call.say("passkey.refused"));
    let Some(answer) = ceremony::read(site, call, &credential.get(&ok), Intent::SignIn)? else { return Ok(refused()) };
    site.once(call, |tx| {
        Ok(match ceremony::settle(site, call, tx, &answer)? {
            Outcome::Refused => refused(),
            Outcome::SignedIn(account, opened) => login::signed_in(site, call, &account, opened),
            // Not shown in the contract: no new token, because the caller has the session that asked.
            Outcome::Registered(account) => reply::ok(&LoginReply {
                status: true,
                token: String::new(),
                confirmation_pending: if account.email_confirmed { 0 } else { 1 },
                message: call.say("passkey.registered"),
                member_id: account.member_id,
                step_token: None,
            }),
        })
    })
}
