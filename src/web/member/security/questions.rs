//! The member's security questions, which a recovery of the password asks beside the passcode.

use super::super::frame::Shell;
use super::super::{account, show};
use super::prove;
use crate::app::{self, Outcome, credentials};
use crate::auth::Member;
use crate::domain::questions;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::security_answers;
use crate::web::{form, form_status, read_form, refused_form};
use askama::Template;

const PATH: &str = "/me/account/questions";
const ANSWER_CHARS_MAX: usize = 200;
const DONE: [(&str, &str); 2] = [("saved", "me.done_answer"), ("removed", "me.done_answer_removed")];

#[derive(Template)]
#[template(path = "member/questions.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    /// Number and text of each question of the catalogue.
    catalogue: Vec<(i64, String)>,
    /// Those that the member answered.
    answered: Vec<(i64, String)>,
    chosen: i64,
    problem: Option<String>,
}

impl Page {
    fn is_chosen(&self, question: &i64) -> bool {
        self.chosen == *question
    }
}

/// `GET /me/account/questions`
pub(crate) fn show_form(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, 0, None)
}

fn page(site: &Site, call: &Call, member: &Member, chosen: i64, problem: Option<String>) -> Answer {
    let own = site.store.read(|tx| Ok(security_answers::list_questions(tx, member.id())?))?;
    let catalogue: Vec<(i64, String)> =
        questions::NUMBERS.map(|number| (number, questions::text(call.language(), number))).collect();
    let status = form_status(problem.is_some());
    let page = Page {
        shell: Shell::after_action(site, call, member, account::PATH, &DONE)?,
        answered: catalogue.iter().filter(|(number, _)| own.contains(number)).cloned().collect(),
        catalogue,
        chosen,
        problem,
    };
    Ok(show(status, call.language(), &page))
}

/// `POST /me/account/questions`: sets the answer to one question.
pub(crate) fn set(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut form = form(call)?;
    let question = form.required("question", fields::whole_in(questions::NUMBERS));
    let answer = form.required("answer", fields::line(ANSWER_CHARS_MAX));
    if let Some(asks) = prove::demand(site, member, PATH) {
        return Ok(asks);
    }
    let saved = form.finish().and_then(|()| {
        let answer_hash = site.hash(&questions::normalise(&answer));
        app::change(site, member, call.language(), |cx| credentials::set_answer(cx, &cx.own()?, question, &answer_hash))
    });
    match saved {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=saved"))),
        Err(failure) => refused_form(failure, call, |text| page(site, call, member, question, Some(text))),
    }
}

/// `POST /me/account/questions/remove`
pub(crate) fn remove(site: &Site, call: &Call, member: &Member) -> Answer {
    let question = read_form(call, |form| form.required("question", fields::whole_in(questions::NUMBERS)))?;
    if let Some(asks) = prove::demand(site, member, PATH) {
        return Ok(asks);
    }
    match app::change(site, member, call.language(), |cx| credentials::remove_answer(cx, &cx.own()?, question))? {
        Outcome::Done => Ok(reply::see_other(&format!("{PATH}?done=removed"))),
        Outcome::Unchanged => Ok(reply::see_other(PATH)),
    }
}
