//! The lists of skills, safety briefs and trainings, and the events of an entry.

use super::super::readable_member;
use super::row::row;
use crate::app::{RankedActor, logbook};
use crate::auth::{Bearer, Member};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Rows};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::queries::standing;
use crate::store::tables::{entry_events, skills};
use serde::Serialize;

/// The states that a list can be filtered by.
const STATUSES: [&str; 6] = ["pending", "open", "not_current", "denied", "suspended", "cancelled"];

/// An event of an entry; `from` is null for its creation, `to` is `deleted` for its deletion.
#[derive(Serialize)]
struct EventRow {
    step: i64,
    at: i64,
    member_id: i64,
    name: String,
    from: Option<String>,
    to: String,
}

/// `GET /account/logbook/skills/{status}/{member_id}`: one state, several joined by `-`, or `all`; newest first.
pub(crate) fn list(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 1)?;
    let wanted = statuses(call.param(0))?;
    page(site, call, member_id, &wanted)
}

/// `GET /account/logbook/mobile/skills/{member_id}`: the entries in every state.
pub(crate) fn list_all(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    page(site, call, member_id, &STATUSES)
}

fn page(site: &Site, call: &Call, member_id: i64, statuses: &[&'static str]) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let lapsed = standing::lapsed(tx, member_id, site.now())?;
        let shown = skills::Shown { statuses, lapsed: &lapsed };
        let mut rows = Rows::begin();
        let take = |entry| rows.push(&row(site.catalogue, entry, &lapsed));
        skills::each(tx, member_id, shown, (page.limit, page.offset), take)?;
        Ok(rows.finish(call, page, skills::count(tx, member_id, shown)?))
    })
}

fn statuses(asked: &str) -> Result<Vec<&'static str>, Failure> {
    let one = |name: &str| STATUSES.into_iter().find(|known| *known == name);
    let unknown = || {
        let values = format!("all, {}", STATUSES.join(", "));
        Failure::field("status", Text::new("field.several_of").with("values", values))
    };
    let mut wanted = Vec::new();
    for name in asked.split('-') {
        match name {
            "all" => wanted.extend(STATUSES),
            name => wanted.push(one(name).ok_or_else(unknown)?),
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// `GET /account/logbook/entries/{entry_id}/events`: the events of the entry, oldest first.
pub(crate) fn events(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let page = call.page()?;
    site.store.read(|tx| {
        logbook::find_entry(tx, RankedActor::from(member).rank, entry_id, site.now())?;
        let rows = entry_events::list(tx, entry_id)?.into_iter().map(|one| EventRow {
            step: one.step,
            at: one.at,
            member_id: one.member_id,
            name: one.name,
            from: one.from,
            to: one.to,
        });
        Ok(reply::part(call, page, rows.collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::entry::{NOT_CURRENT, Status};

    #[test]
    fn states_are_joined_by_hyphens_and_unknown_ones_are_refused() {
        assert_eq!(statuses("open-suspended-not_current").unwrap(), ["not_current", "open", "suspended"]);
        assert_eq!(statuses("open-open").unwrap(), ["open"]);
        assert_eq!(statuses("all").unwrap().len(), STATUSES.len());
        for asked in ["", "-", "open-", "signed", "Open", "open,denied"] {
            assert!(statuses(asked).is_err(), "{asked}");
        }
    }

    #[test]
    fn every_state_can_be_listed() {
        let stored = Status::ALL.map(Status::name);
        assert!(stored.into_iter().chain([NOT_CURRENT]).all(|status| STATUSES.contains(&status)));
    }
}
