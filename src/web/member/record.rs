//! An instructor records one session for several students: numbers, skill and day first, then the names that these are and one
//! proof for all.

use super::frame::Shell;
use super::{show, signing};
use crate::app;
use crate::app::logbook::groups::{self, Session, Student};
use crate::app::logbook::rules::{Recordable, list_signable};
use crate::auth::{Member, own, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::form_state::{FormState, value};
use crate::web::group_session::{self, Sheet};
use crate::web::{all_problems, form, form_pairs, form_status};
use askama::Template;
use std::cell::Cell;

#[derive(Template)]
#[template(path = "member/record.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    sheet: Sheet,
    /// The students whom the numbers are, once they are known: the page then asks for the password.
    students: Vec<Student>,
}

/// `GET /me/signing/record`
pub(crate) fn show_form(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, FormState::empty(), Vec::new())
}

fn signable(site: &Site, member: &Member) -> Result<Vec<Recordable>, Failure> {
    site.store.read(|tx| list_signable(site, tx, member.id(), site.now()))
}

fn page(site: &Site, call: &Call, member: &Member, form: FormState, students: Vec<Student>) -> Answer {
    let shell = Shell::of(site, call, member, own::HOME)?;
    let status = form_status(form.has_problems());
    let sheet = Sheet::of(site, call, &signable(site, member)?, &shell.say("me.kind_safety"), form)?;
    Ok(show(status, call.language(), &Page { shell, sheet, students }))
}

/// `POST /me/signing/record`: shows whom the numbers name, and with the password records the skill for all of them or for none.
pub(crate) fn record(site: &Site, call: &Call, member: &Member) -> Answer {
    let sent = form_pairs(call)?;
    let refused = |failure: Failure, students: Vec<Student>| {
        FormState::refused(sent.clone(), failure, call, call.language(), |form| {
            page(site, call, member, form, students)
        })
    };
    let read = read(site, call, member).and_then(|(session, password)| {
        Ok((site.store.read(|tx| groups::find_students(tx, &session))?, session, password))
    });
    let (students, session, password) = match read {
        Ok(read) => read,
        Err(failure) => return refused(failure, Vec::new()),
    };
    let Some(password) = password else {
        return page(site, call, member, FormState::sent(sent.clone()), students);
    };
    let number = value(&sent, "number").parse().ok();
    match carry_out(site, call, member, number, &session, &students, &password) {
        Ok(()) => Ok(reply::see_other(&format!("{}?done=recorded", signing::PATH))),
        Err(failure) => refused(failure, students),
    }
}

/// The fields of the form, and the password where it was asked for; 422 with every mistake, also for a skill that the member may
/// not sign.
fn read(site: &Site, call: &Call, member: &Member) -> Result<(Session, Option<String>), Failure> {
    let mut form = form(call)?;
    let session = group_session::read(&mut form, &site.time_zone()?, site.now(), &signable(site, member)?);
    let password = form.optional("password", fields::secret);
    form.finish()?;
    Ok((session, password))
}

fn carry_out(
    site: &Site,
    call: &Call,
    member: &Member,
    number: Option<i64>,
    session: &Session,
    students: &[Student],
    password: &str,
) -> Result<(), Failure> {
    let proven = sign_in::check_own_password(site, call, member.id(), password)?.at("password")?;
    let numbers: Vec<String> = students.iter().map(|one| one.member_id.to_string()).collect();
    let content = format!("{} {} {} {}", session.skill, session.date, numbers.join(" "), session.comment);
    let at: Cell<Option<&Student>> = Cell::new(None);
    let recorded = app::change(site, member, call.language(), |cx| {
        sign_in::check_same_password(cx.tx, &proven, "password")?;
        match cx.is_first_sending_of(number, &content)? {
            true => groups::record(cx, session, students, |student| at.set(Some(student))),
            false => Ok(()),
        }
    });
    recorded.map_err(|failure| match at.get() {
        // A number is no way to somebody's real name.
        Some(student) if failure.status().is_client_error() => {
            group_session::refusal(&student.screen_name, all_problems(&failure, call.language()))
        }
        _ => failure,
    })
}
