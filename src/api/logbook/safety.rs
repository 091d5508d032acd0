//! The safety logbooks, one for each programme; examiners share one with trainers, and assistant flight coaches one with
//! instructors.

use super::readable_member;
use crate::auth::Bearer;
use crate::domain::ids::{EntryId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::domain::safety;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply::Rows;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::logbook::{self, Line};
use crate::store::tables::tunnels;

crate::answer! {
    struct SafetyEntry {
        /// The same as `entry_id`.
        id: EntryId = 6100,
        entry_id: EntryId = 6100,
        member_id: MemberId = 1204,
        /// The programme.
        cat_group: String = "Flyer",
        cat_name: String = "Flyer",
        /// The record's number, as text.
        skill: String = "10001",
        skill_name: String = "Flyer safety brief",
        /// Empty for a record that has left the catalogue.
        kind: &'static str ["initial", "recurrent", ""] = "initial",
        /// `pending` waits for the signer; `open` is signed and counts; `not_current` is open while the programme's
        /// currency has lapsed; `denied` was refused with `comment_denial`; `suspended` was paused by an admin;
        /// `cancelled` was withdrawn.
        status: &'static str ["pending", "open", "denied", "not_current", "suspended", "cancelled"] = "open",
        /// When it was.
        entry_date: Moment = 1780000000,
        /// When it was signed.
        approval_date: Option<Moment> = 1780000000,
        /// The signer's number, as text; empty without a signature.
        instructor: String = "17",
        instructor_name: String = "Mark Vogt",
        comments_instructor: String = "",
        /// Why it was refused; empty where it was not.
        comment_denial: String = "",
        comment: String = "",
        /// The tunnel's number, as text.
        tunnel: String = "1",
        tunnel_name: String = "Windwerk",
        /// The member who entered it.
        author_id: MemberId = 17,
        /// The first moment at which it no longer holds; null where it does not run out.
        valid_until: Option<Moment>,
        in_force: bool = true,
        /// When it was entered.
        created_at: Moment = 1780000000,
    }
}

crate::answer! {
    /// Safety briefs and trainings, newest first.
    struct SafetyList = Vec<SafetyEntry>;
}

crate::operation! {
    /// The coach safety logbook
    ///
    /// Briefs and trainings with their signers and validity, newest first.
    COACH = "coachSafety"
        .answers::<SafetyList>("The records.")
}

pub(crate) fn coach(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Coach")
}

crate::operation! {
    /// The flyer safety logbook
    ///
    /// Briefs and trainings with their signers and validity, newest first.
    FLYER = "flyerSafety"
        .answers::<SafetyList>("The records.")
}

pub(crate) fn flyer(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Flyer")
}

crate::operation! {
    /// The instructor safety logbook
    ///
    /// Briefs and trainings with their signers and validity, newest first. Also of assistant flight coaches.
    INSTRUCTOR = "instructorSafety"
        .answers::<SafetyList>("The records.")
}

pub(crate) fn instructor(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Instructor")
}

crate::operation! {
    /// The military safety logbook
    ///
    /// Briefs and trainings with their signers and validity, newest first.
    MILITARY = "militarySafety"
        .answers::<SafetyList>("The records.")
}

pub(crate) fn military(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Military")
}

crate::operation! {
    /// The trainer safety logbook
    ///
    /// Briefs and trainings with their signers and validity, newest first. Also of examiners.
    TRAINER = "trainerSafety"
        .answers::<SafetyList>("The records.")
}

pub(crate) fn trainer(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Trainer")
}

fn list(site: &Site, call: &Call, bearer: &Bearer, logbook: &str) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    let page = call.page()?;
    site.store.read(|tx| {
        let mut rows = Rows::begin();
        let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
        let take = |line| rows.push(&row(site, &zone, member_id, line));
        logbook::each_safety(tx, member_id, logbook, (page.limit, page.offset), take)?;
        Ok(rows.finish(call, page, logbook::count_safety(tx, member_id, logbook)?))
    })
}

fn row(site: &Site, zone: &TimeZone, member_id: MemberId, line: Line) -> SafetyEntry {
    let validity = safety::validity(&line.cat_group, line.status, line.entry_date, site.now(), zone);
    let record = site.catalogue.find_safety(&line.skill).map(|(_, record)| record);
    SafetyEntry {
        id: line.entry_id,
        entry_id: line.entry_id,
        member_id,
        cat_name: line.cat_group.clone(),
        cat_group: line.cat_group,
        skill_name: record.map(|record| record.name.clone()).unwrap_or_default(),
        skill: line.skill,
        kind: record.map_or("", |record| record.kind.name()),
        status: line.status.name(),
        entry_date: line.entry_date,
        approval_date: line.approval_date,
        instructor: line.instructor_id.map(|id| id.to_string()).unwrap_or_default(),
        instructor_name: line.instructor_name,
        comments_instructor: line.comments_instructor,
        comment_denial: line.comment_denial,
        comment: line.comment,
        tunnel: line.tunnel_id.to_string(),
        tunnel_name: line.tunnel_name,
        author_id: line.author_id,
        valid_until: validity.until,
        in_force: validity.in_force,
        created_at: line.created_at,
    }
}
