//! A summary of a flyer's levels.

use crate::api::logbook::readable_member;
use crate::auth::Bearer;
use crate::domain::catalogue::LevelKey;
use crate::domain::entry::Status;
use crate::domain::progression::{self, TRACKS};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::queries::{holdings, logbook};
use serde::Serialize;

/// `"No"`, `"Yes"` or `"Level N"`; pending while a skill of the level waits for its signature.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Levels {
    level1: &'static str,
    level1_pending: bool,
    r#static: String,
    static_pending: bool,
    dynamic: String,
    dynamic_pending: bool,
    formation: String,
    formation_pending: bool,
}

/// `GET /account/dashboard/flyer-skills-levels/{member_id}`: the highest held level of each track. A level of one track
/// does not count for another, so Backflying, which opens two tracks, shows in neither.
pub(crate) fn get(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    site.store.read(|tx| {
        let held = holdings::list(tx, member_id)?;
        let held: Vec<LevelKey> = held.iter().map(holdings::Holding::key).collect();
        let states = logbook::list_skill_states(tx, member_id)?;
        let pending: Vec<&str> =
            states.iter().filter(|(_, status)| *status == Status::Pending).map(|(skill, _)| skill.as_str()).collect();
        let is_pending = |track| progression::is_pending(site.catalogue, track, &pending);
        let highest = |track| progression::highest(&held, track).map_or("No".to_owned(), |n| format!("Level {n}"));
        let [r#static, dynamic, formation] = TRACKS.map(highest);
        let [static_pending, dynamic_pending, formation_pending] = TRACKS.map(is_pending);
        let holds_first = progression::highest(&held, "").is_some();
        Ok(reply::ok(&Levels {
            level1: if holds_first { "Yes" } else { "No" },
            level1_pending: is_pending(""),
            r#static,
            static_pending,
            dynamic,
            dynamic_pending,
            formation,
            formation_pending,
        }))
    })
}
