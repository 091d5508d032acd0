//! The second step of a sign-in: which code is due after a right password, and the text that asks for it.

use super::limits::proofs;
use super::second_factor::{self, RequiredCode};
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::Account;
use serde::{Deserialize, Serialize};

/// The code of a second step.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum CodeKind {
    /// Of the authenticator app.
    Authenticator,
    /// A passcode that was sent.
    Passcode,
}

/// Requires a second step, and sends its passcode, if any, where the sign-in `sends` one. Returns the key of the text that
/// asks for the code. 429 after too many second steps that nobody finished.
pub(crate) fn require(
    site: &Site,
    call: &Call,
    tx: &Write,
    account: &Account,
    due: &RequiredCode,
    sends: bool,
) -> Result<(CodeKind, &'static str), Failure> {
    call.outcome.set(AuthOutcome::SecondFactorDue);
    proofs::count_second_step(site, call, tx, account)?;
    Ok(match due {
        RequiredCode::Totp if site.clock.is_suspect() => (CodeKind::Authenticator, second_factor::CLOCK_SUSPECT),
        RequiredCode::Totp => (CodeKind::Authenticator, "factor.totp_due"),
        RequiredCode::Passcode(None) => (CodeKind::Passcode, "factor.unreachable"),
        RequiredCode::Passcode(Some(_)) if !sends => (CodeKind::Passcode, "factor.passcode_due"),
        RequiredCode::Passcode(Some(to)) => {
            let sent = second_factor::send_within_limit(site, call, tx, account.member_id, to)?;
            (CodeKind::Passcode, if sent { "passcode.sent" } else { "factor.passcodes_used_up" })
        }
    })
}
