//! The second factor from outside a session: setting up an authenticator app, and the second step of a sign-in.

use super::login::{self, Login, SignInOutcome, enter};
use crate::app::{self, RankedActor};
use crate::auth::challenge::{self, Intent};
use crate::auth::limits;
use crate::auth::second_factor::{self, Proof};
use crate::auth::sign_in::{self, PasswordProof};
use crate::auth::{member_if_any, presented_session};
use crate::documents::qr;
use crate::domain::ids::MemberId;
use crate::domain::totp;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::body::{ParsedBody, RequiredByCaller};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Code, Line, LineAsTyped, Secret};
use crate::http::fields::Fields;
use crate::http::reply;
use crate::i18n::language::{Text, TextKey};
use crate::site::Site;
use crate::store::tables::members::{self, Account};
use crate::store::tables::{second_factors, tunnels};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// One text for a wrong name, password, number or code.
const WRONG: &str = "factor.wrong";

/// What a request about the setup of an authenticator came to.
#[derive(Serialize, Deserialize)]
enum SetupOutcome {
    /// A new secret, in base32, which waits for its first code.
    Begun {
        member_id: MemberId,
        secret: String,
        otpauth_url: String,
    },
    /// The authenticator is on.
    TurnedOn {
        member_id: MemberId,
        recovery_codes: Vec<String>,
    },
    Refused(TextKey),
}

crate::answer! {
    struct TotpSetup {
        status: True,
        message: String = "Scan this with your authenticator app, then send its first code.",
        member_id: MemberId = 1204,
        /// Base32, for typing.
        secret: String { "pattern": "^[A-Z2-7]+$" } = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
        /// For the app, as a link.
        otpauth_url: String { "pattern": "^otpauth://totp/" } = "otpauth://totp/Windwerk:jane?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Windwerk",
        /// The same as a picture: SVG as a data URL.
        qr: String { "pattern": "^data:image/svg\\+xml" } = "data:image/svg+xml;base64,PHN2Zy8+",
    }
}

crate::answer! {
    struct TotpTurnedOn {
        status: True,
        message: String = "Your authenticator app is on. Keep these recovery codes.",
        member_id: MemberId = 1204,
        recovery_codes: RecoveryCodes = ["7K2M-PQ4X-9TRW", "H3ND-V8CZ-5YFA"],
    }
}

crate::body! {
    pub(crate) struct TotpSetupRequest {
        /// The username or the e-mail address.
        username: RequiredByCaller<LineAsTyped<254>>,
        password: RequiredByCaller<Secret>,
        /// Optional; must be right if present.
        member_id: Option<MemberId>,
        /// Ours: a code of the second factor that is on.
        code: Option<Code>,
    }
}

crate::body! {
    pub(crate) struct TotpProof {
        /// The username or the e-mail address.
        username: RequiredByCaller<LineAsTyped<254>>,
        password: RequiredByCaller<Secret>,
        /// Optional; must be right if present.
        member_id: Option<MemberId>,
        code: Code,
    }
}

crate::body! {
    /// The second step of a sign-in that had no password.
    struct StepProof {
        step_token: Line<128>,
        member_id: Option<MemberId>,
        code: Code,
    }
}

// Not shown in the contract: the session of a member without a password replaces username and password here and in
// verify-setup, because a member by social sign-in has neither.
crate::answer! {
    /// Ten codes, shown once; each passes the second factor once.
    pub(crate) struct RecoveryCodes = Vec<String>;
}

crate::operation! {
    /// Set up an authenticator app
    ///
    /// A new secret, as often as needed, until `verify-setup` receives its first code. A member who has a second
    /// factor must prove it by `code`.
    ///
    /// Wrong credentials are **200** in the fields of the login response.
    SETUP = "totpSetup"
        .body(|| json!({ "username": "jane", "password": "violet-anvil-harbour-93", "member_id": 1204 }))
        .refuses(&["NotAllowed"])
        .answers::<(TotpSetup, Login)>("The secret, or a refusal.")
}

pub(crate) fn setup(site: &Site, call: &Call) -> Answer {
    rendered(call, app::once(site, call, || begin_setup(site, call))?)
}

fn begin_setup(site: &Site, call: &Call) -> Result<SetupOutcome, Failure> {
    let mut fields = call.fields()?;
    let owner = passwordless(site, call)?;
    require_password(&mut fields, owner.as_ref());
    let TotpSetupRequest { username, password, member_id, code } = call.parse_body_from(fields).finish()?;
    let account = check_first_factor(site, call, owner, (username, password.as_deref()), member_id)?;
    let Some(account) = account else { return Ok(SetupOutcome::Refused(WRONG.into())) };
    let (secret, made) = new_secret(site, &account)?;
    app::change_once(site, call, RankedActor::stranger(call), |cx| {
        let tx = cx.tx;
        if !sign_in::is_unchanged(tx, &account)? {
            return Ok(SetupOutcome::Refused(WRONG.into()));
        }
        if account.banned {
            return Ok(SetupOutcome::Refused("sign_in.banned".into()));
        }
        if second_factors::find(tx, account.member_id, tx.now())?.kind.is_some() {
            let missing = || Failure::field("code", Text::new("field.code_of_factor"));
            let code = code.as_deref().ok_or_else(missing)?;
            let prove = || second_factor::prove(site, call, tx, &account, code);
            match sign_in::check_code(site, call, tx, &account, prove)? {
                Proof::Right(_) => {}
                proof => return Ok(SetupOutcome::Refused(refusal(&proof)?)),
            }
        }
        second_factor::begin_setup(site, tx, account.member_id, &secret)?;
        let totp::Setup { secret, otpauth_url } = made;
        call.shows_credentials_of(account.member_id);
        Ok(SetupOutcome::Begun { member_id: account.member_id, secret, otpauth_url })
    })
}

/// A new secret, and how an app reads it.
fn new_secret(site: &Site, account: &Account) -> Result<(second_factor::Secret, totp::Setup), Failure> {
    let secret = second_factor::new_secret();
    let tunnel = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?;
    let site_name = tunnel.map_or_else(|| "tunneldesk".to_owned(), |tunnel| tunnel.name);
    let setup = totp::setup(&secret, &site_name, &account.username);
    Ok((secret, setup))
}

fn rendered(call: &Call, outcome: SetupOutcome) -> Answer {
    match outcome {
        SetupOutcome::Begun { member_id, secret, otpauth_url } => {
            let qr = qr::data_url(&otpauth_url)
                .ok_or_else(|| Failure::broken().because("the authenticator's URL is too long for a QR code"))?;
            let message = call.say("factor.scan");
            Ok(reply::ok(&TotpSetup { status: true, message, member_id, secret, otpauth_url, qr }))
        }
        SetupOutcome::TurnedOn { member_id, recovery_codes } => {
            let message = call.say("factor.turned_on");
            Ok(reply::ok(&TotpTurnedOn { status: true, message, member_id, recovery_codes }))
        }
        SetupOutcome::Refused(key) => Ok(login::refused(call.say(key.name()))),
    }
}

crate::operation! {
    /// Turn the authenticator app on
    ///
    /// The first code turns the authenticator on. Every older session and booking token ends, except the session of
    /// this call.
    ///
    /// Wrong credentials are **200** in the fields of the login response.
    VERIFY_SETUP = "totpVerifySetup"
        .body(|| json!({
            "username": "jane", "password": "violet-anvil-harbour-93", "member_id": 1204, "code": "287082",
        }))
        .refuses(&["NotAllowed"])
        .answers::<(TotpTurnedOn, Login)>("The authenticator is on, with recovery codes; or a refusal.")
        .also(|| json!({ "security": [{}, { "session": [] }, { "sessionInToken": [] }] }))
}

pub(crate) fn verify_setup(site: &Site, call: &Call) -> Answer {
    rendered(call, app::once(site, call, || finish_setup(site, call))?)
}

fn finish_setup(site: &Site, call: &Call) -> Result<SetupOutcome, Failure> {
    let mut fields = call.fields()?;
    let owner = passwordless(site, call)?;
    require_password(&mut fields, owner.as_ref());
    let TotpProof { username, password, member_id, code } = call.parse_body_from(fields).finish()?;
    let account = check_first_factor(site, call, owner, (username, password.as_deref()), member_id)?;
    let Some(account) = account else { return Ok(SetupOutcome::Refused(WRONG.into())) };
    let member_id = account.member_id;
    app::change_once(site, call, RankedActor::stranger(call), |cx| {
        let tx = cx.tx;
        if account.banned {
            return Ok(SetupOutcome::Refused("sign_in.banned".into()));
        }
        let mut waits = true;
        let prove = || {
            let proof = second_factor::finish_setup(site, tx, member_id, &code)?;
            waits = proof.is_some();
            Ok(proof.unwrap_or(Proof::Wrong))
        };
        match sign_in::check_code(site, call, tx, &account, prove)? {
            Proof::Right(_) => {
                let session = presented_session(call);
                let language = call.language();
                let recovery_codes = second_factor::finish_activation(
                    site,
                    tx,
                    member_id,
                    session.as_ref(),
                    language,
                    &call.actor(member_id),
                )?;
                call.shows_credentials_of(member_id);
                Ok(SetupOutcome::TurnedOn { member_id, recovery_codes })
            }
            _ if !waits => Ok(SetupOutcome::Refused("factor.none_waits".into())),
            proof => Ok(SetupOutcome::Refused(refusal(&proof)?)),
        }
    })
}

// Not shown in the contract: `step_token`, because a member by social sign-in may have no password, and a code alone must
// open nothing.
crate::operation! {
    /// The second step of a sign-in
    ///
    /// A code of the authenticator app, a passcode that was sent, or a recovery code. Each works once.
    ///
    /// Wrong credentials are **200** with `status: false`. After five failed attempts the delays grow; during a delay
    /// even the right password is refused, with 429 and `Retry-After`.
    VERIFY = "verifyTotp"
        .body(|| json!({
            "username": "jane", "password": "violet-anvil-harbour-93", "member_id": 1204, "code": "287082",
        }))
        .takes(&["DeviceToken"])
        .answers::<Login>("A session, or a refusal.")
        .headers(&[("x-device-token", "DeviceToken")])
}

pub(crate) fn verify(site: &Site, call: &Call) -> Answer {
    let outcome = app::once(site, call, || take_second_step(site, call))?;
    Ok(login::rendered(site, call, outcome))
}

fn take_second_step(site: &Site, call: &Call) -> Result<SignInOutcome, Failure> {
    let mut fields = call.fields()?;
    if fields.has("step_token") {
        return verify_challenge(site, call, fields);
    }
    require_password(&mut fields, None);
    let TotpProof { username, password, member_id, code } = call.parse_body_from(fields).finish()?;
    let account = check_first_factor(site, call, None, (username, password.as_deref()), member_id)?;
    let Some(account) = account else { return Ok(SignInOutcome::Refused(WRONG.into())) };
    let renewed = sign_in::renewed_hash(site, &account, password.as_deref().unwrap_or_default());
    app::change_once(site, call, RankedActor::stranger(call), |cx| {
        if account.banned {
            return Ok(SignInOutcome::Refused("sign_in.banned".into()));
        }
        let prove = || second_factor::prove(site, call, cx.tx, &account, &code);
        match sign_in::check_code(site, call, cx.tx, &account, prove)? {
            Proof::Right(passed) => enter(call, cx, passed, &account, renewed.as_deref()),
            proof => Ok(SignInOutcome::Refused(refusal(&proof)?)),
        }
    })
}

/// The second step of a social sign-in. Each call costs the challenge a try, and success ends it.
fn verify_challenge(site: &Site, call: &Call, fields: Fields) -> Result<SignInOutcome, Failure> {
    let StepProof { step_token, member_id, code } = ParsedBody::read(fields).finish()?;
    app::change_once(site, call, RankedActor::stranger(call), |cx| {
        let tx = cx.tx;
        let Some(account) = challenge::try_once(tx, &step_token, Intent::Api)? else {
            return Ok(SignInOutcome::Refused(WRONG.into()));
        };
        if account.banned {
            return Ok(SignInOutcome::Refused("sign_in.banned".into()));
        }
        let prove = || match member_id.is_none_or(|given| given == account.member_id) {
            true => second_factor::prove(site, call, tx, &account, &code),
            false => Ok(Proof::Wrong),
        };
        match sign_in::check_code(site, call, tx, &account, prove)? {
            Proof::Right(passed) => {
                challenge::end(tx, account.member_id)?;
                enter(call, cx, passed, &account, None)
            }
            proof => Ok(SignInOutcome::Refused(refusal(&proof)?)),
        }
    })
}

/// The member of the call's session, if that member has no password: 403 where the last proof of identity is too long ago.
fn passwordless(site: &Site, call: &Call) -> Result<Option<Account>, Failure> {
    let Some(member) = member_if_any(site, call)? else { return Ok(None) };
    let account = site.store.read(|tx| Ok(members::find_account_by_id(tx, member.id())?))?;
    let passwordless = account.filter(|account| account.password_hash.is_none());
    if passwordless.is_some() {
        member.check_proven(site.now())?;
    }
    Ok(passwordless)
}

/// The text for a code that did not pass; 429 during a delay.
fn refusal(proof: &Proof) -> Result<TextKey, Failure> {
    match *proof {
        Proof::Delayed(seconds) => Err(limits::too_soon(seconds)),
        Proof::Unusable(why) => Ok(why.into()),
        Proof::Wrong | Proof::Right(_) => Ok(WRONG.into()),
    }
}

/// Reports username and password as missing, unless the session of `owner` replaces them.
fn require_password(fields: &mut Fields, owner: Option<&Account>) {
    match owner {
        Some(_) => fields.ignore(&["username", "password"]),
        None => ["username", "password"].into_iter().for_each(|field| fields.demand(field)),
    }
}

/// The account of the proof before the code: the session of `owner`, or else username and password. A wrong `member_id`
/// counts as a failed attempt like a wrong password.
fn check_first_factor(
    site: &Site,
    call: &Call,
    owner: Option<Account>,
    (username, password): (Option<String>, Option<&str>),
    member_id: Option<MemberId>,
) -> Result<Option<Account>, Failure> {
    let proof = match owner {
        Some(owner) => PasswordProof::Right(owner),
        None => sign_in::check_password(site, call, &username.unwrap_or_default(), password.unwrap_or_default())?,
    };
    let account = match proof {
        PasswordProof::Right(account) => account,
        PasswordProof::Wrong => return Ok(None),
        PasswordProof::Delayed(seconds) => return Err(limits::too_soon(seconds)),
    };
    if member_id.is_some_and(|claimed| claimed != account.member_id) {
        let accounts = std::slice::from_ref(&account);
        app::change(site, RankedActor::stranger(call), call.language(), |cx| {
            sign_in::record_failure(site, call, cx.tx, &account.username, accounts)
        })?;
        return Ok(None);
    }
    Ok(Some(account))
}
