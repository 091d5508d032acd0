//! The waivers that wait for a decision of the staff.

use crate::app::waivers;
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::{Frame, check_waivers_required, show as shown};
use askama::Template;
use http::StatusCode;

/// Rows on the page; a day brings fewer.
const ROWS_MAX: i64 = 200;

#[derive(Template)]
#[template(path = "desk/waivers.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// Member ID, name, and when the waiver was signed.
    rows: Vec<(MemberId, String, String)>,
}

/// `GET /desk/waivers`: the undecided waivers, the oldest first; 404 on a site that requires no waivers.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    check_waivers_required(site)?;
    let (zone, language) = (site.time_zone()?, call.language());
    let rows = site.store.read(|tx| waivers::list_undecided(site, tx, ROWS_MAX))?;
    let rows = rows.into_iter().map(|one| (one.member_id, one.name, when::moment(language, &zone, one.signed_at)));
    let page = Page { rows: rows.collect(), frame: Frame::of(site, call, clerk, "/desk")? };
    Ok(shown(StatusCode::OK, language, &page))
}
