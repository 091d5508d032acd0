//! Outgoing messages: read one out to its recipient, retry dead ones, send to a bounced address again.

use super::{PART, is_legible, what};
use crate::app;
use crate::app::messages::{self, RetryDenial};
use crate::auth::Clerk;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::jobs::outbox::render_message;
use crate::site::Site;
use crate::store::tables::outbox::{self, Message};
use crate::web::{Frame, path_id, read_form, show as shown};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/message.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    message: Message,
    what: String,
    at: String,
    /// Language of the message, which is the recipient's.
    tag: String,
    subject: String,
    text: String,
}

/// `POST /desk/messages/{message_id}/read`: shows the text of a message, to be read out. A POST, because the text may hold a
/// passcode and each reading is audited.
pub(crate) fn read(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let message_id = path_id(call, 0)?;
    let message = site.store.read(|tx| outbox::find(tx, message_id)?.ok_or_else(Failure::not_found))?;
    if !is_legible(site, &message) {
        return Err(Failure::not_allowed().saying(Text::new("messages.not_to_read")));
    }
    let letter = render_message(site, &message).map_err(|why| Failure::broken().because(why))?;
    app::change(site, clerk, call.language(), |cx| messages::read_out(cx, &message))?;
    tracing::info!(message_id = message.message_id.0, clerk = clerk.id().0, "a message was read out at the desk");
    let page = Page {
        frame: Frame::of(site, call, clerk, PART)?,
        what: what(call, &message.template),
        at: when::moment(call.language(), &site.time_zone()?, message.created_at),
        tag: message.language.clone(),
        text: letter.text_for(message.channel).to_owned(),
        subject: letter.subject,
        message,
    };
    Ok(shown(StatusCode::OK, call.language(), &page))
}

/// `POST /desk/messages/{message_id}/retry`
pub(crate) fn retry(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let message_id = path_id(call, 0)?;
    let word = match app::try_change(site, clerk, call.language(), |cx| messages::retry(cx, message_id)) {
        Ok(()) => "again",
        Err(stop) => match stop.denial()? {
            RetryDenial::Wiped => "wiped",
            RetryDenial::Sent => "sent",
            RetryDenial::Marked(_) => return Err(Failure::not_allowed().saying(Text::new("messages.marked_first"))),
        },
    };
    Ok(reply::see_other(&format!("{PART}?box=dead&done={word}")))
}

/// `POST /desk/messages/retry`: retries every dead message whose text is stored and whose recipient the clerk may serve.
pub(crate) fn retry_dead(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let retried = app::change(site, clerk, call.language(), messages::retry_dead)?;
    let word = if retried > 0 { "again" } else { "none" };
    Ok(reply::see_other(&format!("{PART}?box=dead&done={word}")))
}

/// `POST /desk/messages/lift`: lets mail go to a bounced address again.
pub(crate) fn lift(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let address = read_form(call, |form| form.required("address", fields::line(254)))?;
    let lifted = app::change(site, clerk, call.language(), |cx| messages::lift_mark(cx, &address))?;
    lifted.ok_or_else(Failure::not_found)?;
    Ok(reply::see_other(&format!("{PART}?box=marked&done=lifted")))
}
