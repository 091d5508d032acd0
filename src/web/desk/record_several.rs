//! One session of several students, recorded at the desk: numbers, skill and day first, then the names that these are and one proof
//! of the instructor for all.

use super::signer_proof::{self, Outcome, ProofForm};
use crate::app::logbook::groups::{self, Session, Student};
use crate::app::logbook::rules::{Recordable, list_all};
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::web::form_state::FormState;
use crate::web::group_session::{self, Sheet};
use crate::web::{Frame, form, form_pairs, form_status, show};
use askama::Template;
use http::StatusCode;
use std::cell::Cell;

const PART: &str = "/desk/sign-offs";
const PATH: &str = "/desk/record-several";
/// Fields that the proof covers.
const BOUND: &str = "students skill date comment";

#[derive(Template)]
#[template(path = "desk/record_several.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    sheet: Sheet,
    /// The students whom the numbers are, and the form for the proof, once they are known.
    students: Vec<Student>,
    proof: Option<ProofForm>,
}

/// `GET /desk/record-several`
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, StatusCode::OK, FormState::empty(), Vec::new(), None)
}

fn page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    status: StatusCode,
    form: FormState,
    students: Vec<Student>,
    proof: Option<ProofForm>,
) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let sheet = Sheet::of(site, call, &list_all(site), &frame.say("card.record_safety"), form)?;
    Ok(show(status, call.language(), &Page { frame, sheet, students, proof }))
}

/// `POST /desk/record-several`: shows whom the numbers name, and with a proof records the skill for all of them or for none.
pub(crate) fn record(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let sent = form_pairs(call)?;
    let read = read(site, call, &list_all(site));
    let read = read.and_then(|session| Ok((site.store.read(|tx| groups::find_students(tx, &session))?, session)));
    let (students, session) = match read {
        Ok(read) => read,
        Err(failure) => {
            return FormState::refused(sent, failure, call, call.language(), |form| {
                page(site, call, clerk, form_status(true), form, Vec::new(), None)
            });
        }
    };
    // The page with the names has the fields of the proof.
    let is_shown = sent.iter().any(|(name, _)| name == "username");
    if !is_shown {
        let proof = ProofForm::new(site, PATH.to_owned(), BOUND, String::new())?;
        return page(site, call, clerk, StatusCode::OK, FormState::sent(sent), students, Some(proof));
    }
    let at: Cell<Option<&Student>> = Cell::new(None);
    let name = || at.get().map_or_else(String::new, |student| student.display_name.clone());
    let outcome = signer_proof::carry_out(site, call, clerk, BOUND, &name, |cx| {
        groups::record(cx, &session, &students, |student| at.set(Some(student)))
    })?;
    match outcome {
        Outcome::Done => Ok(reply::see_other(&format!("{PART}?done=recorded"))),
        Outcome::Again(status, proof) => page(site, call, clerk, status, FormState::sent(sent), students, Some(*proof)),
    }
}

/// The fields of the form; 422 with every mistake. Who may sign the skill is judged by the proof.
fn read(site: &Site, call: &Call, known: &[Recordable]) -> Result<Session, Failure> {
    let mut form = form(call)?;
    let session = group_session::read(&mut form, &site.time_zone()?, site.now(), known);
    form.finish()?;
    Ok(session)
}
