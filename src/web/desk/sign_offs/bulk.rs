//! Signing several ticked entries under one proof.

use super::{PART, subject};
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::sign_offs::{self, SeenEntry};
use crate::auth::Clerk;
use crate::domain::catalogue::names;
use crate::domain::entry::Status;
use crate::domain::ids::EntryId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::member_search;
use crate::store::tables::members;
use crate::store::tables::skills::{self, SkillEntry};
use crate::web::desk::members::list_tabs::ViewContext;
use crate::web::desk::signer_proof::{self, Outcome, ProofForm};
use crate::web::{Frame, read_form, show};
use askama::Template;
use http::StatusCode;
use std::cell::RefCell;

const PATH: &str = "/desk/sign-several";
const BOUND: &str = "entry";
/// Most entries under one proof.
const ENTRIES_MAX: usize = 60;

#[derive(Template)]
#[template(path = "desk/sign_off_bulk.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    comment: String,
    proof: ProofForm,
}

/// A pending entry.
struct Row {
    /// ID and version of the entry that the page shows.
    seen: String,
    name: String,
    skill: String,
    level: String,
    day: String,
    comment: String,
}

/// `GET /desk/sign-several`: the ticked entries (`entry`) and the form for the proof.
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let pairs = form_urlencoded::parse(call.query.as_bytes());
    let chosen: Vec<String> =
        pairs.filter(|(name, _)| name == "entry").map(|(_, value)| value.into_owned()).take(ENTRIES_MAX).collect();
    if chosen.is_empty() {
        return Ok(reply::see_other(&format!("{PART}?done=none")));
    }
    page(site, call, clerk, StatusCode::OK, &chosen, String::new(), None)
}

/// `POST /desk/sign-several`: signs all entries or none.
pub(crate) fn sign(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let chosen = signer_proof::values(call, "entry")?;
    let comment = read_form(call, |form| form.optional("comment", fields::lines(COMMENT_CHARS_MAX)))?;
    let seen: Option<Vec<(EntryId, i64)>> = chosen.iter().map(|one| read(one)).collect();
    let seen = seen.filter(|all| !all.is_empty() && all.len() <= ENTRIES_MAX).ok_or_else(Failure::invalid_fields)?;
    let at = RefCell::new(String::new());
    let outcome = signer_proof::carry_out(site, call, clerk, BOUND, &|| at.borrow().clone(), |cx| {
        for (entry_id, version) in &seen {
            let entry = skills::find(cx.tx, *entry_id)?.ok_or_else(Failure::not_found)?;
            *at.borrow_mut() = name_of(site, call, &entry);
            sign_offs::sign(cx, &entry, &SeenEntry::version(Some(*version)), comment.as_deref())?;
        }
        Ok(())
    })?;
    match outcome {
        Outcome::Done => Ok(reply::see_other(&format!("{PART}?done=several&count={}", seen.len()))),
        Outcome::Again(status, proof) => {
            page(site, call, clerk, status, &chosen, comment.unwrap_or_default(), Some(*proof))
        }
    }
}

/// ID and version from `12-3`.
fn read(seen: &str) -> Option<(EntryId, i64)> {
    let (entry_id, version) = seen.split_once('-')?;
    Some((entry_id.parse().ok()?, version.parse().ok()?))
}

fn name_of(site: &Site, call: &Call, entry: &SkillEntry) -> String {
    names::of_entry(call.language(), site.catalogue, (&entry.cat_group, &entry.cat_id, &entry.skill)).1
}

fn page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    status: StatusCode,
    chosen: &[String],
    comment: String,
    proof: Option<ProofForm>,
) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let zone = site.time_zone()?;
    let view = ViewContext { site, zone: &zone, language: call.language(), now: site.now() };
    let is_code_due = proof.as_ref().is_some_and(|proof| proof.step.is_some());
    let (rows, username) = site.store.read(|tx| {
        let (mut rows, mut username) = (Vec::new(), String::new());
        for one in chosen {
            let number = one.split('-').next().and_then(|number| number.parse().ok());
            let found = number.map(|number| skills::find(tx, number)).transpose()?.flatten();
            let Some(entry) = found.filter(|entry| entry.status == Status::Pending) else { continue };
            if let (true, Some(signer_id)) = (username.is_empty(), entry.instructor_id) {
                let signer = members::find_account_by_id(tx, signer_id)?;
                username = signer.map(|account| account.username).unwrap_or_default();
            }
            // A code that is due is bound to the same versions as the password.
            let seen = if is_code_due { one.clone() } else { format!("{}-{}", entry.entry_id, entry.version) };
            rows.push(row(tx, &view, entry, seen)?);
        }
        Ok((rows, username))
    })?;
    if rows.is_empty() {
        return Ok(reply::see_other(&format!("{PART}?done=none")));
    }
    let proof = match proof {
        Some(proof) => proof,
        None => ProofForm::new(site, PATH.to_owned(), BOUND, username)?,
    };
    Ok(show(status, call.language(), &Page { frame, rows, comment, proof }))
}

fn row(tx: &Read, view: &ViewContext, entry: SkillEntry, seen: String) -> Result<Row, Failure> {
    let member = member_search::find(tx, entry.member_id)?.ok_or_else(Failure::not_found)?;
    let (level, skill) = subject(view, &entry);
    Ok(Row {
        seen,
        name: member.display_name().to_owned(),
        skill,
        level,
        day: view.day(entry.entry_date),
        comment: entry.comment,
    })
}
