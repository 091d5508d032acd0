//! A QR code on the desk's screen with which a flyer signs the waiver on their own phone.

use super::heading::{self, Heading};
use super::{PART, waiver};
use crate::app;
use crate::app::waivers::links;
use crate::auth::Clerk;
use crate::documents::qr;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::web::{Form, Frame, read_form, show};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/waiver_phone.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    /// SVG.
    qr: String,
    url: String,
}

/// `POST /desk/members/{member_id}/waiver/phone`: makes a link for the flyer's phone and shows it once.
pub(crate) fn make(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = waiver::find_id(site, call)?;
    let number = read_form(call, Form::number)?;
    let code = app::change(site, clerk, call.language(), |cx| match cx.is_first_sending(number)? {
        true => links::make(cx, member_id).map(Some),
        false => Ok(None),
    })?;
    let Some(code) = code else { return waiver::back(member_id, "before") };
    let url = format!("{}/sign?code={code}", site.public_url());
    let page = Page {
        heading: site.store.read(|tx| heading::read(site, tx, call, member_id))?,
        frame: Frame::of(site, call, clerk, PART)?,
        qr: qr::svg(&url).ok_or_else(Failure::broken)?,
        url,
    };
    Ok(show(StatusCode::OK, call.language(), &page))
}
