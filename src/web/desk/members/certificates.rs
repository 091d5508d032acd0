//! PDFs of a member: the logbook and certificates.

use super::PART;
use super::heading::{self, Heading};
use crate::app::certificates;
use crate::app::language_at_desk;
use crate::app::logbook::print;
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
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

/// `POST /desk/members/{member_id}/certificates`: one certificate as a PDF, by its index in the list. From now on its code can
/// be verified.
pub(crate) fn certificate(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let place = read_form(call, |form| form.required("place", fields::whole_in(0..=1_000)))? as usize;
    let chosen = site.store.read(|tx| {
        let mut rows = certificates::read_earned(site, tx, member_id)?.rows.into_iter();
        rows.nth(place).map(|(row, _)| row).ok_or_else(Failure::not_found)
    })?;
    let is_chosen = |row: &certificates::Row| {
        (&row.r#type, row.cat_id, row.entry_date) == (&chosen.r#type, chosen.cat_id, chosen.entry_date)
    };
    let paper = certificates::prepare(site, member_id, language_at_desk(site, call, member_id)?, is_chosen)?;
    let pdf = paper.draw(site)?;
    site.store.write(site.now(), |tx| certificates::publish(site, tx, member_id, &paper.held))?;
    Ok(reply::file("application/pdf", "inline", &format!("certificate-{member_id}.pdf"), pdf))
}
