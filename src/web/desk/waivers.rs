//! The waivers on which staff has still to decide.

use crate::app::waivers;
use crate::auth::Clerk;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::web::{Frame, show as shown};
use askama::Template;
use http::StatusCode;

/// More than a day brings.
const ROWS_MAX: i64 = 200;

#[derive(Template)]
#[template(path = "desk/waivers.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// Numbers, names, and when each signed.
    rows: Vec<(i64, String, String)>,
}

/// `GET /desk/waivers`: who waits for a decision, the longest first. Not there on a site that asks for no waiver.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    if !site.config.waiver.required {
        return Err(Failure::not_found());
    }
    let (zone, language) = (site.time_zone()?, call.language());
    let rows = site.store.read(|tx| waivers::list_undecided(site, tx, ROWS_MAX))?;
    let rows = rows.into_iter().map(|one| (one.member_id, one.name, when::moment(language, &zone, one.signed_at)));
    let page = Page { rows: rows.collect(), frame: Frame::of(site, call, clerk, "/desk")? };
    Ok(shown(StatusCode::OK, language, &page))
}
