//! The second factor of a signed-in account: a code of the factor that is on, the first authenticator app or one on another
//! phone, and recovery codes. A code that does not prove is an outcome and no denial, so that its counted attempt stays.

use super::{Change, SubjectAccount, credentials};
use crate::auth::second_factor::{self, Proof};
use crate::auth::sign_in;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::second_factors;
use crate::store::tables::sessions::TokenHash;

/// What a code came to.
#[must_use]
pub(crate) enum Checked<T> {
    Passed(T),
    Refused(Problem),
}

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

impl<T> Checked<T> {
    /// What the code is followed by where it passed.
    pub(crate) fn then<U>(self, next: impl FnOnce(T) -> Result<U, Failure>) -> Result<Checked<U>, Failure> {
        match self {
            Checked::Passed(value) => next(value).map(Checked::Passed),
            Checked::Refused(problem) => Ok(Checked::Refused(problem)),
        }
    }
}

fn judged(proof: &Proof) -> Checked<()> {
    match proof {
        Proof::Right(_) => Checked::Passed(()),
        Proof::Wrong | Proof::Delayed(_) => Checked::Refused(Problem::Wrong),
        Proof::Unusable(why) => Checked::Refused(Problem::Unusable(why)),
    }
}

/// Checks a code of the factor that is on, and counts one that is wrong. 429 while attempts are delayed.
pub(crate) fn check_code(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    code: Option<&str>,
) -> Result<Checked<()>, Failure> {
    let Some(code) = code else { return Ok(Checked::Refused(Problem::Missing)) };
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
) -> Result<Checked<()>, Failure> {
    let is_on = second_factors::find(cx.tx, account.member_id, cx.now())?.kind.is_some();
    let checked = if is_on { check_code(cx, call, account, code)? } else { Checked::Passed(()) };
    checked.then(|()| second_factor::begin_setup(cx.site, cx.tx, account.member_id, &second_factor::new_secret()))
}

/// Turns the app on with its first code, and ends every session except `kept`. Returns the recovery codes.
pub(crate) fn finish_app(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    kept: &TokenHash,
    code: &str,
) -> Result<Checked<Vec<String>>, Failure> {
    let member_id = account.member_id;
    if second_factor::find_pending(cx.site, cx.tx, member_id)?.is_none() {
        return Ok(Checked::Refused(Problem::NoneWaits));
    }
    sign_in::check_not_delayed(cx.site, call, cx.tx, account)?;
    let prove = || Ok(second_factor::finish_setup(cx.site, cx.tx, member_id, code)?.unwrap_or(Proof::Wrong));
    let finish = |()| second_factor::finish_activation(cx.site, cx.tx, member_id, Some(kept), cx.language, cx.actor);
    judged(&sign_in::check_code(cx.site, call, cx.tx, account, prove)?).then(finish)
}

/// Replaces the recovery codes, which are shown once; needs a code of the factor that is on.
pub(crate) fn renew_codes(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    code: Option<&str>,
) -> Result<Checked<Vec<String>>, Failure> {
    check_code(cx, call, account, code)?.then(|()| credentials::renew_recovery_codes(cx, account))
}

/// Turns the factor off, which needs a code of it. 403 for an account that must have one.
pub(crate) fn turn_off(
    cx: &Change,
    call: &Call,
    account: &SubjectAccount,
    kept: &TokenHash,
    code: Option<&str>,
) -> Result<Checked<()>, Failure> {
    if second_factor::is_required(cx.site, account) {
        return Err(Failure::second_factor_required());
    }
    check_code(cx, call, account, code)?.then(|()| credentials::turn_off_second_factor(cx, account, Some(kept)))
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
