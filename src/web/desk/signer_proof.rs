//! The proof of identity of a signer in a clerk's browser, for everything that a page submits: by password and code, or by
//! passkey. The effect runs with the signer as actor.

use crate::app::{self, Change, RankedActor};
use crate::auth::Clerk;
use crate::auth::challenge::Intent;
use crate::auth::passkey;
use crate::auth::sign_in;
use crate::auth::signer::{self, DocumentDigest, ProofOutcome};
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::signers;
use crate::web::{CODE_CHARS_MAX, CREDENTIAL_CHARS_MAX, first_problem, form, form_pairs};
use http::StatusCode;

const STEP_CHARS_MAX: usize = 128;
const NAME_CHARS_MAX: usize = 254;

/// The part of a form in which a signer proves their identity.
pub(crate) struct ProofForm {
    pub(crate) username: String,
    /// Token of the sign-in challenge, where the password was right and a code is due.
    pub(crate) step: Option<String>,
    /// Whether the code comes from an authenticator app; else a passcode was sent.
    pub(crate) by_app: bool,
    pub(crate) problem: Option<String>,
    /// Path that the proof is sent to.
    pub(crate) path: String,
    /// Names of the fields that the proof covers, separated by spaces.
    pub(crate) bound: &'static str,
    /// Username and screen name of the signers of this tunnel, to choose from.
    pub(crate) known: Vec<(String, String)>,
}

/// The outcome of a proof.
pub(crate) enum Outcome {
    Done,
    /// The form is shown again: it was refused, or a code is due.
    Again(StatusCode, Box<ProofForm>),
}

/// The text that a signer signs: the path, and the values of the `bound` fields in their order. The script of the page
/// builds the same text for a passkey.
fn paper(path: &str, bound: &str, pairs: &[(String, String)]) -> DocumentDigest {
    let is_bound = |name: &str| bound.split(' ').any(|one| one == name);
    let bound_fields = pairs.iter().filter(|(name, _)| is_bound(name)).map(|(name, value)| format!("{name}={value}"));
    signer::document_digest(&format!("{path}?{}", bound_fields.collect::<Vec<_>>().join("&")))
}

/// Every value that a form sent under a name.
pub(crate) fn values(call: &Call, name: &str) -> Result<Vec<String>, Failure> {
    let pairs = form_pairs(call)?;
    Ok(pairs.into_iter().filter(|(one, _)| one == name).map(|(_, value)| value).collect())
}

impl ProofForm {
    /// An empty form.
    pub(crate) fn new(site: &Site, path: String, bound: &'static str, username: String) -> Result<ProofForm, Failure> {
        let mut known: Vec<(String, String)> = site.store.read(|tx| {
            let listed = signers::list(tx, site.tunnel_id)?.into_iter();
            Ok(listed.map(|one| (one.username, one.screen_name)).collect())
        })?;
        known.sort();
        known.dedup();
        Ok(ProofForm { username, step: None, by_app: false, problem: None, path, bound, known })
    }

    /// The form with a problem; 422.
    pub(crate) fn refused(mut self, problem: String) -> Outcome {
        self.problem = Some(problem);
        Outcome::Again(StatusCode::UNPROCESSABLE_ENTITY, Box::new(self))
    }
}

/// Judges the proof in a form and runs `effect` as the signer, in one transaction. `subject` names the item that `effect`
/// was at when a rule refused it.
pub(crate) fn carry_out(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    bound: &'static str,
    subject: &dyn Fn() -> String,
    effect: impl FnOnce(&Change) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let mut body = form(call)?;
    let username = body.optional("username", fields::line(NAME_CHARS_MAX));
    let secret = body.optional("password", fields::secret);
    let code = body.optional("code", fields::line(CODE_CHARS_MAX));
    let step = body.optional("step", fields::line(STEP_CHARS_MAX));
    let credential = body.optional("credential", fields::lines(CREDENTIAL_CHARS_MAX));
    let by_app = body.has("by_app");
    let ok = body.finish()?;
    let pairs = form_pairs(call)?;
    let paper = paper(&call.path, bound, &pairs);
    let intent = Intent::SignDocument(paper);
    let username = username.get(&ok).unwrap_or_default();
    let mut again = ProofForm::new(site, call.path.clone(), bound, username)?;
    again.by_app = by_app;
    if let Some(credential) = credential.get(&ok) {
        let Some(answer) = passkey::check_response(site, call, &credential, passkey::Intent::SignDocument(paper))?
        else {
            return Ok(again.refused(call.say("proof.passkey_refused")));
        };
        return prove(site, call, clerk, again, subject, |tx| signer::by_passkey(site, call, tx, &answer), effect);
    }
    match (step.get(&ok), secret.get(&ok)) {
        (Some(step), _) => {
            let code = code.get(&ok).unwrap_or_default();
            again.step = Some(step.clone());
            let proof = |tx: &Write| signer::by_code(site, call, tx, &step, &code, intent);
            prove(site, call, clerk, again, subject, proof, effect)
        }
        (None, Some(secret)) if !again.username.is_empty() => {
            let account = sign_in::check_password(site, call, &again.username, &secret)?;
            let proof = |tx: &Write| signer::by_password(site, call, tx, account.as_ref(), intent);
            prove(site, call, clerk, again, subject, proof, effect)
        }
        (None, _) => Ok(again.refused(call.say("desk.sign_missing"))),
    }
}

/// Judges a proof and runs the effect, in one transaction. A failed attempt is counted; a refusal by the rules of signing
/// leaves no change.
fn prove(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    mut again: ProofForm,
    subject: &dyn Fn() -> String,
    proof: impl FnOnce(&Write) -> Result<ProofOutcome, Failure>,
    effect: impl FnOnce(&Change) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let came = app::change(site, clerk, call.language(), |cx| {
        let proven = proof(cx.tx)?;
        if let ProofOutcome::Signer(signer) = &proven {
            // A signer acts in the role of a member, whatever role the account has.
            let signing = RankedActor::account(signer.id(), Role::Member, &call.actor(signer.id()));
            effect(&signing.change(cx.site, cx.tx, cx.language))?;
        }
        Ok(proven)
    });
    match came {
        Ok(ProofOutcome::Signer(_)) => Ok(Outcome::Done),
        Ok(ProofOutcome::CodeRequired { challenge: step, by_app, problem }) => {
            again.problem = problem.map(|key| call.say(key));
            (again.step, again.by_app) = (Some(step), by_app);
            Ok(Outcome::Again(StatusCode::OK, Box::new(again)))
        }
        Ok(ProofOutcome::Refused(key)) => {
            if key == "proof.step_ended" {
                again.step = None;
            }
            Ok(again.refused(call.say(key)))
        }
        // A signer without permission, or an entry in another state: the form shows why.
        Err(failure) if [403, 409, 422].contains(&failure.status().as_u16()) => {
            again.step = None;
            let text = first_problem(&failure, call.language());
            let subject = subject();
            if failure.code() == Failure::entry_changed().code() {
                again.problem = Some(text);
                return Ok(Outcome::Again(StatusCode::CONFLICT, Box::new(again)));
            }
            Ok(again.refused(if subject.is_empty() { text } else { format!("{subject}: {text}") }))
        }
        Err(failure) => Err(failure),
    }
}
