//! The second factor from outside a session: setting up an authenticator app, and the second step of a sign-in.

use super::login::{self, enter, refused};
use super::qr;
use crate::call::Call;
use crate::domain::totp;
use crate::failure::Failure;
use crate::fields;
use crate::gate::presented_session;
use crate::gate::second_factor::{self, Proof};
use crate::gate::sign_in::{self, Verdict};
use crate::language::Text;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::members::Account;
use crate::store::{Write, second_factors, tunnels};
use serde::Serialize;

const CODE_CHARS_MAX: usize = 40;
/// The same for a name, a password, a number or a code.
const WRONG: &str = "factor.wrong";

#[derive(Serialize)]
struct SetupReply {
    status: bool,
    message: String,
    member_id: i64,
    /// Base32.
    secret: String,
    otpauth_url: String,
    /// The URL as a picture: SVG as a data URL.
    qr: String,
}

#[derive(Serialize)]
struct TurnedOnReply {
    status: bool,
    message: String,
    member_id: i64,
    /// Shown this once.
    recovery_codes: Vec<String>,
}

/// What the three operations are sent. `member_id` is not needed, and must be right where it is given.
struct Asked {
    username: String,
    password: String,
    member_id: Option<i64>,
    code: Option<String>,
}

/// `POST /auth/login/totp/setup`: a secret for an authenticator app, as often as wanted until its first code came. Who
/// has a second factor proves that in `code`: the password alone replaces nothing.
pub fn setup(site: &Site, call: &Call) -> Answer {
    let asked = Asked::read(call, false)?;
    let Some(account) = asked.judge(site, call)? else { return Ok(refused(call.say(WRONG))) };
    site.once(call, |tx| {
        if !sign_in::is_as_judged(tx, &account)? {
            return Ok(refused(call.say(WRONG)));
        }
        if account.banned {
            return Ok(refused(call.say("sign_in.banned")));
        }
        if second_factors::find(tx, account.member_id, tx.now())?.kind.is_some() {
            let missing = || Failure::field("code", Text::new("field.code_of_factor"));
            let code = asked.code.as_deref().ok_or_else(missing)?;
            let prove = || second_factor::prove(site, tx, &account, code);
            match sign_in::judge_code(site, call, tx, &account, prove)? {
                Proof::Right(_) => {}
                proof => return Ok(refused(call.say(why_not(&proof)))),
            }
        }
        hand_out(site, call, tx, &account)
    })
}

fn hand_out(site: &Site, call: &Call, tx: &Write, account: &Account) -> Answer {
    let secret = second_factor::begin_setup(site, tx, account.member_id)?;
    let tunnel = tunnels::find(tx, site.tunnel_id)?;
    let site_name = tunnel.map_or_else(|| "tunneldesk".to_owned(), |tunnel| tunnel.name);
    let totp::Setup { secret, otpauth_url } = totp::setup(&secret, &site_name, &account.username);
    let qr = qr::data_url(&otpauth_url)
        .ok_or_else(|| Failure::broken().because("the authenticator's URL is too long for a QR code"))?;
    let message = call.say("factor.scan");
    Ok(reply::ok(&SetupReply { status: true, message, member_id: account.member_id, secret, otpauth_url, qr }))
}

/// `POST /auth/login/totp/verify-setup`: the first code turns the authenticator on. Every session and booking token from
/// before ends, but the session that this call may carry.
pub fn verify_setup(site: &Site, call: &Call) -> Answer {
    let asked = Asked::read(call, true)?;
    let Some(account) = asked.judge(site, call)? else { return Ok(refused(call.say(WRONG))) };
    let (member_id, code) = (account.member_id, asked.code());
    site.once(call, |tx| {
        if account.banned {
            return Ok(refused(call.say("sign_in.banned")));
        }
        let mut waits = true;
        let prove = || {
            let proof = second_factor::finish_setup(site, tx, member_id, code)?;
            waits = proof.is_some();
            Ok(proof.unwrap_or(Proof::Wrong))
        };
        match sign_in::judge_code(site, call, tx, &account, prove)? {
            Proof::Right(_) => {
                let kept = presented_session(call);
                let recovery_codes = second_factor::welcome_factor(site, tx, member_id, kept.as_ref())?;
                let message = call.say("factor.turned_on");
                Ok(reply::ok(&TurnedOnReply { status: true, message, member_id, recovery_codes }))
            }
            _ if !waits => Ok(refused(call.say("factor.none_waits"))),
            proof => Ok(refused(call.say(why_not(&proof)))),
        }
    })
}

/// `POST /auth/login/verify-totp`: the second step. A code of the authenticator's, a passcode that was sent, or a
/// recovery code; each works once.
pub fn verify(site: &Site, call: &Call) -> Answer {
    let asked = Asked::read(call, true)?;
    let Some(account) = asked.judge(site, call)? else { return Ok(refused(call.say(WRONG))) };
    let renewed = login::renewed_hash(&account, &asked.password);
    site.once(call, |tx| {
        if account.banned {
            return Ok(refused(call.say("sign_in.banned")));
        }
        let prove = || second_factor::prove(site, tx, &account, asked.code());
        match sign_in::judge_code(site, call, tx, &account, prove)? {
            Proof::Right(cleared) => enter(site, call, tx, cleared, &account, renewed.as_deref()),
            proof => Ok(refused(call.say(why_not(&proof)))),
        }
    })
}

fn why_not(proof: &Proof) -> &'static str {
    if matches!(proof, Proof::ClockSuspect) { "factor.clock_suspect" } else { WRONG }
}

impl Asked {
    fn read(call: &Call, with_code: bool) -> Result<Asked, Failure> {
        let mut body = call.fields()?;
        let username = body.required("username", fields::line(254));
        let password = body.required("password", fields::secret);
        let member_id = body.optional("member_id", fields::id);
        if with_code && !body.has("code") {
            body.refuse("code", Text::new("field.missing"));
        }
        let code = body.optional("code", fields::line(CODE_CHARS_MAX));
        let ok = body.finish()?;
        Ok(Asked {
            username: username.get(&ok),
            password: password.get(&ok),
            member_id: member_id.get(&ok),
            code: code.get(&ok),
        })
    }

    fn code(&self) -> &str {
        self.code.as_deref().unwrap_or_default()
    }

    /// The account, when password and number are its own. A wrong number is a miss like a wrong password.
    fn judge(&self, site: &Site, call: &Call) -> Result<Option<Account>, Failure> {
        let Verdict::Right(account) = sign_in::judge(site, call, &self.username, &self.password)? else {
            return Ok(None);
        };
        if self.member_id.is_some_and(|given| given != account.member_id) {
            site.store.write(site.now(), |tx| sign_in::miss(site, call, tx, "", Some(&account)))?;
            return Ok(None);
        }
        Ok(Some(account))
    }
}
