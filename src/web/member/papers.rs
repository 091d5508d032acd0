//! The member's papers: certificates, the logbook and the progression as files.

use super::frame::{LOGBOOK, Shell};
use super::security::prove;
use super::show;
use crate::app;
use crate::app::import_export::cell::Separator;
use crate::app::import_export::own_logbook;
use crate::app::logbook::{print, progression};
use crate::app::{certificates, language_of_reader, own_data};
use crate::auth::{Member, count_document};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
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

/// `GET /me/logbook.csv`: every entry, for a spreadsheet.
pub(crate) fn logbook_csv(site: &Site, call: &Call, member: &Member) -> Answer {
    count_document(site, member.id(), member.role())?;
    let table = own_logbook::whole_csv(site, member.id(), Separator::of(call)?)?;
    let name = format!("logbook-{}.csv", member.id());
    Ok(private(reply::file("text/csv; charset=utf-8", "attachment", &name, table)))
}

/// `GET /me/account/data.json`: everything that the site holds about the member. Whoever found the telephone unlocked does not
/// get it.
pub(crate) fn data(site: &Site, _: &Call, member: &Member) -> Answer {
    if let Some(asks) = prove::demand(site, member, "/me/account/data.json") {
        return Ok(asks);
    }
    count_document(site, member.id(), member.role())?;
    let data = serde_json::to_vec_pretty(&own_data::of_member(site, member.id())?);
    let data = data.map_err(|e| Failure::broken().because(e))?;
    Ok(private(reply::file("application/json", "attachment", &format!("member-{}.json", member.id()), data)))
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
