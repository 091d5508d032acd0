//! Confirming an e-mail address by the link that was mailed to it.

use super::{Frame, read_token, show, tell};
use crate::auth::confirmation::{self, Confirmed};
use crate::auth::count_message_request;
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::form;
use askama::Template;
use http::StatusCode;

const TITLE: &str = "confirm.title";

#[derive(Template)]
#[template(path = "public/confirm.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    token: String,
    /// Whether the token did nothing, and a new one may be had for it.
    worn_out: bool,
}

/// `GET /confirm`: where the link of a mail leads; the button there does it.
pub(crate) fn ask(site: &Site, call: &Call) -> Answer {
    match read_token(call.query()) {
        Ok(token) => page(site, call, token, false),
        Err(_) => tell(site, call, TITLE, "bad", "confirm.incomplete"),
    }
}

fn page(site: &Site, call: &Call, token: String, worn_out: bool) -> Answer {
    let status = if worn_out { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(show(status, call.language(), &Page { frame: Frame::outside(site, call)?, token, worn_out }))
}

/// `POST /confirm`: confirms the address that the token was mailed to.
pub(crate) fn take(site: &Site, call: &Call) -> Answer {
    confirmation::check_rate(site, call)?;
    let token = read_token(form(call)?)?;
    match site.store.write(site.now(), |tx| confirmation::confirm(site, call, tx, &token))? {
        Confirmed::Now => tell(site, call, TITLE, "good", "done.email_confirmed"),
        Confirmed::Before => tell(site, call, TITLE, "good", "confirmation.before"),
        Confirmed::Not => page(site, call, token, true),
    }
}

/// `POST /confirm/again`: a new link for an old one. The answer is the same whether or not there was one.
pub(crate) fn resend(site: &Site, call: &Call) -> Answer {
    confirmation::check_rate(site, call)?;
    let token = read_token(form(call)?)?;
    count_message_request(site, call)?;
    site.store.write(site.now(), |tx| confirmation::resend(site, tx, &token, call.language()))?;
    tell(site, call, TITLE, "good", "confirmation.sent")
}
