//! Undoing a change of credentials by the link in the mail that reported the change.

use super::{Frame, message_page, read_token, show};
use crate::app;
use crate::auth::undo::{self, Undone};
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::{Form, form};
use askama::Template;
use http::StatusCode;

const TITLE: &str = "undo.title";

#[derive(Template)]
#[template(path = "public/undo.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    token: String,
    /// Whether the change was undone and a new password is needed.
    done: bool,
}

/// `GET /undo`: the target of the mailed link; a button on the page undoes.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    match read_token(Form(call.query())) {
        Ok(token) => page(site, call, token, false),
        Err(_) => message_page(site, call, TITLE, "bad", "confirm.incomplete", None),
    }
}

fn page(site: &Site, call: &Call, token: String, done: bool) -> Answer {
    Ok(show(StatusCode::OK, call.language(), &Page { frame: Frame::outside(site, call)?, token, done }))
}

/// `POST /undo`: undoes the change. An invalid token takes no write transaction.
pub(crate) fn undo(site: &Site, call: &Call) -> Answer {
    let token = read_token(form(call)?)?;
    let undone = match site.store.read(|tx| undo::is_offered(tx, &token, site.now()))? {
        true => app::change_by_stranger(site, call, |cx| undo::take(site, call, cx.tx, &token))?,
        false => Undone::Invalid,
    };
    match undone {
        Undone::Now => page(site, call, token, true),
        Undone::Invalid => message_page(site, call, TITLE, "bad", "undo.not", None),
        Undone::AddressTaken => message_page(site, call, TITLE, "bad", "undo.taken", None),
    }
}
