//! The pages of the front desk: one file a page, over `domain` and `store` as the API is. Their templates are in
//! `assets/templates/`, compiled into the program; the engine escapes every value.

pub(crate) mod desk;
mod filled;
mod frame;
pub(crate) mod kiosk;
mod logged;
mod mark;
pub(crate) mod public;
mod sheet;
mod upload;

pub(crate) use frame::Frame;

use crate::http::Answer;
use crate::http::accept::prefers_page;
use crate::http::assets;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::http::reply::{self, Reply};
use crate::i18n::language::{Language, Text};
use crate::keys::random;
use crate::site::Site;
use crate::store::engine::write_scope;
use askama::Template;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::Value;

/// `GET /assets/{file}`: a file that pages are made of.
pub(crate) fn asset(_: &Site, call: &Call) -> Answer {
    assets::get(call)
}

/// `GET /`: people who type the site's name want the desk.
pub(crate) fn home(_: &Site, _: &Call) -> Answer {
    Ok(reply::see_other("/desk"))
}

/// No page of ours sends a longer value in an address.
const ASKED_CHARS_MAX: usize = 100;

/// A page that tells a failure to whoever asked for a path, with the number of the request.
pub(crate) type Refusal = fn(&Failure, Frame, &str) -> Reply;

/// The function that shows a failure on a page, for a path below the pages, also where no row matched; `None`
/// elsewhere.
pub(crate) fn refusal_of(path: &str) -> Option<Refusal> {
    let below = |part: &str| path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match path {
        _ if below("/kiosk") => Some(kiosk::refusal),
        _ if below("/join")
            || below("/claim")
            || below("/confirm")
            || below("/recover")
            || below("/undo")
            || below("/sign") =>
        {
            Some(public::refusal)
        }
        "/" => Some(refusal),
        _ if below("/desk") => Some(refusal),
        _ => None,
    }
}

/// The function that shows a failure to this request: as a page below the pages, and to a browser everywhere but in the
/// API.
pub(crate) fn refusal_for(method: &Method, path: &str, headers: &HeaderMap) -> Option<Refusal> {
    let in_api = path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_browser = || matches!(*method, Method::GET | Method::HEAD) && prefers_page(headers);
    refusal_of(path).or_else(|| (!in_api && is_browser()).then_some(public::refusal as Refusal))
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
pub(crate) fn refusal(failure: &Failure, frame: Frame, request_id: &str) -> Reply {
    let language = frame.language();
    let page =
        RefusalPage { frame, message: said(failure, language), problems: mistakes(failure, language), request_id };
    refused(failure, language, request_id, &page)
}

/// What is wrong with each field that was sent, where no form is shown again beside which it could stand.
fn mistakes(failure: &Failure, language: Language) -> Vec<String> {
    failure.problems().iter().map(|problem| format!("{}: {}", problem.field, language.say(&problem.text))).collect()
}

/// The text of a failure on a page, without the words about paths, headers and fields that are for callers of the API.
fn said(failure: &Failure, language: Language) -> String {
    let key = match failure.text().key() {
        "unknown_path" | "method_not_allowed" => "desk.no_page",
        "too_fast" => "desk.not_so_fast",
        "invalid_fields" => "desk.fields_wrong",
        _ => return language.say(failure.text()),
    };
    language.say(&Text::new(key))
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

/// A page for everybody from its template: it runs nothing, sends nothing, and tells nobody where it was.
pub(crate) fn show_to_all(status: StatusCode, language: Language, page: &impl Template) -> Reply {
    reply::page(status, language, rendered(page))
}

/// A page from its template.
pub(crate) fn show(status: StatusCode, language: Language, page: &impl Template) -> Reply {
    reply::console(status, language, rendered(page))
        .with_header(header::VARY, HeaderValue::from_static("accept-language"))
}

fn rendered(page: &impl Template) -> String {
    write_scope::forbid("a page");
    // Writing to memory fails only where a value's own `Display` does, and none of ours does.
    page.render().unwrap_or_default()
}

/// The fields of a form. A body that is no form is refused with 415.
pub(crate) fn form(call: &Call) -> Result<Fields, Failure> {
    let pairs = call.form()?.ok_or_else(Failure::unsupported_type)?;
    Ok(Fields::new(pairs.into_iter().map(|(name, text)| (name, Value::String(text))).collect()))
}

/// The first mistake of a form that has one, behind the name of its field as the page shows it: `labels` are the fields and
/// the keys of their names.
pub(crate) fn mistake(language: Language, form: Fields, labels: &[(&str, &'static str)]) -> String {
    let problems = form.finish().err();
    let first = problems.as_ref().and_then(|failure| failure.problems().first());
    let label = |field: &str| labels.iter().find(|(name, _)| *name == field).map(|(_, key)| *key);
    match first.and_then(|problem| Some((label(&problem.field)?, &problem.text))) {
        Some((label, text)) => format!("{}: {}", language.say(&Text::new(label)), language.say(text)),
        None => language.say(&Text::new("desk.fields_wrong")),
    }
}

/// A number by which the same form sent twice is known: positive, and exact in every program that reads numbers as floats.
pub(crate) fn form_number() -> i64 {
    i64::from(u32::from_ne_bytes(random())) + 1
}

/// The text for the deed that the page before this one did, by the word that it left in the address.
pub(crate) fn done(call: &Call, known: &[(&str, &'static str)]) -> Option<String> {
    done_to(call, known, |text| text)
}

/// The same in words that name what it was done to: `named` puts the names in their places.
fn done_to(call: &Call, known: &[(&str, &'static str)], named: impl FnOnce(Text) -> Text) -> Option<String> {
    let word = asked(call, "done");
    let (_, key) = known.iter().find(|(one, _)| *one == word)?;
    Some(call.language().say(&named(Text::new(key))))
}

/// How many rows of a list the address passes over (`skip`).
pub(crate) fn skipped(call: &Call) -> i64 {
    asked(call, "skip").parse().unwrap_or(0).max(0)
}

/// The value of a field of the address's query, in one line; empty where there is none. What no page of ours would send is
/// kept: a search for it finds nobody, where a search for nothing would find everybody.
pub(crate) fn asked(call: &Call, name: &str) -> String {
    let typed = call.asked(name).unwrap_or_default();
    let line: String =
        typed.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(ASKED_CHARS_MAX).collect();
    line.trim_end().to_owned()
}

/// The first letters of the first and the last word: they stand for a face where there is no picture.
fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    let first = words.next();
    first.into_iter().chain(words.next_back()).flat_map(char::to_uppercase).collect()
}

/// The name of a member as people use it: the real name, else the screen name, else the username.
fn called<'a>(real_name: &'a str, screen_name: &'a str, username: &'a str) -> &'a str {
    [real_name, screen_name].into_iter().find(|name| !name.trim().is_empty()).unwrap_or(username)
}

#[cfg(test)]
mod tests {
    use super::initials;

    #[test]
    fn initials_are_letters_whatever_the_name_is() {
        for (name, letters) in
            [("Jane Flyer", "JF"), ("王 小明", "王小"), ("<b>x</b>", "B"), ("  ", ""), ("ana maria de la cruz", "AC")]
        {
            assert_eq!(initials(name), letters, "{name}");
        }
    }
}
