//! Sign-in by password, up to the second factor where there is one.

use crate::auth::challenge::{self, Intent};
use crate::auth::counters;
use crate::auth::device;
use crate::auth::limits;
use crate::auth::second_factor::{self, FactorMethod, RequiredCode, Requirement, SecondFactorPassed};
use crate::auth::sign_in::{self, OpenedSession, PasswordProof};
use crate::http::Answer;
use crate::http::call::{AuthOutcome, Call};
use crate::http::field_types::{Flag, LineAsTyped, Name, Secret};
use crate::http::reply::{self, Reply};
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::Account;
use serde::Serialize;

crate::body! {
    pub(crate) struct LoginRequest {
        /// The username or the e-mail address.
        username: LineAsTyped<254>,
        password: Secret,
        /// Has no effect: a second factor is always required of members who have one.
        check_two_factor as "checkTwoFactor": Option<Flag>,
        /// The method of the second step; by default the strongest factor of the member.
        passcode_option as "passcodeOption": Option<Name<FactorMethod>>,
    }
}

crate::body! {
    pub(crate) struct Credentials {
        /// The username or the e-mail address.
        username: LineAsTyped<254>,
        password: Secret,
    }
}

/// The contract's login response. `confirmationPending`: 0 nothing, 1 the e-mail address is not confirmed, 2 a code from
/// the authenticator app is due, 3 a passcode is.
#[derive(Serialize)]
pub(super) struct LoginReply {
    pub status: bool,
    pub token: String,
    #[serde(rename = "confirmationPending")]
    pub confirmation_pending: i64,
    pub message: String,
    pub member_id: i64,
    /// Ours: the token that replaces username and password in the second step of a social sign-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_token: Option<String>,
}

const NOTHING: i64 = 0;
const EMAIL: i64 = 1;
const AUTHENTICATOR: i64 = 2;
const PASSCODE: i64 = 3;

/// The kind of a sign-in.
#[derive(Clone, Copy)]
enum SignInKind {
    /// By a person, to whom a passcode may be sent.
    Interactive(Option<FactorMethod>),
    /// By an app that renews its session; no passcode is sent.
    Silent,
    /// By a social network; the second step then has no password.
    Social,
}

/// `POST /auth/login`: a session for a username (or e-mail address) and a password, or the second step that is due.
pub(crate) fn with_password(site: &Site, call: &Call) -> Answer {
    // `checkTwoFactor` decides nothing: a second factor is always required of members who have one.
    let LoginRequest { username, password, passcode_option, .. } = call.body()?;
    sign_in(site, call, &username, &password, SignInKind::Interactive(passcode_option))
}

/// `POST /auth/login/silent`: the same check, for an app that renews its session.
pub(crate) fn silent(site: &Site, call: &Call) -> Answer {
    let Credentials { username, password } = call.body()?;
    sign_in(site, call, &username, &password, SignInKind::Silent)
}

fn sign_in(site: &Site, call: &Call, name: &str, secret: &str, kind: SignInKind) -> Answer {
    let account = match sign_in::check_password(site, call, name, secret)? {
        PasswordProof::Right(account) => account,
        PasswordProof::Wrong => return Ok(refused(call.say("sign_in.wrong"))),
        PasswordProof::Delayed(seconds) => return Err(limits::too_soon(seconds)),
    };
    let renewed = sign_in::renewed_hash(site, &account, secret);
    site.once(call, |tx| {
        if !sign_in::is_unchanged(tx, &account)? {
            return Ok(refused(call.say("sign_in.wrong")));
        }
        continue_sign_in(site, call, tx, &account, renewed.as_deref(), kind)
    })
}

/// Continues a sign-in after its first proof. Every kind of sign-in passes here, so that none skips a required second
/// factor.
fn continue_sign_in(
    site: &Site,
    call: &Call,
    tx: &Write,
    account: &Account,
    renewed: Option<&str>,
    kind: SignInKind,
) -> Answer {
    if account.banned {
        call.outcome.set(AuthOutcome::Banned);
        return Ok(refused(call.say("sign_in.banned")));
    }
    let method = if let SignInKind::Interactive(method) = kind { method } else { None };
    match second_factor::requirement(site, tx, account, method)? {
        Requirement::Passed(passed) => enter(site, call, tx, passed, account, renewed),
        Requirement::Code(due) => require_code(site, call, tx, account, &due, kind),
        // The first proof was right, so the answer may have the member's number, which the setup needs.
        Requirement::SetupMissing => {
            Ok(reply::ok(&answer(false, NOTHING, call.say("factor.required"), account.member_id)))
        }
    }
}

/// Continues a sign-in by a social network.
pub(super) fn continue_social_sign_in(site: &Site, call: &Call, tx: &Write, account: &Account) -> Answer {
    continue_sign_in(site, call, tx, account, None, SignInKind::Social)
}

/// The answer with a new session, after every factor was passed.
pub(super) fn enter(
    site: &Site,
    call: &Call,
    tx: &Write,
    passed: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Answer {
    let opened = sign_in::open_session(site, call, tx, passed, account, renewed)?;
    Ok(opened.map_or_else(|| refused(call.say("sign_in.wrong")), |opened| signed_in(site, call, account, opened)))
}

/// The answer with a new session, and a hint where the e-mail address is not confirmed.
pub(super) fn signed_in(site: &Site, call: &Call, account: &Account, opened: OpenedSession) -> Reply {
    let (pending, message) = match account.email_confirmed {
        true => (NOTHING, String::new()),
        false => (EMAIL, call.say("sign_in.email_not_confirmed")),
    };
    let reply = LoginReply { token: opened.token, ..answer(true, pending, message, account.member_id) };
    device::with_device_token(site, reply::ok(&reply), &opened.device_token)
}

/// The answer that requires a second step; queues its passcode, if any.
fn require_code(
    site: &Site,
    call: &Call,
    tx: &Write,
    account: &Account,
    due: &RequiredCode,
    kind: SignInKind,
) -> Answer {
    call.outcome.set(AuthOutcome::SecondFactorDue);
    counters::count_second_step(site, call, tx, account)?;
    let (pending, text) = match (due, kind) {
        (RequiredCode::Totp, _) if site.clock.is_suspect() => (AUTHENTICATOR, "factor.clock_suspect"),
        (RequiredCode::Totp, _) => (AUTHENTICATOR, "factor.totp_due"),
        (RequiredCode::Passcode(None), _) => (PASSCODE, "factor.unreachable"),
        (RequiredCode::Passcode(Some(_)), SignInKind::Silent) => (PASSCODE, "factor.passcode_due"),
        (RequiredCode::Passcode(Some(to)), SignInKind::Interactive(_) | SignInKind::Social) => {
            let sent = second_factor::send_within_limit(site, call, tx, account.member_id, to)?;
            (PASSCODE, if sent { "passcode.sent" } else { "factor.passcodes_used_up" })
        }
    };
    let step_token = match kind {
        SignInKind::Social => Some(challenge::begin(call, tx, account.member_id, Intent::Api)?),
        SignInKind::Interactive(_) | SignInKind::Silent => None,
    };
    Ok(reply::ok(&LoginReply { step_token, ..answer(true, pending, call.say(text), account.member_id) }))
}

/// The refusal in the fields of the login response, the same for every reason.
pub(super) fn refused(message: String) -> Reply {
    reply::ok(&answer(false, NOTHING, message, 0))
}

fn answer(status: bool, confirmation_pending: i64, message: String, member_id: i64) -> LoginReply {
    LoginReply { status, token: String::new(), confirmation_pending, message, member_id, step_token: None }
}
