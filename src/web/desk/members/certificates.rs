//! PDFs of a member: the logbook and certificates.

use super::PART;
use super::heading::{self, Heading};
use crate::app::language_at_desk;
use crate::app::logbook::print;
use crate::app::{self, certificates};
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::web::certified::{self, Certified};
use crate::web::{Frame, path_id, read_form, show};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/certificates.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    rows: Vec<Certified>,
}

/// `GET /desk/members/{member_id}/logbook.pdf`: the whole logbook.
pub(crate) fn logbook(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let pdf = print::pdf(site, language_at_desk(site, call, member_id)?, member_id)?;
    Ok(reply::file("application/pdf", "inline", &format!("logbook-{member_id}.pdf"), pdf))
}

/// `GET /desk/members/{member_id}/certificates`: the levels that the member holds, the latest first.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let zone = site.time_zone()?;
    let (heading, earned) = site.store.read(|tx| {
        let heading = heading::read(site, tx, call, member_id)?;
        Ok((heading, certificates::read_earned(site, tx, member_id)?))
    })?;
    let rows = certified::list(call.language(), &zone, earned);
    let page = Page { frame, heading, rows };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /desk/members/{member_id}/certificates`: the certificate of one level as a PDF. From now on its code can
/// be verified.
pub(crate) fn certificate(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let level = read_form(call, |form| form.required("level", certified::key))?;
    let language = language_at_desk(site, call, member_id)?;
    let paper = certificates::prepare(site, member_id, language, |row| row.key() == level)?;
    let pdf = paper.draw(site)?;
    app::change(site, clerk, call.language(), |cx| certificates::publish(cx, member_id, &paper.held))?;
    Ok(reply::file("application/pdf", "inline", &format!("certificate-{member_id}.pdf"), pdf))
}
