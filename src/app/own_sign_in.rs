//! Signing in to the member's own pages: by password and, where one is set, the second factor; or by passkey.

use super::{Change, RankedActor, change};
use crate::auth::challenge::{self, Intent};
use crate::auth::passkey as ceremony;
use crate::auth::second_factor::{self, Proof, Requirement, SecondFactorPassed};
use crate::auth::sign_in::{self, OpenedSession, PasswordProof};
use crate::auth::{limits, second_step};
use crate::domain::role::Role;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::members::Account;

const WRONG: &str = "sign_in.wrong";
const REFUSED_PASSKEY: &str = "me.passkey_refused";

/// What a sign-in came to.
pub(crate) enum Entry {
    SignedIn(OpenedSession),
    /// A second step is due: the token of its challenge, and the key of the text that asks for the code.
    CodeDue {
        token: String,
        asks: &'static str,
    },
    /// The key of the reason.
    Refused(&'static str),
}

/// What a second step came to.
pub(crate) enum Step {
    Entered(Entry),
    /// The code does not prove: the key of the reason.
    Wrong(&'static str),
    /// The challenge has ended, or another sign-in has begun in this browser.
    Ended,
}

/// Signs a member in, or begins the second step. 429 while attempts are delayed.
pub(crate) fn with_password(site: &Site, call: &Call, name: &str, secret: &str) -> Result<Entry, Failure> {
    let account = match sign_in::check_password(site, call, name, secret)? {
        PasswordProof::Right(account) => account,
        PasswordProof::Wrong => return Ok(Entry::Refused(WRONG)),
        PasswordProof::Delayed(seconds) => return Err(limits::too_soon(seconds)),
    };
    let renewed = sign_in::renewed_hash(site, &account, secret);
    change(site, RankedActor::stranger(call), call.language(), |cx| {
        if !sign_in::is_unchanged(cx.tx, &account)? {
            return Ok(Entry::Refused(WRONG));
        }
        if let Some(key) = denial(call, &account) {
            return Ok(Entry::Refused(key));
        }
        match second_factor::requirement(site, cx.tx, &account, None)? {
            Requirement::Passed(passed) => enter(cx, call, passed, &account, renewed.as_deref()),
            Requirement::SetupMissing => Ok(Entry::Refused("me.factor_at_desk")),
            Requirement::Code(due) => {
                let (_, asks) = second_step::require(site, call, cx.tx, &account, &due, true)?;
                Ok(Entry::CodeDue { token: challenge::begin(call, cx.tx, account.member_id, Intent::Own)?, asks })
            }
        }
    })
}

/// Why an account may not sign in, although its owner has proven enough; as a key.
fn denial(call: &Call, account: &Account) -> Option<&'static str> {
    if account.banned {
        call.outcome.set(AuthOutcome::Banned);
        return Some("sign_in.banned");
    }
    (account.role == Role::Sync).then_some("me.no_pages")
}

fn enter(
    cx: &Change,
    call: &Call,
    passed: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Result<Entry, Failure> {
    let opened = sign_in::open_own_session(cx.site, call, cx.tx, passed, account, renewed)?;
    Ok(opened.map_or(Entry::Refused(WRONG), Entry::SignedIn))
}

/// The account whose second step is due, by the token of its challenge.
pub(crate) fn find_due(site: &Site, token: &str) -> Result<Option<Account>, Failure> {
    site.store.read(|tx| challenge::find(tx, token, Intent::Own, site.now()))
}

/// Judges the code of a second step for the account that the page named. The challenge allows a few attempts. 429 while
/// attempts are delayed.
pub(crate) fn with_code(site: &Site, call: &Call, token: &str, username: &str, code: &str) -> Result<Step, Failure> {
    change(site, RankedActor::stranger(call), call.language(), |cx| {
        let account = challenge::try_once(cx.tx, token, Intent::Own)?;
        let Some(account) = account.filter(|account| denial(call, account).is_none() && account.username == username)
        else {
            return Ok(Step::Ended);
        };
        let prove = || second_factor::prove(site, call, cx.tx, &account, code);
        match sign_in::check_code(site, call, cx.tx, &account, prove)? {
            Proof::Right(passed) => {
                challenge::end(cx.tx, account.member_id)?;
                Ok(Step::Entered(enter(cx, call, passed, &account, None)?))
            }
            Proof::Wrong => Ok(Step::Wrong("me.code_wrong")),
            Proof::Unusable(why) => Ok(Step::Wrong(why)),
            Proof::Delayed(seconds) => Err(limits::too_soon(seconds)),
        }
    })
}

/// Signs in by the browser's response to a challenge for these pages.
pub(crate) fn with_passkey(site: &Site, call: &Call, credential: &str) -> Result<Entry, Failure> {
    let Some(answer) = ceremony::check_response(site, call, credential, ceremony::Intent::Own)? else {
        return Ok(Entry::Refused(REFUSED_PASSKEY));
    };
    change(site, RankedActor::stranger(call), call.language(), |cx| {
        let ceremony::Outcome::SignedIn(account) = ceremony::apply(site, call, cx.tx, &answer)? else {
            return Ok(Entry::Refused(REFUSED_PASSKEY));
        };
        match denial(call, &account) {
            Some(key) => Ok(Entry::Refused(key)),
            None => Ok(Entry::SignedIn(sign_in::insert_own_session(call, cx.tx, &account)?)),
        }
    })
}
