//! The pages of the desk, the kiosk, the members and the public site, one file a page. Templates are in `assets/templates/` and compiled
//! into the binary; the template engine escapes every value.

mod badge;
pub(crate) mod board;
mod certified;
pub(crate) mod desk;
mod factor;
mod flights_today;
mod form;
mod form_state;
mod frame;
mod group_session;
pub(crate) mod kiosk;
pub(crate) mod live;
pub(crate) mod member;
pub(crate) mod public;
mod upload;
mod waiver_form;
mod worker;
mod years;

pub(crate) use form::{Form, form, form_pairs, read_form};
pub(crate) use frame::Frame;

use crate::auth::own;
use crate::domain::unicode::as_meant;
use crate::http::Answer;
use crate::http::accept::prefers_page;
use crate::http::assets;
use crate::http::call::Call;
use crate::http::failure::{Failure, Problem};
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::i18n::language::{Language, Text};
use crate::keys::random;
use crate::site::Site;
use crate::store::write_scope;
use askama::Template;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::Value;

/// `GET /assets/{file}`: a stylesheet, script or icon of the pages.
pub(crate) fn asset(_: &Site, call: &Call) -> Answer {
    assets::get(call)
}

/// `GET /`: redirects to the member's own pages, whose sign-in has a link to the desk.
pub(crate) fn home(_: &Site, _: &Call) -> Answer {
    Ok(reply::see_other(own::HOME))
}

/// `GET` of an address that only takes a form: redirects to the page with the form, about the same objects.
pub(crate) fn to_form_page(_: &Site, call: &Call) -> Answer {
    let form_page = call.row.form_page.ok_or_else(Failure::not_found)?;
    let (path, query) = form_page.split_at(form_page.find('?').unwrap_or(form_page.len()));
    let filled = path.split('/').zip(call.path.split('/'));
    let filled: Vec<&str> = filled.map(|(part, sent)| if part.starts_with('{') { sent } else { part }).collect();
    Ok(reply::see_other(&format!("{}{query}", filled.join("/"))))
}

/// Longest value that is read from a query; no page of this site sends a longer one.
const QUERY_CHARS_MAX: usize = 100;
/// Longest answer of a passkey, as JSON.
pub(crate) const CREDENTIAL_CHARS_MAX: usize = 60_000;
/// Longest code of an authenticator app, passcode or recovery code, with room for spaces.
pub(crate) const CODE_CHARS_MAX: usize = 40;

/// Renders a failure as a page; the last argument is the request ID.
pub(crate) type Refusal = fn(&Failure, Frame, &str) -> Reply;

/// Whether a path is `part` or below it.
fn is_below(path: &str, part: &str) -> bool {
    path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The function that renders a failure for a path of the pages, whether or not a route matched; `None` for other paths.
pub(crate) fn refusal_of(path: &str) -> Option<Refusal> {
    let below = |part: &str| is_below(path, part);
    match path {
        _ if below("/kiosk") => Some(kiosk::refusal),
        _ if below("/join")
            || below("/app")
            || below("/claim")
            || below("/confirm")
            || below("/recover")
            || below("/undo")
            || below("/sign") =>
        {
            Some(public::refusal)
        }
        "/" => Some(refusal),
        _ if below("/me") => Some(member::refusal),
        _ if below("/desk") => Some(refusal),
        _ => None,
    }
}

/// The function that renders a failure for this request: on the paths of the pages always, elsewhere outside the API for
/// browsers only. To somebody who comes from home the desk and the kiosks do not exist.
pub(crate) fn refusal_for(method: &Method, path: &str, headers: &HeaderMap, from_home: bool) -> Option<Refusal> {
    let in_api = is_below(path, "/api");
    let is_browser = || matches!(*method, Method::GET | Method::HEAD) && prefers_page(headers);
    let page = refusal_of(path).or_else(|| (!in_api && is_browser()).then_some(public::refusal as Refusal))?;
    Some(if from_home && !is_below(path, own::HOME) { public::refusal } else { page })
}

#[derive(Template)]
#[template(path = "desk/refusal.html", config = "assets/templates/askama.toml")]
struct RefusalPage<'a> {
    frame: Frame,
    /// Key of the heading.
    title: &'static str,
    message: String,
    problems: Vec<String>,
    /// Whether the browser returns to the page of the form, which shows the reason beside the form.
    returns: bool,
    request_id: &'a str,
}

impl RefusalPage<'_> {
    /// The problems, else the message, to be shown beside the form.
    fn reason(&self) -> String {
        if self.problems.is_empty() { self.message.clone() } else { self.problems.join(" ") }
    }
}

/// The page of a call that failed. Where the desk needs a fresh proof of identity, the page asks for it, and sends the form again.
pub(crate) fn refusal_of_call(site: &Site, call: &Call, failure: &Failure) -> Reply {
    let is_unproven = failure.is(Failure::reauthentication_needed) && is_below(&call.path, "/desk");
    let asked = is_unproven.then(|| desk::prove::ask(site, call));
    // The thread has answered, and keeps no snapshot.
    site.store.release();
    match asked {
        Some(Ok(page)) => page,
        Some(Err(_)) | None => {
            let page = refusal_of(&call.path).unwrap_or(refusal);
            page(failure, Frame::of_refused_call(site, call), &call.request_id)
        }
    }
}

/// A failure as a page, with the headers that go with it.
pub(crate) fn refusal(failure: &Failure, frame: Frame, request_id: &str) -> Reply {
    let language = frame.language();
    let page = RefusalPage {
        frame,
        title: refusal_title(failure, "desk.refused"),
        message: failure_text(failure, language),
        problems: mistakes(failure, language),
        returns: failure.status().is_client_error(),
        request_id,
    };
    refused(failure, language, request_id, &page)
}

/// Labels of the fields that an error page names.
const LABELS: [(&str, &str); 9] = [
    ("username", "recover.username"),
    ("password", "kiosk.join_password"),
    ("code", "kiosk.scan_code"),
    ("passcode", "kiosk.scan_code"),
    ("pin", "kiosk.pin"),
    ("minutes", "kiosk.minutes"),
    ("name", "card.real_name"),
    ("email", "kiosk.join_email"),
    ("dob", "kiosk.join_born"),
];

/// The problem of each field after the field's label, for an error page, which shows no form beside which a problem could
/// stand. A field without a label was not typed by the person: its problem stands alone.
fn mistakes(failure: &Failure, language: Language) -> Vec<String> {
    let label =
        |field: &str| LABELS.iter().find(|(name, _)| *name == field).map(|(_, key)| language.say(&Text::new(key)));
    let mistake = |problem: &Problem| match label(&problem.field) {
        Some(label) => language.labelled(&label, &language.say(&problem.text)),
        None => language.say(&problem.text),
    };
    let mut mistakes: Vec<String> = failure.problems().iter().map(mistake).collect();
    mistakes.dedup();
    mistakes
}

/// The text of a failure on a page. Texts about paths, headers and fields, written for callers of the API, are replaced.
fn failure_text(failure: &Failure, language: Language) -> String {
    let key = match failure.text().key() {
        "unknown_path" | "method_not_allowed" => "desk.no_page",
        "too_fast" => {
            let seconds = failure.retry_after_seconds().unwrap_or(1);
            return language.say(&Text::new("desk.not_so_fast").with_count("minutes", seconds.div_ceil(60)));
        }
        "invalid_fields" => "desk.fields_wrong",
        "unsupported_type" => "me.form_alone",
        _ => return language.say(failure.text()),
    };
    language.say(&Text::new(key))
}

/// The key of an error page's heading, where `otherwise` is that of what went wrong: what is not there is nobody's fault.
fn refusal_title(failure: &Failure, otherwise: &'static str) -> &'static str {
    if failure.status() == StatusCode::NOT_FOUND { "desk.not_here" } else { otherwise }
}

/// An error page with the status and the headers of its failure.
fn refused(failure: &Failure, language: Language, request_id: &str, page: &impl Template) -> Reply {
    with_failure(show(failure.status(), language, page), failure, language, request_id)
}

/// A page with the status and the headers of a failure.
fn with_failure(mut page: Reply, failure: &Failure, language: Language, request_id: &str) -> Reply {
    page.status = failure.status();
    let envelope = reply::refusal(failure, language, request_id);
    for name in [header::RETRY_AFTER, header::LOCATION, header::ALLOW] {
        if let Some(value) = envelope.headers.get(&name) {
            page.headers.insert(name, value.clone());
        }
    }
    page
}

/// Renders a public page, with the strict policy: no scripts, no forms, no referrer.
pub(crate) fn show_public(status: StatusCode, language: Language, page: &impl Template) -> Reply {
    reply::page(status, language, render(page))
}

/// Renders a page.
pub(crate) fn show(status: StatusCode, language: Language, page: &impl Template) -> Reply {
    reply::console(status, language, render(page))
        .with_header(header::VARY, HeaderValue::from_static("accept-language"))
}

/// Renders a template to HTML.
pub(crate) fn render(page: &impl Template) -> String {
    write_scope::forbid("a page");
    // Writing to memory fails only where a value's own `Display` does, and none of ours does.
    page.render().unwrap_or_default()
}

/// `to` where that is a page at or below `home`, but none of its sign-in; else `home`.
fn target_below(home: &str, to: &str) -> String {
    let (path, query) = to.split_once('?').unwrap_or((to, ""));
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-_.".contains(&b);
    let value = |b: u8| b.is_ascii_alphanumeric() || b"-_.~=&%+:,".contains(&b);
    let below = path.strip_prefix(home).is_some_and(|rest| {
        rest.is_empty() || (rest.starts_with('/') && !rest.starts_with("/sign-in") && !rest.starts_with("/sign-out"))
    });
    let climbs = path.split('/').any(|part| part == "." || part == "..");
    let ours = below && !climbs && path.bytes().all(plain) && query.bytes().all(value);
    if ours { to.to_owned() } else { home.to_owned() }
}

/// A random idempotency number for a form, from 1 to 2³²: a form that is sent twice is applied once.
pub(crate) fn new_form_number() -> i64 {
    i64::from(u32::from_ne_bytes(random())) + 1
}

/// Reads an idempotency number that [`new_form_number`] made.
pub(crate) fn read_form_number(value: &Value) -> Result<i64, Text> {
    fields::whole_in(1..=i64::from(u32::MAX) + 1)(value)
}

/// The ID at `index` of the parameters of the path; 404 where the path has none.
pub(crate) fn path_id<T: From<i64>>(call: &Call, index: usize) -> Result<T, Failure> {
    call.param_id(index).ok_or_else(Failure::not_found)
}

/// 404 on a site that requires no waivers: its waiver pages do not exist.
pub(crate) fn check_waivers_required(site: &Site) -> Result<(), Failure> {
    if site.config.waiver.required { Ok(()) } else { Err(Failure::not_found()) }
}

/// The status of a page with a form: 422 where the form was refused, else 200.
pub(crate) fn form_status(is_refused: bool) -> StatusCode {
    if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
}

/// The text of a client error, to be shown beside the form that caused it: the problems of its fields, each once, else its
/// message. A server error is returned.
pub(crate) fn client_error_text(failure: Failure, language: Language) -> Result<String, Failure> {
    if !failure.status().is_client_error() {
        return Err(failure);
    }
    Ok(all_problems(&failure, language))
}

/// The problems of a failure's fields, each once, else its message.
fn all_problems(failure: &Failure, language: Language) -> String {
    let mut texts: Vec<String> = failure.problems().iter().map(|problem| language.say(&problem.text)).collect();
    texts.dedup();
    if texts.is_empty() { failure_text(failure, language) } else { texts.join(" ") }
}

/// The page of a form that was refused, which `page` makes with the text of the failure. A server error is returned.
pub(crate) fn refused_form(failure: Failure, call: &Call, page: impl FnOnce(String) -> Answer) -> Answer {
    if !failure.status().is_client_error() {
        return Err(failure);
    }
    let page = page(all_problems(&failure, call.language()))?;
    Ok(with_failure(page, &failure, call.language(), &call.request_id))
}

/// The text of a failure that has problems of fields, as [`client_error_text`]. Any other failure is returned.
pub(crate) fn field_error_text(failure: Failure, language: Language) -> Result<String, Failure> {
    if failure.problems().is_empty() { Err(failure) } else { client_error_text(failure, language) }
}

/// The first problem of a failure, else its message, where a form can be corrected (409, 422). Any other failure is returned.
pub(crate) fn form_error_text(failure: Failure, language: Language) -> Result<String, Failure> {
    if !matches!(failure.status(), StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY) {
        return Err(failure);
    }
    Ok(first_problem(&failure, language))
}

/// The first problem of a failure, else its message.
pub(crate) fn first_problem(failure: &Failure, language: Language) -> String {
    language.say(failure.problems().first().map_or(failure.text(), |problem| &problem.text))
}

/// The message for the action that was just done: `done` in the query names it, `known` maps names to keys of messages.
pub(crate) fn done(call: &Call, known: &[(&str, &'static str)]) -> Option<String> {
    done_with(call, known, |text| text)
}

/// [`done`], with a function that fills in the values of the message.
fn done_with(call: &Call, known: &[(&str, &'static str)], fill: impl FnOnce(Text) -> Text) -> Option<String> {
    let word = query_text(call, "done");
    let (_, key) = known.iter().find(|(one, _)| *one == word)?;
    Some(call.language().say(&fill(Text::new(key))))
}

/// Most rows that a page skips; nobody leafs further.
const SKIP_MAX: i64 = 100_000;

/// How many rows of a list the query skips (`skip`).
pub(crate) fn skipped(call: &Call) -> i64 {
    query_text(call, "skip").parse().unwrap_or(0).clamp(0, SKIP_MAX)
}

/// How many rows the pages before and after this one skip, where there are such pages. The list was read with one row more than a
/// page has, which says that there is a page after it and is removed.
pub(crate) fn pages_beside<T>(rows: &mut Vec<T>, rows_max: i64, skip: i64) -> (Option<i64>, Option<i64>) {
    let has_more = rows.len() as i64 > rows_max;
    rows.truncate(rows_max as usize);
    ((skip > 0).then(|| (skip - rows_max).max(0)), has_more.then_some(skip + rows_max))
}

/// The value of a query field in one line, cut to [`QUERY_CHARS_MAX`]; empty where there is none.
pub(crate) fn query_text(call: &Call, name: &str) -> String {
    let typed = call.query_field(name).unwrap_or_default();
    let typed = as_meant(&typed);
    let line: String = typed.chars().map(|c| if c.is_control() { ' ' } else { c }).take(QUERY_CHARS_MAX).collect();
    line.trim_end().to_owned()
}

/// The initials of the first and the last word of a name, shown where there is no photo.
fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    let first = words.next();
    first.into_iter().chain(words.next_back()).flat_map(char::to_uppercase).collect()
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
