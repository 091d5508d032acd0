//! Undoing a change of the ways into an account, by the link in the mail that told of the change.

use super::{Frame, read_token, show, tell};
use crate::auth::undo::{self, Undone};
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::form;
use askama::Template;
use http::StatusCode;

const TITLE: &str = "undo.title";

#[derive(Template)]
#[template(path = "public/undo.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    token: String,
    /// Whether it is done, and a new password is due.
    done: bool,
}

/// `GET /undo`: where the link of a mail leads; what it does needs the button there.
pub(crate) fn ask(site: &Site, call: &Call) -> Answer {
    match read_token(call.query()) {
        Ok(token) => page(site, call, token, false),
        Err(_) => tell(site, call, TITLE, "bad", "confirm.incomplete"),
    }
}

fn page(site: &Site, call: &Call, token: String, done: bool) -> Answer {
    Ok(show(StatusCode::OK, call.language(), &Page { frame: Frame::outside(site, call)?, token, done }))
}

/// `POST /undo`: undoes the change. A token that is not good writes nothing.
pub(crate) fn take(site: &Site, call: &Call) -> Answer {
    let token = read_token(form(call)?)?;
    let now = site.now();
    let undone = match site.store.read(|tx| undo::is_offered(tx, &token, now))? {
        true => site.store.write(now, |tx| undo::take(site, call, tx, &token))?,
        false => Undone::Not,
    };
    match undone {
        Undone::Now => page(site, call, token, true),
        Undone::Not => tell(site, call, TITLE, "bad", "undo.not"),
        Undone::AddressTaken => tell(site, call, TITLE, "bad", "undo.taken"),
    }
}
