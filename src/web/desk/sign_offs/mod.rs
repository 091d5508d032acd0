//! *Sign-offs*: the entries that wait for a signature, by signer.

pub(crate) mod actions;
pub(crate) mod bulk;
pub(crate) mod entry;

use super::members::list_tabs::{ViewContext, length};
use crate::auth::Clerk;
use crate::domain::catalogue::names;
use crate::domain::entry::Kind;
use crate::domain::ids::{EntryId, MemberId};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::member_search;
use crate::store::tables::skills::{self, SkillEntry};
use crate::web::desk::members::lookup::name_of;
use crate::web::{Frame, done_with, initials, query_text, show, skipped};
use askama::Template;
use http::StatusCode;

const PART: &str = "/desk/sign-offs";
/// Rows on one page.
const ROWS_MAX: i64 = 100;
const DONE: [(&str, &str); 8] = [
    ("recorded", "card.done_recorded"),
    ("several", "card.done_several"),
    ("withdrawn", "card.done_withdrawn"),
    ("deleted", "card.done_deleted"),
    ("none", "card.none_ticked"),
    ("denied", "desk.done_denied"),
    ("suspended", "desk.done_suspended"),
    ("reinstated", "desk.done_reinstated"),
];

#[derive(Template)]
#[template(path = "desk/sign_offs.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    queues: Vec<Queue>,
    /// Number of entries after this page, and where the next page begins.
    more: i64,
    skip_to: i64,
}

/// The entries that wait for one signer.
struct Queue {
    signer: String,
    rows: Vec<Row>,
}

struct Row {
    entry_id: EntryId,
    member_id: MemberId,
    name: String,
    initials: String,
    has_photo: bool,
    skill: String,
    level: String,
    day: String,
    comment: String,
    /// Version of the entry, which every visible change increments.
    version: i64,
}

/// `GET /desk/sign-offs`: one page of the pending entries, by signer, after `skip` others.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut frame = Frame::of(site, call, clerk, PART)?;
    frame.done = done_in_words(site, call)?;
    let skip = skipped(call);
    let zone = site.time_zone()?;
    let view = ViewContext { site, zone: &zone, language: call.language(), now: site.now() };
    let (queues, waiting) = site.store.read(|tx| {
        let mut queues: Vec<(Option<MemberId>, Queue)> = Vec::new();
        for entry in skills::list_pending(tx, ROWS_MAX, skip)? {
            let signer_id = entry.instructor_id;
            if queues.last().is_none_or(|(last, _)| *last != signer_id) {
                queues.push((signer_id, Queue { signer: signer(tx, &entry)?, rows: Vec::new() }));
            }
            let row = row(tx, &view, entry)?;
            if let Some((_, queue)) = queues.last_mut() {
                queue.rows.push(row);
            }
        }
        let queues: Vec<Queue> = queues.into_iter().map(|(_, queue)| queue).collect();
        Ok((queues, skills::count_pending(tx)?))
    })?;
    let skip_to = skip.saturating_add(queues.iter().map(|queue| queue.rows.len() as i64).sum());
    let page = Page { frame, more: waiting - skip_to, skip_to, queues };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// The message about the action that was just done, with the entry or the number of entries.
fn done_in_words(site: &Site, call: &Call) -> Result<Option<String>, Failure> {
    let (entry, count) =
        (query_text(call, "entry").parse::<EntryId>().ok(), query_text(call, "count").parse::<i64>().ok());
    let named = site.store.read(|tx| {
        let Some(entry) = entry.map(|entry_id| skills::find(tx, entry_id)).transpose()?.flatten() else {
            return Ok(None);
        };
        let skill = match entry.kind {
            Kind::Time => call.say("desk.opening"),
            _ => names::of_entry(call.language(), site.catalogue, (&entry.cat_group, &entry.cat_id, &entry.skill)).1,
        };
        Ok(name_of(tx, entry.member_id)?.map(|name| (skill, name)))
    })?;
    Ok(match (&*query_text(call, "done"), named) {
        ("signed", Some((skill, name))) => {
            Some(call.language().say(&Text::new("desk.done_signed").with("skill", skill).with("name", name)))
        }
        ("signed", None) => None,
        _ => done_with(call, &DONE, |text| text.with_count("count", count.unwrap_or_default())),
    })
}

fn signer(tx: &Read, entry: &SkillEntry) -> Result<String, Failure> {
    let found = entry.instructor_id.map(|id| member_search::find(tx, id)).transpose()?.flatten();
    Ok(found.map(|one| one.display_name().to_owned()).unwrap_or_default())
}

fn row(tx: &Read, view: &ViewContext, entry: SkillEntry) -> Result<Row, Failure> {
    let member = member_search::find(tx, entry.member_id)?.ok_or_else(Failure::not_found)?;
    let name = member.display_name().to_owned();
    let (level, skill) = subject(view, &entry);
    Ok(Row {
        entry_id: entry.entry_id,
        member_id: entry.member_id,
        initials: initials(&name),
        name,
        has_photo: member.has_photo,
        skill,
        level,
        day: view.day(entry.entry_date),
        version: entry.version,
        comment: entry.comment,
    })
}

/// The names of level and skill; for the flight time of an opening balance, its length.
fn subject(view: &ViewContext, entry: &SkillEntry) -> (String, String) {
    match entry.kind {
        Kind::Time => (view.say("desk.opening"), length(view, entry.minutes)),
        _ => view.names(&entry.cat_group, &entry.cat_id, &entry.skill),
    }
}
