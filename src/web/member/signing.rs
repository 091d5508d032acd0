//! Signing on one's own telephone: the requests that wait for the member, several signed with one proof, each denied with words.

use super::frame::Shell;
use super::show;
use crate::app::logbook::sign_offs::{self, SeenEntry};
use crate::app::logbook::{self, COMMENT_CHARS_MAX};
use crate::app::{self, Change};
use crate::auth::{Member, own, sign_in};
use crate::domain::catalogue::names;
use crate::domain::entry::Kind;
use crate::domain::ids::EntryId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::skills::{self, SkillEntry};
use crate::web::{form, form_pairs, form_status, path_id, refused_form};
use askama::Template;
use std::collections::BTreeSet;

pub(crate) const PATH: &str = "/me/signing";
/// Requests on one page, and entries that one proof signs.
const LINES_MAX: i64 = 50;
const DONE: [(&str, &str); 3] =
    [("signed", "me.done_signed"), ("denied", "me.done_denied"), ("recorded", "me.done_recorded")];

#[derive(Template)]
#[template(path = "member/signing.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    rows: Vec<Row>,
    /// How many wait in all.
    waiting: String,
    /// The comment as typed.
    comment: String,
    problem: Option<String>,
}

/// A request: what the signature attests.
struct Row {
    entry_id: EntryId,
    version: i64,
    member: String,
    what: String,
    about: String,
    note: String,
    is_ticked: bool,
}

/// What the form says.
struct Typed {
    /// Number and version of each ticked entry.
    ticked: Vec<(EntryId, i64)>,
    comment: String,
}

/// `GET /me/signing`
pub(crate) fn show_queue(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, &Typed { ticked: Vec::new(), comment: String::new() }, None)
}

fn page(site: &Site, call: &Call, member: &Member, typed: &Typed, problem: Option<String>) -> Answer {
    let shell = Shell::after_action(site, call, member, own::HOME, &DONE)?;
    let (zone, language) = (site.time_zone()?, call.language());
    let (found, waiting) = site.store.read(|tx| {
        Ok((skills::list_waiting(tx, member.id(), LINES_MAX, 0)?, skills::count_waiting(tx, member.id())?))
    })?;
    let row = |entry: SkillEntry| {
        let (level, what) = match entry.kind {
            Kind::Time => (String::new(), format!("{} min", entry.minutes)),
            _ => names::of_entry(language, site.catalogue, (&entry.cat_group, &entry.cat_id, &entry.skill)),
        };
        let day = when::day(language, &zone, entry.entry_date);
        Row {
            entry_id: entry.entry_id,
            version: entry.version,
            member: entry.member_name,
            what,
            about: if level.is_empty() { day } else { format!("{level} · {day}") },
            note: entry.comment,
            is_ticked: typed.ticked.contains(&(entry.entry_id, entry.version)),
        }
    };
    let status = form_status(problem.is_some());
    let page = Page {
        shell,
        rows: found.into_iter().map(row).collect(),
        waiting: language.say(&Text::new("me.waiting").with("waiting", waiting)),
        comment: typed.comment.clone(),
        problem,
    };
    Ok(show(status, language, &page))
}

/// `POST /me/signing`: signs the ticked entries as the page showed them, all or none, with the password as proof.
pub(crate) fn sign(site: &Site, call: &Call, member: &Member) -> Answer {
    let pairs = form_pairs(call)?;
    let mut form = form(call)?;
    let (secret, comment) = (form.required("password", fields::secret), form.lines("comment", COMMENT_CHARS_MAX));
    let typed = Typed { ticked: ticked(&pairs), comment };
    let signed = form.finish().and_then(|()| {
        if typed.ticked.is_empty() {
            return Err(Failure::field("entry", Text::new("me.nothing_ticked")));
        }
        let proven = sign_in::check_own_password(site, call, member.id(), &secret)?.at("password")?;
        app::change(site, member, call.language(), |cx| {
            sign_in::check_same_password(cx.tx, &proven, "password")?;
            typed.ticked.iter().try_for_each(|one| sign_one(cx, *one, &typed.comment))
        })
    });
    match signed {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=signed"))),
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, &typed, Some(problem))),
    }
}

fn sign_one(cx: &Change, (entry_id, version): (EntryId, i64), comment: &str) -> Result<(), Failure> {
    let entry = find(cx, entry_id)?;
    let comment = Some(comment).filter(|comment| !comment.is_empty());
    sign_offs::sign(cx, &entry, &SeenEntry::version(Some(version)), comment).map(drop)
}

/// The ticked entries, each once: `NUMBER VERSION`.
fn ticked(pairs: &[(String, String)]) -> Vec<(EntryId, i64)> {
    let read = |text: &str| {
        let (entry_id, version) = text.split_once(' ')?;
        Some((entry_id.parse().ok()?, version.parse().ok()?))
    };
    let entries = pairs.iter().filter(|(name, _)| name == "entry");
    let ticked: BTreeSet<(EntryId, i64)> = entries.filter_map(|(_, text)| read(text)).collect();
    ticked.into_iter().take(LINES_MAX as usize).collect()
}

/// An entry that waits for the actor by name.
fn find(cx: &Change, entry_id: EntryId) -> Result<SkillEntry, Failure> {
    let entry = logbook::find_entry(cx.tx, cx.rank, entry_id, cx.now())?;
    if entry.instructor_id == cx.member_id() { Ok(entry) } else { Err(Failure::not_found()) }
}

/// `POST /me/signing/{entry_id}/deny`: denies a request, with the reason.
pub(crate) fn deny(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = path_id(call, 0)?;
    let mut form = form(call)?;
    let reason = form.required("reason", fields::lines(COMMENT_CHARS_MAX));
    let version = form.optional("version", fields::id);
    let denied = form.finish().and_then(|()| {
        app::change(site, member, call.language(), |cx| {
            sign_offs::deny(cx, &find(cx, entry_id)?, &SeenEntry::version(version), &reason).map(drop)
        })
    });
    let nothing = Typed { ticked: Vec::new(), comment: String::new() };
    match denied {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=denied"))),
        Err(failure) if failure.status() == http::StatusCode::NOT_FOUND => Err(failure),
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, &nothing, Some(problem))),
    }
}
