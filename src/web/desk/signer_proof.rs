//! The proof of identity of a signer in a clerk's browser, for everything that a page submits: by password and code, or by
//! passkey. The effect runs with the signer as actor.

use crate::app::{self, Change, RankedActor};
use crate::auth::Clerk;
use crate::auth::challenge::DocumentDigest;
use crate::auth::challenge::Intent;
use crate::auth::passkey;
use crate::auth::sign_in;
use crate::auth::signer::{self, ProofOutcome};
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::site::Site;
use crate::store::tables::signers;
use crate::web::{CODE_CHARS_MAX, CREDENTIAL_CHARS_MAX, first_problem, form, form_pairs, form_status, read_form};
use http::StatusCode;

const STEP_CHARS_MAX: usize = 128;

/// The part of a form in which a signer proves their identity.
#[derive(Default)]
pub(crate) struct ProofForm {
    pub(crate) username: String,
    /// Token of the sign-in challenge, where the password was right and a code is due.
    pub(crate) step: Option<String>,
    /// Whether the code comes from an authenticator app; else a passcode was sent.
    pub(crate) by_app: bool,
    pub(crate) problem: Option<String>,
    /// Path that the proof is sent to; empty where the proof covers no document.
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

    /// The form with the username as it was sent, where the rest of the page is refused before the proof is judged.
    pub(crate) fn sent(self, call: &Call) -> Result<ProofForm, Failure> {
        Ok(ProofForm { username: read_form(call, |form| form.username())?, ..self })
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
    let paper = paper(&call.path, bound, &form_pairs(call)?);
    let again = ProofForm::new(site, call.path.clone(), bound, String::new())?;
    let proof = Proof { site, call, clerk, again, subject };
    match read_form(call, |form| form.has("credential"))? {
        true => proof.by_passkey(passkey::Intent::SignDocument(paper), effect),
        false => proof.by_password(Intent::SignDocument(paper), effect),
    }
}

/// A proof that is about to be judged.
pub(crate) struct Proof<'a> {
    pub(crate) site: &'a Site,
    pub(crate) call: &'a Call,
    pub(crate) clerk: &'a Clerk,
    /// The form that is shown again where the proof is refused.
    pub(crate) again: ProofForm,
    pub(crate) subject: &'a dyn Fn() -> String,
}

impl Proof<'_> {
    /// Proof by a passkey, for the act that `intent` names.
    pub(crate) fn by_passkey(
        mut self,
        intent: passkey::Intent,
        effect: impl FnOnce(&Change) -> Result<(), Failure>,
    ) -> Result<Outcome, Failure> {
        let (site, call) = (self.site, self.call);
        let credential;
        (self.again.username, credential) =
            read_form(call, |form| (form.username(), form.lines("credential", CREDENTIAL_CHARS_MAX)))?;
        match passkey::check_response(site, call, &credential, intent)? {
            Some(answer) => self.judge(|cx| signer::by_passkey(site, call, cx.tx, &answer), effect),
            None => Ok(self.again.refused(call.say("proof.passkey_refused"))),
        }
    }

    /// Proof by a password, or by the code that was required after it, for the act that `intent` names.
    pub(crate) fn by_password(
        mut self,
        intent: Intent,
        effect: impl FnOnce(&Change) -> Result<(), Failure>,
    ) -> Result<Outcome, Failure> {
        let (site, call) = (self.site, self.call);
        let mut form = form(call)?;
        self.again.username = form.username();
        self.again.by_app = form.has("by_app");
        let secret = form.optional("password", fields::secret);
        let code = form.line("code", CODE_CHARS_MAX);
        let step = form.optional("step", fields::line(STEP_CHARS_MAX));
        form.finish()?;
        match (step, secret) {
            (Some(step), _) => {
                self.again.step = Some(step.clone());
                self.judge(|cx| signer::by_code(site, call, cx.tx, &step, &code, intent), effect)
            }
            (None, Some(secret)) if !self.again.username.is_empty() => {
                let account = sign_in::check_password(site, call, &self.again.username, &secret)?.account();
                self.judge(|cx| signer::by_password(site, call, cx.tx, account.as_ref(), intent), effect)
            }
            (None, _) => Ok(self.again.refused(call.say("desk.sign_missing"))),
        }
    }

    /// Judges a proof and runs the effect, in one transaction. A failed attempt is counted; a refusal by the rules of
    /// signing leaves no change.
    fn judge(
        self,
        proof: impl FnOnce(&Change) -> Result<ProofOutcome, Failure>,
        effect: impl FnOnce(&Change) -> Result<(), Failure>,
    ) -> Result<Outcome, Failure> {
        let Proof { site, call, clerk, mut again, subject } = self;
        let came = app::change(site, clerk, call.language(), |cx| {
            let proven = proof(cx)?;
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
                Ok(Outcome::Again(form_status(again.problem.is_some()), Box::new(again)))
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
                if failure.is(Failure::entry_changed) {
                    again.problem = Some(text);
                    return Ok(Outcome::Again(StatusCode::CONFLICT, Box::new(again)));
                }
                Ok(again.refused(if subject.is_empty() { text } else { call.language().labelled(&subject, &text) }))
            }
            Err(failure) => Err(failure),
        }
    }
}
