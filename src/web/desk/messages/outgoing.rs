//! Messages on their way out: read out to whom they are for, or sent again.

use super::{PART, denial_to_read, denial_to_send, find, is_legible, what, whom};
use crate::auth::Clerk;
use crate::domain::audit::{Detail, Whom};
use crate::domain::role::Role;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::jobs::outbox::again::{self, Bar};
use crate::jobs::outbox::read_letter;
use crate::site::Site;
use crate::store::tables::outbox::{self, Message};
use crate::web::{Frame, form, record_about, show as shown};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/message.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    message: Message,
    what: String,
    at: String,
    /// Of the letter: the recipient's, not the clerk's.
    tag: String,
    subject: String,
    text: String,
}

/// `POST /desk/messages/{message_id}/read`: what it says, to be read out. It is a form and no link, because it may show a
/// passcode: it is asked for, and written down that it was.
pub fn read(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let message = find(site, call)?;
    if !is_legible(site, &message) {
        return Err(Failure::not_allowed().saying(Text::new("messages.not_to_read")));
    }
    let denial = site.store.read(|tx| denial_to_read(tx, clerk, &message))?;
    denial.map_or(Ok(()), |key| Err(Failure::not_allowed().saying(Text::new(key))))?;
    let letter = read_letter(site, &message).map_err(|why| Failure::broken().because(why))?;
    site.store.write(site.now(), |tx| {
        let detail = Detail::none().number("message_id", message.message_id);
        record_about(tx, clerk, "message.read_out", &whom(&message), &detail)
    })?;
    tracing::info!(message_id = message.message_id, clerk = clerk.id(), "a message was read out at the desk");
    let page = Page {
        frame: Frame::of(site, call, clerk, PART)?,
        what: what(call, &message.template),
        at: when::moment(call.language(), &site.hall()?, message.created_at),
        tag: message.language.clone(),
        text: letter.by(message.channel).to_owned(),
        subject: letter.subject,
        message,
    };
    Ok(shown(StatusCode::OK, call.language(), &page))
}

/// `POST /desk/messages/{message_id}/retry`
pub fn retry(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let message = find(site, call)?;
    site.store.write(site.now(), |tx| {
        if let Some(key) = denial_to_send(tx, clerk, &message)? {
            return Err(Failure::not_allowed().saying(Text::new(key)));
        }
        let word = match again::bar(tx, &message)? {
            None if again::put(tx, message.message_id)? > 0 => "again",
            None | Some(Bar::Wiped) => "wiped",
            Some(Bar::Sent) => "sent",
            Some(Bar::Marked(_)) => return Err(Failure::not_allowed().saying(Text::new("messages.marked_first"))),
        };
        let detail = Detail::none().number("message_id", message.message_id);
        record_about(tx, clerk, "messages.retried", &whom(&message), &detail)?;
        Ok(reply::see_other(&format!("{PART}?box=dead&done={word}")))
    })
}

/// `POST /desk/messages/retry`: every dead one that still says something and is for somebody whom the clerk may serve.
pub fn retry_dead(site: &Site, _: &Call, clerk: &Clerk) -> Answer {
    site.store.write(site.now(), |tx| {
        let roles: Vec<Role> = Role::ALL.into_iter().filter(|subject| clerk.role().may_serve(*subject)).collect();
        let word = if outbox::retry_dead(tx, &roles)? > 0 { "again" } else { "none" };
        record_about(tx, clerk, "messages.retried", &Whom::Site, &Detail::none())?;
        Ok(reply::see_other(&format!("{PART}?box=dead&done={word}")))
    })
}

/// `POST /desk/messages/lift`: mail goes to a marked address again.
pub fn lift(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let address = body.required("address", fields::line(254));
    let ok = body.finish()?;
    let address = address.get(&ok);
    site.store.write(site.now(), |tx| {
        again::lift(tx, &address)?.ok_or_else(Failure::not_found)?;
        // An address is a person's, so which one it was is not said.
        record_about(tx, clerk, "address.lifted", &Whom::Site, &Detail::none())?;
        Ok(reply::see_other(&format!("{PART}?box=marked&done=lifted")))
    })
}
