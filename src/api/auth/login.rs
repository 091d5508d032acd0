//! Sign-in by password.

use crate::call::Call;
use crate::domain::password;
use crate::fields;
use crate::gate::sign_in::{self, Verdict};
use crate::language::Text;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::members::Account;
use serde::Serialize;

const PASSCODE_OPTIONS: [&str; 3] = ["email", "sms", "totp"];

/// The contract's login response. `confirmationPending`: 0 nothing, 1 the e-mail address is not confirmed.
#[derive(Serialize)]
pub(super) struct LoginReply {
    pub status: bool,
    pub token: String,
    #[serde(rename = "confirmationPending")]
    pub confirmation_pending: i64,
    pub message: String,
    pub member_id: i64,
}

/// `POST /auth/login`: a session for a username (or e-mail address) and a password.
pub fn with_password(site: &Site, call: &Call) -> Answer {
    let mut body = call.fields()?;
    let username = body.required("username", fields::line(254));
    let secret = body.required("password", fields::secret);
    let check = body.optional("checkTwoFactor", fields::flag);
    let option = body.optional("passcodeOption", fields::as_line(passcode_option));
    let ok = body.finish()?;
    // A member without a second factor is signed in at once, whatever these two say; nobody has one yet.
    _ = (check.get(&ok), option.get(&ok));
    sign_in(site, call, &username.get(&ok), &secret.get(&ok))
}

/// `POST /auth/login/silent`: the same check, for an app that renews its session.
pub fn silent(site: &Site, call: &Call) -> Answer {
    let mut body = call.fields()?;
    let username = body.required("username", fields::line(254));
    let secret = body.required("password", fields::secret);
    let ok = body.finish()?;
    sign_in(site, call, &username.get(&ok), &secret.get(&ok))
}

fn passcode_option(text: &str) -> Result<String, Text> {
    let known = PASSCODE_OPTIONS.contains(&text);
    known.then(|| text.to_owned()).ok_or_else(|| Text::new("field.one_of").with("values", PASSCODE_OPTIONS.join(", ")))
}

fn sign_in(site: &Site, call: &Call, name: &str, secret: &str) -> Answer {
    match sign_in::judge(site, call, name, secret)? {
        Verdict::Wrong => Ok(refused(call.say("sign_in.wrong"))),
        Verdict::Right(account) if account.banned => Ok(refused(call.say("sign_in.banned"))),
        Verdict::Right(account) => welcome(site, call, name, secret, &account),
    }
}

fn welcome(site: &Site, call: &Call, name: &str, secret: &str, account: &Account) -> Answer {
    let outdated = account.password_hash.as_deref().is_some_and(password::is_outdated);
    let renewed = outdated.then(|| password::hash(secret));
    site.once(call, |tx| {
        let opened = sign_in::open_session(site, call, tx, name, account, renewed.as_deref())?;
        let Some(token) = opened else { return Ok(refused(call.say("sign_in.wrong"))) };
        Ok(signed_in(call, account, token))
    })
}

/// Signed in, with a word on the e-mail address where it is not confirmed.
pub(super) fn signed_in(call: &Call, account: &Account, token: String) -> reply::Reply {
    let confirmation_pending = if account.email_confirmed { 0 } else { 1 };
    let message = if account.email_confirmed { String::new() } else { call.say("sign_in.email_not_confirmed") };
    reply::ok(&LoginReply { status: true, token, confirmation_pending, message, member_id: account.member_id })
}

pub(super) fn refused(message: String) -> reply::Reply {
    reply::ok(&LoginReply { status: false, token: String::new(), confirmation_pending: 0, message, member_id: 0 })
}
