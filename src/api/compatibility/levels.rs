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

crate::answer! {
    struct FlyerLevels {
        level1: &'static str ["No", "Yes"] = "Yes",
        /// Whether a skill of it waits for its signer.
        level1_pending as "level1Pending": bool = false,
        /// `No` or `Level N`, the highest held of the track.
        r#static as "static": String { "pattern": "^(No|Yes|Level [0-9]+)$" } = "Level 3",
        /// Whether a skill of it waits for its signer.
        static_pending as "staticPending": bool = true,
        /// `No` or `Level N`, the highest held of the track.
        dynamic: String { "pattern": "^(No|Yes|Level [0-9]+)$" } = "No",
        /// Whether a skill of it waits for its signer.
        dynamic_pending as "dynamicPending": bool = false,
        /// `No` or `Level N`, the highest held of the track.
        formation: String { "pattern": "^(No|Yes|Level [0-9]+)$" } = "No",
        /// Whether a skill of it waits for its signer.
        formation_pending as "formationPending": bool = false,
    }
}

crate::operation! {
    /// A flyer's levels at a glance
    ///
    /// A level of one track does not count for another track.
    GET = "flyerLevels"
        .answers::<FlyerLevels>("The levels.")
}

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
        Ok(reply::ok(&FlyerLevels {
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
