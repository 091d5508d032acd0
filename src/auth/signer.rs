//! Somebody who proves at the desk who they are, in the browser of a clerk: by the same steps and with the same delays as
//! a sign-in, and without a session at the end. A booking PIN is no such proof, because the desk hands those out.

use super::challenge::{self, Intent};
use super::passkey::{self, CheckedResponse};
use super::second_factor::{self, Proof, RequiredCode, Requirement};
use super::sign_in::{self, Verdict};
use super::token_hash;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::Account;

/// A paper by its digest: what one proof signs, or denies, and nothing else.
pub(crate) type DocumentDigest = [u8; 32];

/// Who stands at the desk and proved it. Only this file makes one.
#[derive(Debug)]
pub(crate) struct Signer {
    id: i64,
}

impl Signer {
    pub(crate) fn id(&self) -> i64 {
        self.id
    }
}

/// The outcome of a proof.
pub(crate) enum ProofOutcome {
    Signer(Signer),
    /// The password was right, and a code is due.
    CodeRequired {
        /// Stands for the password from here on, for ten minutes and five tries.
        challenge: String,
        /// Whether the code comes from the authenticator app; else it was sent.
        by_app: bool,
        /// The translation key of the problem where a code should have been sent and was not.
        problem: Option<&'static str>,
    },
    /// The translation key of the reason. The transaction must be kept, because it counted a failed attempt.
    Refused(&'static str),
}

/// The paper with this text: the path that takes the proof, and what the form says, as browser and site both write it.
pub(crate) fn document_digest(text: &str) -> DocumentDigest {
    token_hash(&format!("paper {text}"))
}

/// By name and password; judged before the transaction, because that takes its time.
pub(crate) fn judge(site: &Site, call: &Call, name: &str, secret: &str) -> Result<Verdict, Failure> {
    sign_in::judge(site, call, name, secret)
}

/// The step that follows a password that was judged, for the act that `intent` names.
pub(crate) fn by_password(
    site: &Site,
    call: &Call,
    tx: &Write,
    verdict: &Verdict,
    intent: Intent,
) -> Result<ProofOutcome, Failure> {
    let Verdict::Right(account) = verdict else { return Ok(ProofOutcome::Refused("proof.wrong")) };
    if account.banned || !sign_in::is_as_judged(tx, account)? {
        return Ok(ProofOutcome::Refused("proof.wrong"));
    }
    match second_factor::requirement(site, tx, account, None)? {
        Requirement::Passed(_) => Ok(signer(account)),
        Requirement::SetupMissing => Ok(ProofOutcome::Refused("proof.no_factor")),
        Requirement::Code(due) => {
            let problem = match &due {
                RequiredCode::Passcode(Some(to)) => {
                    let sent = second_factor::send_if_any_is_left(site, call, tx, account.member_id, to)?;
                    (!sent).then_some("factor.passcodes_used_up")
                }
                RequiredCode::Passcode(None) => Some("factor.unreachable"),
                RequiredCode::Totp => None,
            };
            let challenge = challenge::begin(call, tx, account.member_id, intent)?;
            Ok(ProofOutcome::CodeRequired { challenge, by_app: due == RequiredCode::Totp, problem })
        }
    }
}

/// By the code that was due after the password.
pub(crate) fn by_code(
    site: &Site,
    call: &Call,
    tx: &Write,
    token: &str,
    code: &str,
    intent: Intent,
) -> Result<ProofOutcome, Failure> {
    let step = challenge::try_once(tx, token, intent)?;
    let Some(account) = step.filter(|account| !account.banned) else {
        return Ok(ProofOutcome::Refused("proof.step_ended"));
    };
    match sign_in::judge_code(site, call, tx, &account, || second_factor::prove(site, call, tx, &account, code))? {
        Proof::Right(_) => {
            challenge::end(tx, account.member_id)?;
            Ok(signer(&account))
        }
        Proof::Wrong => Ok(ProofOutcome::Refused("proof.code_wrong")),
        Proof::ClockSuspect => Ok(ProofOutcome::Refused("factor.clock_suspect")),
    }
}

/// By a passkey: two factors in itself.
pub(crate) fn by_passkey(call: &Call, tx: &Write, answer: &CheckedResponse) -> Result<ProofOutcome, Failure> {
    let known = passkey::identify(call, tx, answer)?;
    Ok(known.map_or(ProofOutcome::Refused("proof.passkey_refused"), |account| signer(&account)))
}

fn signer(account: &Account) -> ProofOutcome {
    ProofOutcome::Signer(Signer { id: account.member_id })
}
