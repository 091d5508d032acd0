//! A skill, brief or training in the member's own logbook: who has the request and since when, why it was denied, by whom it was
//! signed; asking again, and withdrawing.

use super::frame::{LOGBOOK, Shell};
use super::show;
use super::sign_off::{list_able, naming_signer};
use crate::app;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::edit::{self, Patch};
use crate::auth::Member;
use crate::domain::catalogue::names;
use crate::domain::entry::{Kind, Status, displayed_status};
use crate::domain::ids::{EntryId, MemberId};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::queries::standing;
use crate::store::tables::entry_events;
use crate::store::tables::signers::EligibleSigner;
use crate::store::tables::skills::{self, SkillEntry};
use crate::web::badge::Badge;
use crate::web::{form, form_status, path_id, refused_form};
use askama::Template;

#[derive(Template)]
#[template(path = "member/entry.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    entry_id: EntryId,
    skill: String,
    level: String,
    day: String,
    badge: Badge,
    /// Who has it and since when, or who signed it and when.
    story: String,
    denial: String,
    comment: String,
    signer_comment: String,
    /// Whether it waits for its signer.
    waits: bool,
    /// Whether the member may correct it and ask, now or again.
    asks: bool,
    instructor_id: MemberId,
    signers: Vec<EligibleSigner>,
    problem: Option<String>,
}

/// The badge for the status of an entry.
pub(super) fn badge(language: Language, status: &str) -> Badge {
    let (tone, key) = match status {
        "open" => ("good", "me.entry_open"),
        "not_current" => ("soon", "me.entry_not_current"),
        "pending" => ("soon", "me.entry_pending"),
        "denied" => ("bad", "me.entry_denied"),
        "suspended" => ("bad", "me.entry_suspended"),
        _ => ("plain", "me.entry_cancelled"),
    };
    Badge::new(tone, language.say(&Text::new(key)))
}

/// The entry that the path names; 404 unless it is in the member's own logbook.
fn find(site: &Site, call: &Call, member: &Member) -> Result<SkillEntry, Failure> {
    let entry_id = path_id(call, 0)?;
    let found = site.store.read(|tx| Ok(skills::find(tx, entry_id)?))?;
    found.filter(|entry| entry.member_id == member.id()).ok_or_else(Failure::not_found)
}

/// `GET /me/logbook/entries/{entry_id}`
pub(crate) fn show_entry(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry = find(site, call, member)?;
    let comment = entry.comment.clone();
    page(site, call, member, entry, comment, None)
}

fn page(
    site: &Site,
    call: &Call,
    member: &Member,
    entry: SkillEntry,
    comment: String,
    problem: Option<String>,
) -> Answer {
    let (zone, language) = (site.time_zone()?, call.language());
    let asks = matches!(entry.status, Status::Pending | Status::Denied) && entry.opening.is_none();
    let (since, lapsed, signers) = site.store.read(|tx| {
        let since = entry_events::list(tx, entry.entry_id)?.last().map_or(entry.created_at, |last| last.at);
        let signers = if asks { list_able(site, tx, &entry.skill, member.id())? } else { Vec::new() };
        Ok((since, standing::lapsed(tx, member.id(), site.now())?, signers))
    })?;
    let (level, skill) = match entry.kind {
        Kind::Time => (String::new(), format!("{} min", entry.minutes)),
        _ => names::of_entry(language, site.catalogue, (&entry.cat_group, &entry.cat_id, &entry.skill)),
    };
    let story = match entry.status {
        Status::Pending => Some(("me.story_pending", since)),
        Status::Denied => Some(("me.story_denied", since)),
        Status::Open | Status::Suspended => entry.approval_date.map(|at| ("me.story_signed", at)),
        Status::Cancelled => Some(("me.story_cancelled", since)),
    };
    let story = story.map(|(key, at)| {
        let text = Text::new(key).with("name", &entry.instructor_name).with("when", when::moment(language, &zone, at));
        language.say(&text)
    });
    let status = form_status(problem.is_some());
    let page = Page {
        shell: Shell::of(site, call, member, LOGBOOK)?,
        entry_id: entry.entry_id,
        skill,
        level,
        day: when::day(language, &zone, entry.entry_date),
        badge: badge(language, displayed_status(entry.kind, &entry.cat_group, entry.status, &lapsed)),
        story: story.unwrap_or_default(),
        denial: if entry.status == Status::Denied { entry.comment_denial } else { String::new() },
        comment,
        signer_comment: entry.comments_instructor,
        waits: entry.status == Status::Pending && entry.opening.is_none(),
        asks,
        instructor_id: entry.instructor_id.unwrap_or_default(),
        signers,
        problem,
    };
    Ok(show(status, language, &page))
}

/// `POST /me/logbook/entries/{entry_id}`: corrects the request, and asks again where it was denied.
pub(crate) fn ask_again(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry = find(site, call, member)?;
    let mut form = form(call)?;
    let (signer_id, comment) = (form.optional("signer", fields::id), form.lines("comment", COMMENT_CHARS_MAX));
    let patch = Patch { instructor_id: signer_id, comment: Some(comment.clone()), ..Patch::default() };
    let edited = form.finish().and_then(|()| {
        app::change(site, member, call.language(), |cx| edit::edit(cx, entry.entry_id, &patch).map(drop))
    });
    match edited {
        Ok(()) => Ok(reply::see_other(&format!("{LOGBOOK}?done=asked"))),
        Err(failure) => {
            let failure = naming_signer(site, call, failure, signer_id)?;
            refused_form(failure, call, |problem| page(site, call, member, entry, comment, Some(problem)))
        }
    }
}

/// `POST /me/logbook/entries/{entry_id}/withdraw`: withdraws a request that waits. One that is withdrawn is withdrawn.
pub(crate) fn withdraw(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry = find(site, call, member)?;
    let patch = Patch { status: Some(Status::Cancelled), ..Patch::default() };
    let withdrawn = app::change(site, member, call.language(), |cx| edit::edit(cx, entry.entry_id, &patch).map(drop));
    let comment = entry.comment.clone();
    match withdrawn {
        Err(failure) if find(site, call, member)?.status != Status::Cancelled => {
            refused_form(failure, call, |problem| page(site, call, member, entry, comment, Some(problem)))
        }
        _ => Ok(reply::see_other(&format!("{LOGBOOK}?done=withdrawn"))),
    }
}
