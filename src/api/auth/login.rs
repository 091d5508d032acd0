//! Sign-in by password, up to the second factor where there is one.

use crate::app::{self, Change, RankedActor};
use crate::auth::challenge::{self, Intent};
use crate::auth::device;
use crate::auth::limits;
use crate::auth::second_factor::{self, FactorMethod, RequiredCode, Requirement, SecondFactorPassed};
use crate::auth::second_step::{self, CodeKind};
use crate::auth::sign_in::{self, OpenedSession, PasswordProof};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::answer::{Int, Sometimes};
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::http::field_types::{Count, Flag, LineAsTyped, Name, Secret};
use crate::http::reply::{self, Reply};
use crate::i18n::language::{Text, TextKey};
use crate::site::Site;
use crate::store::tables::members::Account;
use serde::{Deserialize, Serialize};
use serde_json::json;

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

crate::answer! {
    pub(super) struct Login {
        /// False: refused, and `message` says so. True with an empty `token`: a second step is required.
        status: bool = true,
        /// The session, for later requests; empty where there is none (yet).
        token: String = "m2yPz0c5uYt8Tq3Rk1Jv9wXe7LbNfDhGsA4iKoQpZ6U",
        /// 0 nothing; 1 the e-mail address is not confirmed (the session is good, booking waits); 2 a code of the
        /// authenticator app is required; 3 a passcode was sent and is required. After 2 and 3 continue with
        /// `verify-totp`.
        confirmation_pending as "confirmationPending": Int [0, 1, 2, 3] = 0,
        /// Empty, or a sentence for the member.
        message: String = "",
        /// 0 where the sign-in was refused.
        member_id: Count = 1204,
        /// Ours, of `/auth/social` alone: replaces username and password in `verify-totp`.
        step_token: Sometimes<String>,
    }
}

/// What a sign-in came to.
#[derive(Serialize, Deserialize)]
pub(super) enum SignInOutcome {
    SignedIn {
        member_id: MemberId,
        email_confirmed: bool,
        session: OpenedSession,
    },
    /// A passkey was registered by a session, which goes on.
    PasskeyAdded {
        member_id: MemberId,
        email_confirmed: bool,
    },
    /// A second step is due; after a social sign-in with its `step_token`.
    CodeDue {
        member_id: MemberId,
        code: CodeKind,
        message: TextKey,
        step_token: Option<String>,
    },
    /// The account's role requires a second factor, which must be set up first. The first proof was right, so the answer
    /// may have the member's number, which the setup needs.
    SetupMissing {
        member_id: MemberId,
    },
    /// A social network does not vouch for the person.
    NotVouched {
        reason: TextKey,
        network: String,
    },
    Refused(TextKey),
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

crate::operation! {
    /// Sign in by password
    ///
    /// A session for a username (or e-mail address) and a password, or the second step that is required.
    ///
    /// Wrong credentials are **200** with `status: false`. After five failed attempts the delays grow; during a delay
    /// even the right password is refused, with 429 and `Retry-After`. The same after ten second steps within ten
    /// minutes that nobody finished, except on a device on which the member signed in before.
    WITH_PASSWORD = "login"
        .body(|| json!({
            "username": "jane", "password": "violet-anvil-harbour-93", "checkTwoFactor": false,
            "passcodeOption": "email",
        }))
        .takes(&["AcceptLanguage", "DeviceToken"])
        .answers::<Login>("A session, the second step that is required, or a refusal.")
        .headers(&[("x-device-token", "DeviceToken")])
}

pub(crate) fn with_password(site: &Site, call: &Call) -> Answer {
    // `checkTwoFactor` decides nothing: a second factor is always required of members who have one.
    let LoginRequest { username, password, passcode_option, .. } = call.body()?;
    sign_in(site, call, &username, &password, SignInKind::Interactive(passcode_option))
}

crate::operation! {
    /// Renew a session
    ///
    /// The same check for an app that renews its session: it sends no passcode and writes no notification.
    ///
    /// Wrong credentials are **200** with `status: false`. After five failed attempts the delays grow; during a delay
    /// even the right password is refused, with 429 and `Retry-After`. The same after ten second steps within ten
    /// minutes that nobody finished, except on a device on which the member signed in before.
    SILENT = "loginSilent"
        .body(|| json!({ "username": "jane", "password": "violet-anvil-harbour-93" }))
        .takes(&["DeviceToken"])
        .answers::<Login>("A session, the second step that is required, or a refusal.")
        .headers(&[("x-device-token", "DeviceToken")])
}

pub(crate) fn silent(site: &Site, call: &Call) -> Answer {
    let Credentials { username, password } = call.body()?;
    sign_in(site, call, &username, &password, SignInKind::Silent)
}

fn sign_in(site: &Site, call: &Call, name: &str, secret: &str, kind: SignInKind) -> Answer {
    let outcome = app::once(site, call, || {
        let account = match sign_in::check_password(site, call, name, secret)? {
            PasswordProof::Right(account) => account,
            PasswordProof::Wrong => return Ok(SignInOutcome::Refused("sign_in.wrong".into())),
            PasswordProof::Delayed(seconds) => return Err(limits::too_soon(seconds)),
        };
        let renewed = sign_in::renewed_hash(site, &account, secret);
        app::change_once(site, call, RankedActor::stranger(call), |cx| {
            if !sign_in::is_unchanged(cx.tx, &account)? {
                return Ok(SignInOutcome::Refused("sign_in.wrong".into()));
            }
            continue_sign_in(call, cx, &account, renewed.as_deref(), kind)
        })
    })?;
    Ok(rendered(site, call, outcome))
}

/// Continues a sign-in after its first proof. Every kind of sign-in passes here, so that none skips a required second
/// factor.
fn continue_sign_in(
    call: &Call,
    cx: &Change,
    account: &Account,
    renewed: Option<&str>,
    kind: SignInKind,
) -> Result<SignInOutcome, Failure> {
    if account.banned {
        call.outcome.set(AuthOutcome::Banned);
        return Ok(SignInOutcome::Refused("sign_in.banned".into()));
    }
    if account.leaves {
        return Ok(SignInOutcome::Refused(sign_in::LEAVES.into()));
    }
    let method = if let SignInKind::Interactive(method) = kind { method } else { None };
    match second_factor::requirement(cx.site, cx.tx, account, method)? {
        Requirement::Passed(passed) => enter(call, cx, passed, account, renewed),
        Requirement::Code(due) => require_code(call, cx, account, &due, kind),
        Requirement::SetupMissing => Ok(SignInOutcome::SetupMissing { member_id: account.member_id }),
    }
}

/// Continues a sign-in by a social network.
pub(super) fn continue_social_sign_in(call: &Call, cx: &Change, account: &Account) -> Result<SignInOutcome, Failure> {
    continue_sign_in(call, cx, account, None, SignInKind::Social)
}

/// Opens a session, after every factor was passed.
pub(super) fn enter(
    call: &Call,
    cx: &Change,
    passed: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Result<SignInOutcome, Failure> {
    let opened = sign_in::open_session(cx.site, call, cx.tx, passed, account, renewed)?;
    let wrong = || SignInOutcome::Refused("sign_in.wrong".into());
    Ok(opened.map_or_else(wrong, |session| SignInOutcome::signed_in(account, session)))
}

/// Requires a second step; queues its passcode, if any.
fn require_code(
    call: &Call,
    cx: &Change,
    account: &Account,
    due: &RequiredCode,
    kind: SignInKind,
) -> Result<SignInOutcome, Failure> {
    let sends = !matches!(kind, SignInKind::Silent);
    let (code, message) = second_step::require(cx.site, call, cx.tx, account, due, sends)?;
    let step_token = match kind {
        SignInKind::Social => Some(challenge::begin(call, cx.tx, account.member_id, Intent::Api)?),
        SignInKind::Interactive(_) | SignInKind::Silent => None,
    };
    Ok(SignInOutcome::CodeDue { member_id: account.member_id, code, message: message.into(), step_token })
}

impl SignInOutcome {
    pub(super) fn signed_in(account: &Account, session: OpenedSession) -> SignInOutcome {
        SignInOutcome::SignedIn { member_id: account.member_id, email_confirmed: account.email_confirmed, session }
    }
}

/// The answer of the login family.
pub(super) fn rendered(site: &Site, call: &Call, outcome: SignInOutcome) -> Reply {
    let pending = |email_confirmed| if email_confirmed { NOTHING } else { EMAIL };
    match outcome {
        SignInOutcome::SignedIn { member_id, email_confirmed, session } => {
            let message = if email_confirmed { String::new() } else { call.say("sign_in.email_not_confirmed") };
            let reply = answer(true, pending(email_confirmed), message, member_id);
            let reply = reply::ok(&Login { token: session.token, ..reply });
            device::with_device_token(site, reply, &session.device_token)
        }
        // Not shown in the contract: no new token, because the caller has the session that asked.
        SignInOutcome::PasskeyAdded { member_id, email_confirmed } => {
            reply::ok(&answer(true, pending(email_confirmed), call.say("passkey.registered"), member_id))
        }
        SignInOutcome::CodeDue { member_id, code, message, step_token } => {
            let pending = match code {
                CodeKind::Authenticator => AUTHENTICATOR,
                CodeKind::Passcode => PASSCODE,
            };
            reply::ok(&Login { step_token, ..answer(true, pending, call.say(message.name()), member_id) })
        }
        SignInOutcome::SetupMissing { member_id } => {
            reply::ok(&answer(false, NOTHING, call.say("factor.required"), member_id))
        }
        SignInOutcome::NotVouched { reason, network } => {
            refused(call.language().say(&Text::from(reason).with("network", network)))
        }
        SignInOutcome::Refused(key) => refused(call.say(key.name())),
    }
}

/// The refusal in the fields of the login response, the same for every reason.
pub(super) fn refused(message: String) -> Reply {
    reply::ok(&answer(false, NOTHING, message, MemberId(0)))
}

fn answer(status: bool, confirmation_pending: i64, message: String, member_id: MemberId) -> Login {
    Login { status, token: String::new(), confirmation_pending, message, member_id: member_id.0, step_token: None }
}
