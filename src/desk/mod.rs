//! The pages of the front desk: one file a page, over `domain` and `store` as the API is. What they show is in
//! `assets/templates/`, compiled into the program; every place in it is escaped by the engine.

pub mod assets;
pub mod check_in;
pub mod code;
mod frame;
pub mod kiosk;
pub mod kiosks;
mod mark;
pub mod photo;
pub mod setup;
pub mod sign_in;
pub mod today;
pub mod walk_in;

pub use frame::Frame;

use crate::call::Call;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::language::Language;
use crate::reply::{self, Reply};
use crate::routes::Answer;
use crate::site::Site;
use askama::Template;
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;

/// `GET /`: people who type the site's name want the desk.
pub fn home(_: &Site, _: &Call) -> Answer {
    Ok(reply::see_other("/desk"))
}

/// How a failure is told to whoever asked for a path.
pub type Refusal = fn(&Failure, Language, &str) -> Reply;

/// What tells it below a path of pages, also one that met no row; `None` elsewhere.
pub fn refusal_of(path: &str) -> Option<Refusal> {
    let below = |part: &str| path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match path {
        _ if below("/kiosk") => Some(kiosk::refusal),
        "/" => Some(refusal),
        _ if below("/desk") => Some(refusal),
        _ => None,
    }
}

#[derive(Template)]
#[template(path = "desk/refusal.html", config = "assets/templates/askama.toml")]
struct RefusalPage<'a> {
    frame: Frame,
    message: String,
    problems: Vec<String>,
    request_id: &'a str,
}

/// A failure as a page, with the headers that go with it.
pub fn refusal(failure: &Failure, language: Language, request_id: &str) -> Reply {
    let problems = failure.problems().iter().map(|problem| language.say(&problem.text)).collect();
    let page =
        RefusalPage { frame: Frame::bare(language), message: language.say(failure.text()), problems, request_id };
    refused(failure, language, request_id, &page)
}

/// A page that tells of a failure, with the headers that go with it.
fn refused(failure: &Failure, language: Language, request_id: &str, page: &impl Template) -> Reply {
    let mut page = show(failure.status(), language, page);
    let envelope = reply::refusal(failure, language, request_id);
    for name in [header::RETRY_AFTER, header::LOCATION, header::ALLOW] {
        if let Some(value) = envelope.headers.get(&name) {
            page.headers.insert(name, value.clone());
        }
    }
    page
}

/// A page from its template.
pub fn show(status: StatusCode, language: Language, page: &impl Template) -> Reply {
    // Writing to memory fails only where a value's own `Display` does, and none of ours does.
    let html = page.render().unwrap_or_default();
    reply::console(status, language, html).with_header(header::VARY, HeaderValue::from_static("accept-language"))
}

/// What a form of ours sent. Anything else than a form has nothing to say to a page.
pub fn form(call: &Call) -> Result<Fields, Failure> {
    let pairs = call.form()?.ok_or_else(Failure::unsupported_type)?;
    Ok(Fields::new(pairs.into_iter().map(|(name, text)| (name, Value::String(text))).collect()))
}
