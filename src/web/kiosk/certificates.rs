//! Certificates at a kiosk: a QR code opens one on the member's phone, because a kiosk does not print.

use super::{Screen, show};
use crate::app::{self, certificates};
use crate::auth::Guest;
use crate::documents::qr;
use crate::domain::catalogue::names;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::web::certified::{self, Certified};
use crate::web::read_form;
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "kiosk/certificates.html", config = "assets/templates/askama.toml")]
struct ListPage {
    screen: Screen,
    rows: Vec<Certified>,
}

#[derive(Template)]
#[template(path = "kiosk/certificate.html", config = "assets/templates/askama.toml")]
struct OnePage {
    screen: Screen,
    name: String,
    url: String,
    /// SVG.
    qr: String,
}

/// `GET /kiosk/certificates`: the levels that the member holds, the latest first.
pub(crate) fn list(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let earned = site.store.read(|tx| certificates::read_earned(site, tx, guest.member_id()))?;
    let zone = site.time_zone()?;
    let rows = certified::list(call.language(), &zone, earned);
    let page = ListPage { screen: Screen::of(site, call, guest)?, rows };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /kiosk/certificates`: the QR code of the certificate of one level. A POST, so that no URL of the kiosk
/// identifies the member.
pub(crate) fn show_one(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let level = read_form(call, |form| form.required("level", certified::key))?;
    let (name, url) = app::change(site, super::actor(call, guest), call.language(), |cx| {
        let mut rows = certificates::read_earned(site, cx.tx, guest.member_id())?.rows.into_iter();
        let (row, held) = rows.find(|(row, _)| row.key() == level).ok_or_else(Failure::not_found)?;
        Ok((names::say(call.language(), &row.name).to_owned(), certificates::publish(cx, guest.member_id(), &held)?))
    })?;
    let qr = qr::svg(&url).ok_or_else(Failure::broken)?;
    let page = OnePage { screen: Screen::of(site, call, guest)?, name, url, qr };
    Ok(show(StatusCode::OK, call.language(), &page))
}
