//! One message of the contact form.

use super::PART;
use crate::app::{self, messages};
use crate::auth::Clerk;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::contact::{self, Message};
use crate::web::{Frame, path_id, show as shown};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/contact.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    message: Message,
    at: String,
    done: Option<String>,
}

/// `GET /desk/contact/{contact_id}`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let contact_id = path_id(call, 0)?;
    let (frame, zone) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?);
    let message = site.store.read(|tx| contact::find(tx, contact_id)?.ok_or_else(Failure::not_found))?;
    let (at, done) = (
        when::moment(call.language(), &zone, message.created_at),
        message.done_at.map(|at| when::moment(call.language(), &zone, at)),
    );
    Ok(shown(StatusCode::OK, call.language(), &Page { frame, message, at, done }))
}

/// `POST /desk/contact/{contact_id}/done`: marks the message as done; a second time changes nothing.
pub(crate) fn set_done(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let contact_id = path_id(call, 0)?;
    _ = app::change(site, clerk, call.language(), |cx| messages::set_contact_done(cx, contact_id))?;
    Ok(reply::see_other(&format!("{PART}?box=contact&done=done")))
}
