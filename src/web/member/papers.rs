//! The member's papers: certificates, the logbook and the progression as files.

use super::frame::{LOGBOOK, Shell};
use super::show;
use crate::app;
use crate::app::certificates;
use crate::app::language_of_reader;
use crate::app::logbook::{print, progression};
use crate::auth::{Member, count_document};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::web::certified::{self, Certified};
use crate::web::read_form;
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "member/papers.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    rows: Vec<Certified>,
}

/// `GET /me/papers`: the levels that the member holds, the latest first, and the logbook.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let earned = site.store.read(|tx| certificates::read_earned(site, tx, member.id()))?;
    let rows = certified::list(call.language(), &site.time_zone()?, earned);
    let page = Page { shell: Shell::of(site, call, member, LOGBOOK)?, rows };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /me/papers`: the certificate of one level as a PDF, stored as handed out.
pub(crate) fn certificate(site: &Site, call: &Call, member: &Member) -> Answer {
    let level = read_form(call, |form| form.required("level", certified::key))?;
    let language = language_of_reader(site, call, member.id())?;
    let paper = certificates::prepare(site, member.id(), language, |row| row.key() == level)?;
    count_document(site, member.id(), member.role())?;
    let pdf = paper.draw(site)?;
    app::change(site, member, call.language(), |cx| certificates::publish(cx, member.id(), &paper.held).map(drop))?;
    Ok(private(reply::file("application/pdf", "inline", &format!("certificate-{}.pdf", member.id()), pdf)))
}

/// `GET /me/logbook.pdf`
pub(crate) fn logbook(site: &Site, call: &Call, member: &Member) -> Answer {
    count_document(site, member.id(), member.role())?;
    let pdf = print::pdf(site, language_of_reader(site, call, member.id())?, member.id())?;
    Ok(private(reply::file("application/pdf", "inline", &format!("logbook-{}.pdf", member.id()), pdf)))
}

/// `GET /me/progression.svg`: the map of the levels.
pub(crate) fn progression(site: &Site, call: &Call, member: &Member) -> Answer {
    let map = progression::map_svg(site, member.id(), call.language(), true)?;
    Ok(private(reply::picture("image/svg+xml", map)))
}

/// A file that no cache keeps.
fn private(file: reply::Reply) -> reply::Reply {
    file.unstored()
}
