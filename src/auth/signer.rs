//! The proof of a signer in the browser of a clerk: the same factors and delays as a sign-in, and no session at the end.
//! A booking PIN is no such proof, because the desk hands those out.

use super::challenge::{self, DocumentDigest, Intent};
use super::passkey::{self, CheckedResponse};
use super::second_factor::{self, Proof, RequiredCode, Requirement};
use super::sign_in;
use super::token_hash;
use crate::domain::ids::MemberId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::Account;

/// A member whose identity was proven at the desk. Only this file makes one.
#[derive(Debug)]
pub(crate) struct Signer {
    id: MemberId,
}

impl Signer {
    pub(crate) fn id(&self) -> MemberId {
        self.id
    }
}

/// The outcome of a proof.
pub(crate) enum ProofOutcome {
    Signer(Signer),
    /// The password was right, and a code is required.
    CodeRequired {
        /// The token that replaces the password in the next request, for ten minutes and five tries.
        challenge: String,
        /// Whether the code comes from the authenticator app; else it was sent.
        by_app: bool,
        /// The translation key of the problem where a code should have been sent and was not.
        problem: Option<&'static str>,
    },
    /// The translation key of the reason. The transaction must be kept, because it counted a failed attempt.
    Refused(&'static str),
}

/// The digest of a document: the path that takes the proof, and the form's values, as browser and site both write them.
pub(crate) fn document_digest(text: &str) -> DocumentDigest {
    token_hash(&format!("paper {text}"))
}

/// Proof by a password that [`sign_in::check_password`] found right, for the act that `intent` names.
pub(crate) fn by_password(
    site: &Site,
    call: &Call,
    tx: &Write,
    checked: Option<&Account>,
    intent: Intent,
) -> Result<ProofOutcome, Failure> {
    let Some(account) = checked else { return Ok(ProofOutcome::Refused("proof.wrong")) };
    if account.banned || account.leaves || !sign_in::is_unchanged(tx, account)? {
        return Ok(ProofOutcome::Refused("proof.wrong"));
    }
    match second_factor::requirement(site, tx, account, None)? {
        Requirement::Passed(_) => Ok(signer(account)),
        Requirement::SetupMissing => Ok(ProofOutcome::Refused("proof.no_factor")),
        Requirement::Code(due) => {
            let problem = match &due {
                RequiredCode::Passcode(Some(to)) => {
                    let sent = second_factor::send_within_limit(site, call, tx, account.member_id, to)?;
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

/// Proof by the code that was required after the password.
pub(crate) fn by_code(
    site: &Site,
    call: &Call,
    tx: &Write,
    token: &str,
    code: &str,
    intent: Intent,
) -> Result<ProofOutcome, Failure> {
    let account = challenge::try_once(tx, token, intent)?;
    let Some(account) = account.filter(|account| !account.banned && !account.leaves) else {
        return Ok(ProofOutcome::Refused("proof.step_ended"));
    };
    match sign_in::check_code(site, call, tx, &account, || second_factor::prove(site, call, tx, &account, code))? {
        Proof::Right(_) => {
            challenge::end(tx, account.member_id)?;
            Ok(signer(&account))
        }
        Proof::Wrong | Proof::Delayed(_) => Ok(ProofOutcome::Refused("proof.code_wrong")),
        Proof::Unusable(why) => Ok(ProofOutcome::Refused(why)),
    }
}

/// Proof by a passkey, which is two factors in itself.
pub(crate) fn by_passkey(
    site: &Site,
    call: &Call,
    tx: &Write,
    response: &CheckedResponse,
) -> Result<ProofOutcome, Failure> {
    Ok(match passkey::apply(site, call, tx, response)? {
        passkey::Outcome::SignedIn(account) => signer(&account),
        passkey::Outcome::Registered(_) | passkey::Outcome::Refused => ProofOutcome::Refused("proof.passkey_refused"),
    })
}

fn signer(account: &Account) -> ProofOutcome {
    ProofOutcome::Signer(Signer { id: account.member_id })
}
