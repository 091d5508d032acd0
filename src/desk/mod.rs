//! The pages of the front desk: one file a page, over `domain` and `store` as the API is. What they show is in
//! `assets/templates/`, compiled into the program; every place in it is escaped by the engine.

pub mod assets;
pub mod check_in;
pub mod code;
mod frame;
mod mark;
pub mod photo;
pub mod setup;
pub mod sign_in;
pub mod today;
pub mod walk_in;

pub use frame::Frame;

use crate::call::Call;
use crate::domain::audit::{Detail, Whom};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::gate::Clerk;
use crate::language::Language;
use crate::reply::{self, Reply};
use crate::routes::Answer;
use crate::site::Site;
use crate::store::{Write, audit};
use askama::Template;
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;

/// `GET /`: people who type the site's name want the desk.
pub fn home(_: &Site, _: &Call) -> Answer {
    Ok(reply::see_other("/desk"))
}

/// Whether a path that met no row was a page's, so that its refusal is a page too.
pub fn is_below(path: &str) -> bool {
    path == "/" || path == "/desk" || path.starts_with("/desk/")
}

#[derive(Template)]
#[template(path = "desk/refusal.html", config = "assets/templates/askama.toml")]
struct Refusal<'a> {
    frame: Frame,
    message: String,
    problems: Vec<String>,
    request_id: &'a str,
}

/// A failure as a page, with the headers that go with it.
pub fn refusal(failure: &Failure, language: Language, request_id: &str) -> Reply {
    let problems = failure.problems().iter().map(|problem| language.say(&problem.text)).collect();
    let page = Refusal { frame: Frame::bare(language), message: language.say(failure.text()), problems, request_id };
    let mut page = show(failure.status(), language, &page);
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

/// What a clerk did for a member, in the audit log: in the deed's own transaction.
pub fn record(tx: &Write, clerk: &Clerk, deed: &'static str, member_id: i64, detail: &Detail) -> Result<(), Failure> {
    let by = clerk.by();
    audit::insert(tx, &by.who, deed, &Whom::Member(member_id), &by.origin, detail)?;
    Ok(())
}

/// What a form of ours sent. Anything else than a form has nothing to say to a page.
pub fn form(call: &Call) -> Result<Fields, Failure> {
    let pairs = call.form()?.ok_or_else(Failure::unsupported_type)?;
    Ok(Fields::new(pairs.into_iter().map(|(name, text)| (name, Value::String(text))).collect()))
}
