//! Password recovery: a code is sent, then typed together with the answers to the questions and the new password. The pages are
//! the same for unknown usernames, so that they do not reveal whether an account exists.

use super::{Frame, OWN_PAGES, message_page, show};
use crate::app::recovery::{self, Outcome, Recovery};
use crate::domain::questions;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::site::Site;
use crate::web::{form, form_status, read_form, refused_form};
use askama::Template;

#[derive(Template)]
#[template(path = "public/recover.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    username: String,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "public/recover_set.html", config = "assets/templates/askama.toml")]
struct SetPage {
    frame: Frame,
    username: String,
    /// Whether a code was just sent.
    sent: bool,
    /// Numbers and texts.
    questions: Vec<(i64, String)>,
    problem: Option<String>,
}

/// `GET /recover`: asks for the username and the channel of the code.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    first_page(site, call, String::new(), None)
}

fn first_page(site: &Site, call: &Call, username: String, problem: Option<String>) -> Answer {
    let status = form_status(problem.is_some());
    Ok(show(status, call.language(), &Page { frame: Frame::outside(site, call)?, username, problem }))
}

/// `POST /recover`: sends a code, unless the form says that there is one, and asks for it.
pub(crate) fn send(site: &Site, call: &Call) -> Answer {
    let username = read_form(call, |form| form.optional("username", fields::line_as_typed(254)))?.unwrap_or_default();
    let sent = recovery::check_rate(site, call).and_then(|()| {
        let form = form(call)?;
        if !form.has("username") {
            return first_page(site, call, String::new(), Some(call.say("recover.username_missing")));
        }
        if form.has("have") {
            return set_page(site, call, &username, false, None);
        }
        let request = Recovery::read(site, form.0)?;
        recovery::carry_out(site, call, &request)?;
        set_page(site, call, &request.username, true, None)
    });
    sent.or_else(|failure| refused_form(failure, call, |problem| first_page(site, call, username, Some(problem))))
}

/// `POST /recover/password`: the code, the answers and the new password.
pub(crate) fn set(site: &Site, call: &Call) -> Answer {
    let request = Recovery::read(site, form(call)?.0)?;
    let again = |problem| set_page(site, call, &request.username, false, Some(problem));
    if let Err(failure) = recovery::check_rate(site, call) {
        return refused_form(failure, call, again);
    }
    match recovery::carry_out(site, call, &request) {
        Ok(Outcome::Done) => message_page(site, call, "recover.title", "good", "recovery.done", Some(OWN_PAGES)),
        Ok(Outcome::Sent | Outcome::Wrong) => again(call.say("recovery.wrong")),
        Err(failure) => refused_form(failure, call, again),
    }
}

fn set_page(site: &Site, call: &Call, username: &str, sent: bool, problem: Option<String>) -> Answer {
    let numbers = recovery::list_questions(site, username)?;
    let page = SetPage {
        frame: Frame::outside(site, call)?,
        username: username.to_owned(),
        sent,
        questions: numbers.into_iter().map(|number| (number, questions::text(call.language(), number))).collect(),
        problem,
    };
    let status = form_status(page.problem.is_some());
    Ok(show(status, call.language(), &page))
}
