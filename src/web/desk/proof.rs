//! One proof of a signer for everything that stands on a page: by password and code, or by passkey. The browser is the
//! clerk's; what is signed or denied is the signer's own deed.

use crate::app::{self, Actor, Change};
use crate::auth::Clerk;
use crate::auth::challenge::Intent;
use crate::auth::passkey;
use crate::auth::signer::{self, DocumentDigest, ProofOutcome};
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::signers;
use crate::web::form;
use http::StatusCode;

const CREDENTIAL_CHARS_MAX: usize = 60_000;
const CODE_CHARS_MAX: usize = 40;
const STEP_CHARS_MAX: usize = 128;
const NAME_CHARS_MAX: usize = 254;

/// The part of a form in which a signer proves who they are.
pub(crate) struct ProofForm {
    pub(crate) username: String,
    /// Stands for the password that was right, where a code is due.
    pub(crate) step: Option<String>,
    /// Whether the code comes from an app; else it was sent.
    pub(crate) by_app: bool,
    pub(crate) problem: Option<String>,
    /// The path that takes the proof.
    pub(crate) path: String,
    /// Names of the fields that the proof is for, with a space between two.
    pub(crate) bound: &'static str,
    /// Usernames of those who sign here, to choose from.
    pub(crate) known: Vec<(String, String)>,
}

/// The outcome of a proof.
pub(crate) enum Outcome {
    Done,
    /// The form is shown again: refused, or with the code that is due.
    Again(StatusCode, Box<ProofForm>),
}

/// The text of what a form asks a signer to sign: its path, and the values of its `bound` fields in their order. The script
/// of the page puts the same text together for a passkey.
fn paper(path: &str, bound: &str, pairs: &[(String, String)]) -> DocumentDigest {
    let is_bound = |name: &str| bound.split(' ').any(|one| one == name);
    let said = pairs.iter().filter(|(name, _)| is_bound(name)).map(|(name, value)| format!("{name}={value}"));
    signer::document_digest(&format!("{path}?{}", said.collect::<Vec<_>>().join("&")))
}

/// Every value that a form sent under a name.
pub(crate) fn values(call: &Call, name: &str) -> Result<Vec<String>, Failure> {
    let pairs = call.form()?.ok_or_else(Failure::unsupported_type)?;
    Ok(pairs.into_iter().filter(|(one, _)| one == name).map(|(_, value)| value).collect())
}

impl ProofForm {
    /// An empty one.
    pub(crate) fn new(site: &Site, path: String, bound: &'static str, username: String) -> Result<ProofForm, Failure> {
        let mut known: Vec<(String, String)> = site.store.read(|tx| {
            let listed = signers::list(tx, site.tunnel_id)?.into_iter();
            Ok(listed.map(|one| (one.username, one.screen_name)).collect())
        })?;
        known.sort();
        known.dedup();
        Ok(ProofForm { username, step: None, by_app: false, problem: None, path, bound, known })
    }

    /// Refused before anybody was asked to prove anything.
    pub(crate) fn refused(mut self, problem: String) -> Outcome {
        self.problem = Some(problem);
        Outcome::Again(StatusCode::UNPROCESSABLE_ENTITY, Box::new(self))
    }
}

/// Takes the proof that came with the form and runs the effect as the signer. The effect is all or nothing; `subject` names
/// what it was at when a rule refused it.
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
    let pairs = call.form()?.ok_or_else(Failure::unsupported_type)?;
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
        return prove(site, call, clerk, again, subject, |tx| signer::by_passkey(call, tx, &answer), effect);
    }
    match (step.get(&ok), secret.get(&ok)) {
        (Some(step), _) => {
            let code = code.get(&ok).unwrap_or_default();
            again.step = Some(step.clone());
            let proof = |tx: &Write| signer::by_code(site, call, tx, &step, &code, intent);
            prove(site, call, clerk, again, subject, proof, effect)
        }
        (None, Some(secret)) if !again.username.is_empty() => {
            let verdict = signer::judge(site, call, &again.username, &secret)?;
            let proof = |tx: &Write| signer::by_password(site, call, tx, &verdict, intent);
            prove(site, call, clerk, again, subject, proof, effect)
        }
        (None, _) => Ok(again.refused(call.say("desk.sign_missing"))),
    }
}

/// Judges a proof and applies the signature, in one transaction. A failed attempt stays counted; a refusal by the rules
/// of signing leaves nothing.
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
            // Signs as a member, whatever else the signer is here.
            let actor = &Actor::account(signer.id(), Role::Member, &call.by(signer.id()));
            effect(&Change { actor, ..*cx })?;
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
        // Somebody who may not sign this, or something that is not open to it: said where it was tried.
        Err(failure) if [403, 409, 422].contains(&failure.status().as_u16()) => {
            again.step = None;
            let text = failure.problems().first().map_or(failure.text(), |problem| &problem.text);
            let text = call.language().say(text);
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
