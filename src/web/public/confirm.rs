//! Confirmation of an e-mail address by a mailed link.

use super::{Frame, OWN_PAGES, message_page, read_token, show};
use crate::app;
use crate::auth::confirmation::{self, Confirmed};
use crate::auth::limits;
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::{Form, form, form_status};
use askama::Template;

const TITLE: &str = "confirm.title";

#[derive(Template)]
#[template(path = "public/confirm.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    token: String,
    /// Whether the token has expired, so that the page offers a new one.
    is_expired: bool,
}

/// `GET /confirm`: the target of the mailed link; a button on the page confirms.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    match read_token(Form(call.query())) {
        Ok(token) => page(site, call, token, false),
        Err(_) => message_page(site, call, TITLE, "bad", "confirm.incomplete", None),
    }
}

fn page(site: &Site, call: &Call, token: String, is_expired: bool) -> Answer {
    let status = form_status(is_expired);
    Ok(show(status, call.language(), &Page { frame: Frame::outside(site, call)?, token, is_expired }))
}

/// `POST /confirm`: confirms the address that the token was mailed to.
pub(crate) fn confirm(site: &Site, call: &Call) -> Answer {
    confirmation::check_rate(site, call)?;
    let token = read_token(form(call)?)?;
    match app::change_by_stranger(site, call, |cx| confirmation::confirm(site, call, cx.tx, &token))? {
        Confirmed::Now => message_page(site, call, TITLE, "good", "done.email_confirmed", Some(OWN_PAGES)),
        Confirmed::Before => message_page(site, call, TITLE, "good", "confirmation.before", Some(OWN_PAGES)),
        Confirmed::Invalid => page(site, call, token, true),
    }
}

/// `POST /confirm/again`: mails a new link. The reply is the same for unknown tokens.
pub(crate) fn resend(site: &Site, call: &Call) -> Answer {
    confirmation::check_rate(site, call)?;
    let token = read_token(form(call)?)?;
    limits::MESSAGE_REQUESTS.take(site, call.network())?;
    app::change_by_stranger(site, call, |cx| confirmation::resend(site, cx.tx, &token, cx.language))?;
    message_page(site, call, TITLE, "good", "confirmation.sent", None)
}
