//! Flight time that the desk enters for a member, corrects, and takes out again.

use super::person::{self, Heading};
use super::{PART, card};
use crate::app;
use crate::app::logbook::time::{self, Editor, Patch};
use crate::app::logbook::{self, COMMENT_CHARS_MAX};
use crate::auth::Clerk;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::entries::{self, NewTime, TimeEntry};
use crate::web::{Frame, form, show};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/time.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    entry_id: i64,
    form: TimeForm,
    comment: String,
    tunnel: String,
    today: String,
}

/// The form, as it was filled in.
#[derive(Default, Clone)]
pub(crate) struct TimeForm {
    pub minutes: String,
    /// `2026-05-31`, by the site's days.
    pub date: String,
    pub problem: Option<String>,
}

/// `POST /desk/members/{member_id}/time`: minutes of a day, today unless another is named.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = form(call)?;
    let (typed, date) = (body.optional("minutes", fields::line(254)), body.optional("date", fields::line(254)));
    let ok = body.finish()?;
    let (zone, now) = (site.time_zone()?, site.now());
    let sent = TimeForm {
        minutes: typed.get(&ok).unwrap_or_default(),
        date: date.get(&ok).unwrap_or_else(|| zone.date(now)),
        problem: None,
    };
    let length = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length));
    let entry_date = zone.on_date(now, &sent.date);
    let again = |problem: String| {
        let refused = TimeForm { problem: Some(problem), ..sent };
        card::page(site, call, clerk, member_id, Some(refused))
    };
    let Some(length) = length else { return again(call.say("desk.walk_in_minutes")) };
    let Some(entry_date) = entry_date else { return again(call.say("desk.time_date")) };
    let new = NewTime { entry_date, minutes: length, tunnel_id: site.tunnel_id, comment: String::new() };
    match app::change(site, clerk, call.language(), |cx| time::enter(cx, member_id, &new)) {
        Ok(_) => Ok(reply::see_other(&format!("/desk/members/{member_id}?done=time"))),
        Err(failure) => match failure.problems().first() {
            Some(problem) => again(format!("{}: {}", call.say("desk.time_day"), call.language().say(&problem.text))),
            None => Err(failure),
        },
    }
}

/// `GET /desk/members/{member_id}/time/{entry_id}`: one flight, to be corrected.
pub(crate) fn show_entry(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

/// `POST /desk/members/{member_id}/time/{entry_id}`: other minutes, another day or comment. Fields that are left out
/// stay as they are.
pub(crate) fn correct(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let (typed, date) = (body.optional("minutes", fields::line(254)), body.optional("date", fields::line(254)));
    let comment = body.optional_even_empty("comment", fields::lines(COMMENT_CHARS_MAX));
    let ok = body.finish()?;
    let (comment, typed, date) = (comment.get(&ok), typed.get(&ok).unwrap_or_default(), date.get(&ok));
    let known = site.store.read(|tx| find(tx, call))?;
    let zone = site.time_zone()?;
    let sent = TimeForm { minutes: typed, date: date.unwrap_or_else(|| zone.date(known.entry_date)), problem: None };
    let again = |problem: String| {
        let refused = TimeForm { problem: Some(problem), ..sent.clone() };
        page(site, call, clerk, Some((refused, comment.clone().unwrap_or_default())))
    };
    let length = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length));
    let Some(length) = length else { return again(call.say("desk.walk_in_minutes")) };
    // A day that stays keeps its hour.
    let moved = sent.date != zone.date(known.entry_date);
    let entry_date = if moved { zone.on_date(site.now(), &sent.date) } else { Some(known.entry_date) };
    let Some(entry_date) = entry_date else { return again(call.say("desk.time_date")) };
    let patch = Patch {
        entry_date: moved.then_some(entry_date),
        minutes: Some(length),
        tunnel_id: None,
        comment: comment.clone(),
    };
    let editor = Editor::Account(clerk.rank());
    match app::change(site, clerk, call.language(), |cx| time::edit(cx, editor, known.entry_id, &patch)) {
        Ok(()) => back(known.member_id, "corrected"),
        Err(failure) if [409, 422].contains(&failure.status().as_u16()) => {
            let text = failure.problems().first().map_or(failure.text(), |problem| &problem.text);
            again(call.language().say(text))
        }
        Err(failure) => Err(failure),
    }
}

/// `POST /desk/members/{member_id}/time/{entry_id}/delete`: the flight was not, or was another member's.
pub(crate) fn delete(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let known = site.store.read(|tx| find(tx, call))?;
    app::change(site, clerk, call.language(), |cx| logbook::delete(cx, known.entry_id))?;
    back(known.member_id, "deleted")
}

fn back(member_id: i64, deed: &str) -> Answer {
    Ok(reply::see_other(&format!("{PART}/{member_id}?done={deed}#logbook")))
}

/// The flight that the path names, in the logbook that the path names.
fn find(tx: &Read, call: &Call) -> Result<TimeEntry, Failure> {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let entry_id = call.param_id(1).ok_or_else(Failure::not_found)?;
    let found = entries::find_time(tx, entry_id)?;
    found.filter(|entry| entry.member_id == member_id && !entry.opening).ok_or_else(Failure::not_found)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Option<(TimeForm, String)>) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let zone = site.time_zone()?;
    let (entry, heading) = site.store.read(|tx| {
        let entry = find(tx, call)?;
        let heading = person::heading(site, tx, call, entry.member_id)?;
        Ok((entry, heading))
    })?;
    let status = if sent.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let (form, comment) = sent.unwrap_or_else(|| {
        let (minutes, date) = (entry.minutes.to_string(), zone.date(entry.entry_date));
        (TimeForm { minutes, date, problem: None }, entry.comment)
    });
    let today = zone.date(site.now().max(entry.entry_date));
    let page = Page { frame, heading, entry_id: entry.entry_id, form, comment, tunnel: entry.tunnel_name, today };
    Ok(show(status, call.language(), &page))
}
