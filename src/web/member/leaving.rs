//! Leaving: what is erased and what stays, the request with a fresh proof, and for a week the way back.

use super::frame::Shell;
use super::security::prove;
use super::{account, show};
use crate::app::{self, leaving};
use crate::auth::{Member, own};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::leavings;
use crate::web::{form_status, read_form, refused_form};
use askama::Template;

const REMOVED: [&str; 3] = ["deletion.removed.profile", "deletion.removed.credentials", "deletion.removed.messages"];
const KEPT: [&str; 3] = ["deletion.kept.payments", "deletion.kept.logbook", "deletion.kept.bookings"];

#[derive(Template)]
#[template(path = "member/leaving.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    /// The sentence with the day of the erasure, where it was asked for.
    due: Option<String>,
    removed: Vec<String>,
    kept: Vec<String>,
    problem: Option<String>,
}

/// `GET /me/leaving`
pub(crate) fn show_page(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, None)
}

fn page(site: &Site, call: &Call, member: &Member, problem: Option<String>) -> Answer {
    let shell = Shell::of(site, call, member, account::PATH)?;
    let zone = site.time_zone()?;
    let leaves_at = site.store.read(|tx| Ok(leavings::find(tx, member.id())?))?;
    let due = leaves_at.map(|at| Text::new("leaving.due").with("when", when::moment(call.language(), &zone, at)));
    let status = form_status(problem.is_some());
    let page = Page {
        due: due.map(|text| shell.tell(&text)),
        removed: REMOVED.map(|key| shell.say(key)).into(),
        kept: KEPT.map(|key| shell.say(key)).into(),
        problem,
        shell,
    };
    Ok(show(status, call.language(), &page))
}

/// `POST /me/leaving`: asks for the erasure of the account in a week, with a fresh proof.
pub(crate) fn ask(site: &Site, call: &Call, member: &Member) -> Answer {
    read_form(call, |_| ())?;
    if let Some(asks) = prove::demand(site, member, own::LEAVING) {
        return Ok(asks);
    }
    match app::change(site, member, call.language(), |cx| leaving::ask(cx, member.session())) {
        Ok(_) => Ok(reply::see_other(own::LEAVING)),
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, Some(problem))),
    }
}

/// `POST /me/leaving/stop`: takes that back.
pub(crate) fn stop(site: &Site, call: &Call, member: &Member) -> Answer {
    read_form(call, |_| ())?;
    let stopped = app::change(site, member, call.language(), leaving::stop)?;
    Ok(account::done_if(stopped, "stays"))
}
