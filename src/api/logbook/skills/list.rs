//! The lists of skills, safety briefs and trainings, and the events of an entry.

use super::super::readable_member;
use super::row::{SkillList, row};
use crate::app::{RankedActor, logbook};
use crate::auth::{Bearer, Member};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::answer::Int;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Rows};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::standing;
use crate::store::tables::{entry_events, skills};

/// The states that a list can be filtered by.
const STATUSES: [&str; 6] = ["pending", "open", "not_current", "denied", "suspended", "cancelled"];

crate::answer! {
    struct EntryEvent {
        /// Counts up.
        step: Int { "minimum": 1 } = 1,
        /// When.
        at: Moment = 1780000000,
        /// The member who caused the event.
        member_id: MemberId = 1204,
        /// Their name.
        name: String = "Jane",
        /// The state before; null where the entry began.
        from: Option<String>,
        /// The state after; `deleted` at the end.
        to: String = "pending",
    }
}

crate::answer! {
    /// Events of an entry, from the beginning on.
    struct EntryEventList = Vec<EntryEvent>;
}

crate::operation! {
    /// A member's entries in some states
    ///
    /// Skills, and beside them safety briefs and trainings (`kind` is `safety`), newest first.
    LIST = "listSkillsByStatus"
        .answers::<SkillList>("The entries.")
}

pub(crate) fn list(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 1)?;
    let wanted = statuses(call.param(0))?;
    page(site, call, member_id, &wanted)
}

crate::operation! {
    /// A member's entries
    ///
    /// Skills, and beside them safety briefs and trainings (`kind` is `safety`), of every state, newest first.
    LIST_ALL = "listSkills"
        .answers::<SkillList>("The entries.")
}

pub(crate) fn list_all(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    page(site, call, member_id, &STATUSES)
}

fn page(site: &Site, call: &Call, member_id: MemberId, statuses: &[&'static str]) -> Answer {
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

crate::operation! {
    /// The events of an entry
    ///
    /// Oldest first, for every caller who may see the entry.
    EVENTS = "listEntryEvents"
        .answers::<EntryEventList>("The events.")
}

pub(crate) fn events(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let page = call.page()?;
    site.store.read(|tx| {
        logbook::find_entry(tx, RankedActor::from(member).rank, entry_id, site.now())?;
        let rows = entry_events::list(tx, entry_id)?.into_iter().map(|one| EntryEvent {
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
