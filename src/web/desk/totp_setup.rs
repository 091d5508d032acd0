//! Setup of an authenticator app at the first sign-in: the desk requires a second factor.

use super::second_factor::SIGN_IN_AGAIN;
use super::sign_in::{denial, with_session};
use crate::app::{self, Change};
use crate::auth::challenge::{self, Intent};
use crate::auth::clerk;
use crate::auth::second_factor::{self, Proof};
use crate::auth::sign_in::{self, OpenedSession};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::members::Account;
use crate::store::tables::second_factors;
use crate::web::factor::{RecoveryCodesCard, RecoveryWords, SecretCard, SecretWords};
use crate::web::{CODE_CHARS_MAX, read_form, show};
use http::StatusCode;

const WORDS: SecretWords = SecretWords {
    title: "desk.setup",
    why: "desk.setup_why",
    picture: "desk.setup_picture",
    secret: "desk.setup_secret",
    code: "desk.setup_code",
    turn_on: "desk.setup_turn_on",
    action: "/desk/sign-in/setup",
    back: ("/desk/sign-in", "desk.other_account"),
};
/// For a clerk who is signed in.
pub(super) const ACCOUNT_WORDS: SecretWords = SecretWords {
    turn_on: "account.app_turn_on",
    action: "/desk/account/authenticator/confirm",
    back: ("/desk/account", "card.cancel"),
    ..WORDS
};
pub(super) const RECOVERY_WORDS: RecoveryWords = RecoveryWords {
    title: "desk.recovery",
    username: "newcomer.username",
    made: "desk.recovery_made",
    why: "desk.recovery_why",
    used: "desk.recovery_used",
    print: "account.print",
    copy: "account.copy",
    copied: "account.copied",
    kept: "desk.recovery_kept",
    onward: "/desk",
};

/// `GET /desk/sign-in/setup`: the pending secret, as a QR code and as text.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    let now = site.now();
    let Some(token) = clerk::CHALLENGE.value(site, call) else { return Ok(reply::see_other(SIGN_IN_AGAIN)) };
    let account = site.store.read(|tx| {
        Ok(challenge::find(tx, token, Intent::DeskSetup, now)?.filter(|account| denial(call, account).is_none()))
    })?;
    match account {
        Some(account) => page(site, call, StatusCode::OK, &account, None),
        None => Ok(reply::see_other(SIGN_IN_AGAIN)),
    }
}

/// `POST /desk/sign-in/setup`: the first code turns the authenticator on and opens the session.
pub(crate) fn confirm(site: &Site, call: &Call) -> Answer {
    let code = read_form(call, |form| form.line("code", CODE_CHARS_MAX))?;
    let Some(token) = clerk::CHALLENGE.value(site, call) else { return Ok(reply::see_other(SIGN_IN_AGAIN)) };
    let set_up = app::change_by_stranger(site, call, |cx| set_up(cx, call, token, &code))?;
    match set_up {
        SetUp::Done(opened, username, codes) => {
            let card = RecoveryCodesCard::new(site, call, &RECOVERY_WORDS, username, codes)?;
            with_session(site, call, show(StatusCode::OK, call.language(), &card), &opened)
        }
        SetUp::Refused(account, key) => page(site, call, StatusCode::UNPROCESSABLE_ENTITY, &account, Some(key)),
        SetUp::Ended => Ok(reply::see_other(SIGN_IN_AGAIN)),
    }
}

/// The outcome of a first code.
enum SetUp {
    /// The session, the username and the recovery codes.
    Done(OpenedSession, String, Vec<String>),
    /// With the key of the reason.
    Refused(Account, &'static str),
    /// The challenge has ended, or the account has a second factor by now.
    Ended,
}

fn set_up(cx: &Change, call: &Call, token: &str, code: &str) -> Result<SetUp, Failure> {
    let (site, tx) = (cx.site, cx.tx);
    let account = challenge::try_once(tx, token, Intent::DeskSetup)?.filter(|account| denial(call, account).is_none());
    let Some(account) = account else { return Ok(SetUp::Ended) };
    // A password alone may set up the first factor, never replace one.
    if has_factor(site, tx, account.member_id)? {
        return Ok(SetUp::Ended);
    }
    let prove = || Ok(second_factor::finish_setup(site, tx, account.member_id, code)?.unwrap_or(Proof::Wrong));
    let passed = match sign_in::check_code(site, call, tx, &account, prove)? {
        Proof::Right(passed) => passed,
        Proof::Wrong | Proof::Delayed(_) => return Ok(SetUp::Refused(account, "desk.code_wrong")),
        Proof::Unusable(why) => return Ok(SetUp::Refused(account, why)),
    };
    challenge::end(tx, account.member_id)?;
    let actor = call.actor(account.member_id);
    let codes = second_factor::finish_activation(site, tx, account.member_id, None, cx.language, &actor)?;
    let opened = sign_in::open_session(site, call, tx, passed, &account, None)?.ok_or_else(Failure::not_signed_in)?;
    Ok(SetUp::Done(opened, account.username, codes))
}

fn has_factor(site: &Site, tx: &Read, member_id: MemberId) -> Result<bool, Failure> {
    Ok(second_factors::find(tx, member_id, site.now())?.kind.is_some())
}

fn page(site: &Site, call: &Call, status: StatusCode, account: &Account, problem: Option<&'static str>) -> Answer {
    let found = site.store.read(|tx| match has_factor(site, tx, account.member_id)? {
        true => Ok(None),
        false => second_factor::find_pending(site, tx, account.member_id),
    })?;
    let Some(secret) = found else { return Ok(reply::see_other(SIGN_IN_AGAIN)) };
    let card = SecretCard::new(site, call, &WORDS, &account.username, &secret, problem)?;
    Ok(show(status, call.language(), &card))
}
