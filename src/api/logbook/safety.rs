//! The safety logbooks, one for each programme; examiners share one with trainers, and assistant flight coaches one with
//! instructors.

use super::readable_member;
use crate::auth::Bearer;
use crate::domain::local_time::TimeZone;
use crate::domain::safety;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply::Rows;
use crate::site::Site;
use crate::store::queries::logbook::{self, Line};
use crate::store::tables::tunnels;
use serde::Serialize;

/// A safety brief or training, in the contract's types for logbook entries.
#[derive(Serialize)]
struct SafetyReply {
    id: i64,
    entry_id: i64,
    member_id: i64,
    cat_group: String,
    cat_name: String,
    skill: String,
    skill_name: String,
    /// `initial` or `recurrent`; empty for a record that has left the catalogue.
    kind: &'static str,
    status: &'static str,
    entry_date: i64,
    approval_date: Option<i64>,
    /// The signer; empty without a signature.
    instructor: String,
    instructor_name: String,
    comments_instructor: String,
    /// The reason of a refusal, or empty.
    comment_denial: String,
    comment: String,
    tunnel: String,
    tunnel_name: String,
    author_id: i64,
    /// The first moment at which the record is no longer valid; null without a limit.
    valid_until: Option<i64>,
    in_force: bool,
    created_at: i64,
}

/// `GET /account/logbook/coach-safety/{member_id}`
pub(crate) fn coach(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Coach")
}

/// `GET /account/logbook/flyer-safety/{member_id}`
pub(crate) fn flyer(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Flyer")
}

/// `GET /account/logbook/instructor-safety/{member_id}`: also of assistant flight coaches.
pub(crate) fn instructor(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Instructor")
}

/// `GET /account/logbook/military-safety/{member_id}`
pub(crate) fn military(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    list(site, call, bearer, "Military")
}

/// `GET /account/logbook/trainer-safety/{member_id}`: also of examiners.
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

fn row(site: &Site, zone: &TimeZone, member_id: i64, line: Line) -> SafetyReply {
    let validity = safety::validity(&line.cat_group, line.status, line.entry_date, site.now(), zone);
    let record = site.catalogue.find_safety(&line.skill).map(|(_, record)| record);
    SafetyReply {
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
