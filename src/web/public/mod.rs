//! Public pages: targets of mailed links and QR codes. A link only opens a page and a button acts, because mail servers follow
//! links too.

pub(crate) mod authority;
pub(crate) mod claim;
pub(crate) mod confirm;
pub(crate) mod deletion_status;
pub(crate) mod join;
pub(crate) mod recover;
pub(crate) mod sign;
pub(crate) mod sign_child;
pub(crate) mod undo;
pub(crate) mod verify;

use super::{Form, Frame, failure_text, mistakes, refused, show};
use crate::auth::own;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::Reply;
use crate::site::Site;
use askama::Template;
use http::StatusCode;

const TOKEN_CHARS_MAX: usize = 128;

/// A page with a message about the outcome of an action.
#[derive(Template)]
#[template(path = "public/message.html", config = "assets/templates/askama.toml")]
struct MessagePage {
    frame: Frame,
    title: String,
    /// CSS class.
    tone: &'static str,
    message: String,
    problems: Vec<String>,
    /// Where it leads: the path, and the text of the link.
    next: Option<(&'static str, String)>,
}

/// Where a message leads: the path, and the key of the text.
struct Next {
    path: &'static str,
    key: &'static str,
}

/// To the member's own pages, or to their sign-in.
const OWN_PAGES: Next = Next { path: own::HOME, key: "me.open" };

fn message_page(
    site: &Site,
    call: &Call,
    title: &'static str,
    tone: &'static str,
    message: &'static str,
    next: Option<Next>,
) -> Result<Reply, Failure> {
    let frame = Frame::outside(site, call)?;
    let status = if tone == "bad" { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let (title, message) = (call.say(title), call.say(message));
    let next = next.map(|next| (next.path, call.say(next.key)));
    Ok(show(status, call.language(), &MessagePage { frame, title, tone, message, problems: Vec::new(), next }))
}

/// Reads the token of a mailed link, from the query of its page or from the form there.
fn read_token(form: Form) -> Result<String, Failure> {
    form.read(|form| form.required("token", fields::line(TOKEN_CHARS_MAX)))
}

/// A failure as a public page.
pub(crate) fn refusal(failure: &Failure, frame: Frame, request_id: &str) -> Reply {
    let language = frame.language();
    let problems = mistakes(failure, language);
    let (title, message) = (frame.say(super::refusal_title(failure, "desk.refused")), failure_text(failure, language));
    refused(failure, language, request_id, &MessagePage { frame, title, tone: "bad", message, problems, next: None })
}
