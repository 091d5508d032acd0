//! The second factor from outside a session: setting up an authenticator app, and the second step of a sign-in.

use super::login::{enter, refused};
use crate::auth::challenge::{self, Intent};
use crate::auth::second_factor::{self, Proof};
use crate::auth::sign_in::{self, Verdict};
use crate::auth::{member_if_any, presented_session};
use crate::documents::qr;
use crate::domain::totp;
use crate::http::Answer;
use crate::http::body::{ParsedBody, RequiredByCaller};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Code, Id, Line, Secret};
use crate::http::fields::Fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members::{self, Account};
use crate::store::tables::{second_factors, tunnels};
use serde::Serialize;

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

crate::body! {
    pub(crate) struct TotpSetupRequest {
        /// The username or the e-mail address.
        username: RequiredByCaller<Line<254>>,
        password: RequiredByCaller<Secret>,
        /// Not needed; where it is given it must be right.
        member_id: Option<Id>,
        /// Ours: a code of the second factor that is on.
        code: Option<Code>,
    }
}

crate::body! {
    pub(crate) struct TotpProof {
        /// The username or the e-mail address.
        username: RequiredByCaller<Line<254>>,
        password: RequiredByCaller<Secret>,
        /// Not needed; where it is given it must be right.
        member_id: Option<Id>,
        code: Code,
    }
}

crate::body! {
    /// The second step of a sign-in that had no password.
    struct StepProof {
        step_token: Line<128>,
        member_id: Option<Id>,
        code: Code,
    }
}

/// The proof that comes before the code. `member_id` is not needed, and must be right where it is given.
struct Claim {
    proof: FirstProof,
    member_id: Option<i64>,
}

enum FirstProof {
    Password {
        username: String,
        password: String,
    },
    /// By the session of a member without a password.
    Session(Account),
}

/// `POST /auth/login/totp/setup`: a secret for an authenticator app, as often as wanted until its first code came. Who
/// has a second factor proves that in `code`: the password alone replaces nothing.
// Not shown in the contract: the session of a member who has no password stands for username and password here and in
// verify-setup, because whoever came by a social network has nothing to put into them.
pub(crate) fn setup(site: &Site, call: &Call) -> Answer {
    let mut fields = call.fields()?;
    let owner = passwordless(site, call)?;
    Claim::need_password(&mut fields, owner.as_ref());
    let TotpSetupRequest { username, password, member_id, code } = call.parse_body_from(fields).finish()?;
    let claim = Claim::new(username, password, member_id, owner);
    let Some(account) = claim.judge(site, call)? else { return Ok(refused(call.say(WRONG))) };
    let made = Made::of(site, &account)?;
    site.once(call, |tx| {
        if !sign_in::is_as_judged(tx, &account)? {
            return Ok(refused(call.say(WRONG)));
        }
        if account.banned {
            return Ok(refused(call.say("sign_in.banned")));
        }
        if second_factors::find(tx, account.member_id, tx.now())?.kind.is_some() {
            let missing = || Failure::field("code", Text::new("field.code_of_factor"));
            let code = code.as_deref().ok_or_else(missing)?;
            let prove = || second_factor::prove(site, call, tx, &account, code);
            match sign_in::judge_code(site, call, tx, &account, prove)? {
                Proof::Right(_) => {}
                proof => return Ok(refused(call.say(why_not(&proof)))),
            }
        }
        second_factor::begin_setup(site, tx, account.member_id, &made.secret)?;
        let (message, member_id) = (call.say("factor.scan"), account.member_id);
        let totp::Setup { secret, otpauth_url } = made.setup;
        Ok(reply::ok(&SetupReply { status: true, message, member_id, secret, otpauth_url, qr: made.qr }))
    })
}

/// A new secret, and how an app learns it.
struct Made {
    secret: second_factor::Secret,
    setup: totp::Setup,
    qr: String,
}

impl Made {
    fn of(site: &Site, account: &Account) -> Result<Made, Failure> {
        let secret = second_factor::new_secret();
        let tunnel = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?;
        let site_name = tunnel.map_or_else(|| "tunneldesk".to_owned(), |tunnel| tunnel.name);
        let setup = totp::setup(&secret, &site_name, &account.username);
        let qr = qr::data_url(&setup.otpauth_url)
            .ok_or_else(|| Failure::broken().because("the authenticator's URL is too long for a QR code"))?;
        Ok(Made { secret, setup, qr })
    }
}

/// `POST /auth/login/totp/verify-setup`: the first code turns the authenticator on. Every session and booking token from
/// before ends, but the session that this call may carry.
pub(crate) fn verify_setup(site: &Site, call: &Call) -> Answer {
    let mut fields = call.fields()?;
    let owner = passwordless(site, call)?;
    Claim::need_password(&mut fields, owner.as_ref());
    let TotpProof { username, password, member_id, code } = call.parse_body_from(fields).finish()?;
    let Some(account) = Claim::new(username, password, member_id, owner).judge(site, call)? else {
        return Ok(refused(call.say(WRONG)));
    };
    let member_id = account.member_id;
    site.once(call, |tx| {
        if account.banned {
            return Ok(refused(call.say("sign_in.banned")));
        }
        let mut waits = true;
        let prove = || {
            let proof = second_factor::finish_setup(site, tx, member_id, &code)?;
            waits = proof.is_some();
            Ok(proof.unwrap_or(Proof::Wrong))
        };
        match sign_in::judge_code(site, call, tx, &account, prove)? {
            Proof::Right(_) => {
                let kept = presented_session(call);
                let language = call.language();
                let recovery_codes = second_factor::finish_activation(
                    site,
                    tx,
                    member_id,
                    kept.as_ref(),
                    language,
                    &call.by(member_id),
                )?;
                let message = call.say("factor.turned_on");
                Ok(reply::ok(&TurnedOnReply { status: true, message, member_id, recovery_codes }))
            }
            _ if !waits => Ok(refused(call.say("factor.none_waits"))),
            proof => Ok(refused(call.say(why_not(&proof)))),
        }
    })
}

/// `POST /auth/login/verify-totp`: the second step. A code of the authenticator's, a passcode that was sent, or a
/// recovery code; each works once. After `/auth/social` its `step_token` stands for username and password.
// Not shown in the contract: `step_token`, because a member who came by a social network may have no password, and a code
// alone must open nothing.
pub(crate) fn verify(site: &Site, call: &Call) -> Answer {
    let mut fields = call.fields()?;
    if fields.has("step_token") {
        return verify_by_step(site, call, fields);
    }
    Claim::need_password(&mut fields, None);
    let TotpProof { username, password, member_id, code } = call.parse_body_from(fields).finish()?;
    let claim = Claim::new(username, password, member_id, None);
    let Some(account) = claim.judge(site, call)? else { return Ok(refused(call.say(WRONG))) };
    let renewed = claim.renewed_hash(site, &account);
    site.once(call, |tx| {
        if account.banned {
            return Ok(refused(call.say("sign_in.banned")));
        }
        let prove = || second_factor::prove(site, call, tx, &account, &code);
        match sign_in::judge_code(site, call, tx, &account, prove)? {
            Proof::Right(passed) => enter(site, call, tx, passed, &account, renewed.as_deref()),
            proof => Ok(refused(call.say(why_not(&proof)))),
        }
    })
}

/// Each call costs the step a try, whatever comes of it, and the one that succeeds costs the step.
fn verify_by_step(site: &Site, call: &Call, fields: Fields) -> Answer {
    let StepProof { step_token, member_id, code } = ParsedBody::read(fields).finish()?;
    site.once(call, |tx| {
        let Some(account) = challenge::try_once(tx, &step_token, Intent::Api)? else {
            return Ok(refused(call.say(WRONG)));
        };
        if account.banned {
            return Ok(refused(call.say("sign_in.banned")));
        }
        let prove = || match member_id.is_none_or(|given| given == account.member_id) {
            true => second_factor::prove(site, call, tx, &account, &code),
            false => Ok(Proof::Wrong),
        };
        match sign_in::judge_code(site, call, tx, &account, prove)? {
            Proof::Right(passed) => {
                challenge::end(tx, account.member_id)?;
                enter(site, call, tx, passed, &account, None)
            }
            proof => Ok(refused(call.say(why_not(&proof)))),
        }
    })
}

/// The member of the call's session, when there is one and no password that would be the better proof: 403 where the last
/// proof is too long ago.
fn passwordless(site: &Site, call: &Call) -> Result<Option<Account>, Failure> {
    let Some(member) = member_if_any(site, call)? else { return Ok(None) };
    let account = site.store.read(|tx| Ok(members::find_account_by_id(tx, member.id())?))?;
    let passwordless = account.filter(|account| account.password_hash.is_none());
    if passwordless.is_some() {
        member.check_proven(site.now())?;
    }
    Ok(passwordless)
}

fn why_not(proof: &Proof) -> &'static str {
    if matches!(proof, Proof::ClockSuspect) { "factor.clock_suspect" } else { WRONG }
}

impl Claim {
    /// The session of `owner` stands for username and password; without it both are needed.
    fn need_password(fields: &mut Fields, owner: Option<&Account>) {
        match owner {
            Some(_) => fields.ignore(&["username", "password"]),
            None => ["username", "password"].into_iter().for_each(|field| fields.demand(field)),
        }
    }

    fn new(
        username: Option<String>,
        password: Option<String>,
        member_id: Option<i64>,
        owner: Option<Account>,
    ) -> Claim {
        let (username, password) = (username.unwrap_or_default(), password.unwrap_or_default());
        let proof = owner.map_or(FirstProof::Password { username, password }, FirstProof::Session);
        Claim { proof, member_id }
    }

    /// The account, when password and number are its own. A wrong number is a miss like a wrong password.
    fn judge(&self, site: &Site, call: &Call) -> Result<Option<Account>, Failure> {
        let verdict = match &self.proof {
            FirstProof::Password { username, password } => sign_in::judge(site, call, username, password)?,
            FirstProof::Session(account) => Verdict::Right(account.clone()),
        };
        let Verdict::Right(account) = verdict else { return Ok(None) };
        if self.member_id.is_some_and(|given| given != account.member_id) {
            site.store.write(site.now(), |tx| sign_in::record_failure(site, call, tx, "", Some(&account)))?;
            return Ok(None);
        }
        Ok(Some(account))
    }

    fn renewed_hash(&self, site: &Site, account: &Account) -> Option<String> {
        match &self.proof {
            FirstProof::Password { password, .. } => sign_in::renewed_hash(site, account, password),
            FirstProof::Session(_) => None,
        }
    }
}
