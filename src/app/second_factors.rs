//! The second factor of a signed-in account: a code of the factor that is on, the first authenticator app or one on another
//! phone, and recovery codes. A code that does not prove is an outcome, so that its failed attempt is committed.

use super::{Change, SubjectAccount, credentials};
use crate::auth::second_factor::{self, Proof};
use crate::auth::sign_in;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::second_factors;
use crate::store::tables::sessions::TokenHash;

/// Why a code was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A code is needed and none was typed.
    Missing,
    Wrong,
    /// No secret waits for its first code.
    NoneWaits,
    /// The key of the reason why it cannot be checked.
    Unusable(&'static str),
}

impl Problem {
    /// The key of the text, with the edge's own words for a code that is missing or wrong.
    pub(crate) fn key(self, missing: &'static str, wrong: &'static str) -> &'static str {
        match self {
            Problem::Missing => missing,
            Problem::Wrong => wrong,
            Problem::NoneWaits => "factor.none_waits",
            Problem::Unusable(why) => why,
        }
    }
}

fn judged(proof: &Proof) -> Result<(), Problem> {
    match proof {
        Proof::Right(_) => Ok(()),
        Proof::Wrong | Proof::Delayed(_) => Err(Problem::Wrong),
        Proof::Unusable(why) => Err(Problem::Unusable(why)),
    }
}

/// Checks a code of the factor that is on. 429 while attempts are delayed.
pub(crate) fn check_code(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    code: Option<&str>,
) -> Result<Result<(), Problem>, Failure> {
    let Some(code) = code else { return Ok(Err(Problem::Missing)) };
    sign_in::check_not_delayed(cx.site, call, cx.tx, account)?;
    let prove = || second_factor::prove(cx.site, call, cx.tx, account, code);
    Ok(judged(&sign_in::check_code(cx.site, call, cx.tx, account, prove)?))
}

/// Makes a new secret for an authenticator app. Where a factor is on, a code of it or a recovery code is needed, and the
/// factor stays on until the first code of the new app.
pub(crate) fn begin_app(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    code: Option<&str>,
) -> Result<Result<(), Problem>, Failure> {
    if second_factors::find(cx.tx, account.member_id, cx.now())?.kind.is_some() {
        let checked = check_code(cx, call, account, code)?;
        if checked.is_err() {
            return Ok(checked);
        }
    }
    second_factor::begin_setup(cx.site, cx.tx, account.member_id, &second_factor::new_secret())?;
    Ok(Ok(()))
}

/// Turns the app on with its first code, and ends every session except `kept`. Returns the recovery codes.
pub(crate) fn finish_app(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    kept: &TokenHash,
    code: &str,
) -> Result<Result<Vec<String>, Problem>, Failure> {
    let member_id = account.member_id;
    if second_factor::find_pending(cx.site, cx.tx, member_id)?.is_none() {
        return Ok(Err(Problem::NoneWaits));
    }
    sign_in::check_not_delayed(cx.site, call, cx.tx, account)?;
    let prove = || Ok(second_factor::finish_setup(cx.site, cx.tx, member_id, code)?.unwrap_or(Proof::Wrong));
    if let Err(problem) = judged(&sign_in::check_code(cx.site, call, cx.tx, account, prove)?) {
        return Ok(Err(problem));
    }
    second_factor::finish_activation(cx.site, cx.tx, member_id, Some(kept), cx.language, cx.actor).map(Ok)
}

/// Replaces the recovery codes, which are shown once; needs a code of the factor that is on.
pub(crate) fn renew_codes(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    code: Option<&str>,
) -> Result<Result<Vec<String>, Problem>, Failure> {
    match check_code(cx, call, account, code)? {
        Ok(()) => credentials::renew_recovery_codes(cx, account).map(Ok),
        Err(problem) => Ok(Err(problem)),
    }
}

/// Turns the factor off, which needs a code of it. 403 for an account that must have one.
pub(crate) fn turn_off(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    kept: &TokenHash,
    code: Option<&str>,
) -> Result<Result<(), Problem>, Failure> {
    if second_factor::is_required(cx.site, account) {
        return Err(Failure::second_factor_required());
    }
    match check_code(cx, call, account, code)? {
        Ok(()) => credentials::turn_off_second_factor(cx, account, Some(kept)).map(Ok),
        Err(problem) => Ok(Err(problem)),
    }
}

/// Turns passcodes on as the second factor, see [`credentials::turn_on_passcodes`]. 403 for an account whose second factor has
/// to be an app.
pub(crate) fn turn_on_passcodes(
    cx: &Change,
    account: &SubjectAccount,
    kept: &TokenHash,
) -> Result<Vec<String>, Failure> {
    if !second_factor::takes_passcodes(account) {
        return Err(Failure::second_factor_required().saying(Text::new("factor.staff_app")));
    }
    credentials::turn_on_passcodes(cx, account, kept)
}
