//! Flight time at the desk: enter, correct, delete.

use super::PART;
use super::card::{self, Refused};
use super::heading::{self, Heading};
use super::time_form::TimeForm;
use crate::app;
use crate::app::logbook::time::{self, Editor, Patch};
use crate::app::logbook::{self, COMMENT_CHARS_MAX};
use crate::app::papers;
use crate::auth::Clerk;
use crate::domain::ids::{EntryId, MemberId};
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::entries::{self, NewTime, TimeEntry};
use crate::web::{Frame, field_error_text, form_error_text, form_status, path_id, read_form, show};
use askama::Template;

#[derive(Template)]
#[template(path = "desk/time.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    entry_id: EntryId,
    form: TimeForm,
    comment: String,
    tunnel: String,
    today: String,
    /// The letters of the comment that cannot be printed.
    unprintable: Option<String>,
    /// The mark of the stored entry.
    seen: String,
}

/// `POST /desk/members/{member_id}/time`: enters minutes for a day, by default today; once, where a browser sends the form
/// again.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let (zone, now) = (site.time_zone()?, site.now());
    let (sent, number) = read_form(call, |form| {
        let date = form.optional("date", fields::line(254)).unwrap_or_else(|| zone.date(now));
        (TimeForm { minutes: form.line("minutes", 254), date, problem: None }, form.number())
    })?;
    let content = format!("{member_id} {} {}", sent.minutes, sent.date);
    let length = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length));
    let entry_date = zone.entry_moment(now, &sent.date);
    let again = |problem: String| {
        let refused = TimeForm { problem: Some(problem), ..sent };
        card::page(site, call, clerk, member_id, Some(Refused::Time(refused)))
    };
    let Some(length) = length else { return again(call.say("desk.walk_in_minutes")) };
    let Some(entry_date) = entry_date else { return again(call.say("desk.time_date")) };
    let new = NewTime { entry_date, minutes: length, tunnel_id: site.tunnel_id, comment: String::new() };
    let entered = app::change(site, clerk, call.language(), |cx| {
        if cx.is_first_sending_of(number, &content)? {
            time::enter(cx, member_id, &new)?;
        }
        Ok(())
    });
    match entered {
        Ok(()) => Ok(reply::see_other(&format!("/desk/members/{member_id}?done=time"))),
        Err(failure) if failure.problems().is_empty() => again(form_error_text(failure, call.language())?),
        Err(failure) => {
            let problem = field_error_text(failure, call.language())?;
            again(call.language().labelled(&call.say("desk.time_day"), &problem))
        }
    }
}

/// `GET /desk/members/{member_id}/time/{entry_id}`: the form that corrects a flight.
pub(crate) fn show_entry(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

/// `POST /desk/members/{member_id}/time/{entry_id}`: corrects minutes, day or comment. Missing fields stay unchanged.
pub(crate) fn correct(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (typed, date, comment, seen) = read_form(call, |form| {
        let (typed, date) = (form.line("minutes", 254), form.optional("date", fields::line(254)));
        let comment = form.0.optional_even_empty("comment", fields::lines(COMMENT_CHARS_MAX));
        (typed, date, comment.into_option().flatten(), form.seen())
    })?;
    let known = site.store.read(|tx| find(tx, call))?;
    let zone = site.time_zone()?;
    let sent = TimeForm { minutes: typed, date: date.unwrap_or_else(|| zone.date(known.entry_date)), problem: None };
    let again = |problem: String| {
        let refused = TimeForm { problem: Some(problem), ..sent.clone() };
        page(site, call, clerk, Some((refused, comment.clone().unwrap_or_default())))
    };
    let length = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length));
    let Some(length) = length else { return again(call.say("desk.walk_in_minutes")) };
    // An unchanged day keeps the time of the flight.
    let moved = sent.date != zone.date(known.entry_date);
    let entry_date = if moved { zone.entry_moment(site.now(), &sent.date) } else { Some(known.entry_date) };
    let Some(entry_date) = entry_date else { return again(call.say("desk.time_date")) };
    let patch = Patch {
        entry_date: moved.then_some(entry_date),
        minutes: Some(length),
        tunnel_id: None,
        comment: comment.clone(),
        seen,
    };
    let editor = Editor::Account(clerk.rank());
    match app::change(site, clerk, call.language(), |cx| time::edit(cx, editor, known.entry_id, &patch)) {
        Ok(()) => back(known.member_id, "corrected"),
        Err(failure) => again(form_error_text(failure, call.language())?),
    }
}

/// `POST /desk/members/{member_id}/time/{entry_id}/delete`.
pub(crate) fn delete(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (member_id, entry_id) = (path_id(call, 0)?, path_id(call, 1)?);
    // An entry that is gone, deleted in another window, is deleted.
    if site.store.read(|tx| Ok(entries::find_time(tx, entry_id)?))?.is_none() {
        return back(member_id, "deleted");
    }
    let known = site.store.read(|tx| find(tx, call))?;
    app::change(site, clerk, call.language(), |cx| logbook::delete(cx, known.entry_id))?;
    back(known.member_id, "deleted")
}

fn back(member_id: MemberId, done: &str) -> Answer {
    Ok(reply::see_other(&format!("{PART}/{member_id}?done={done}#logbook")))
}

/// The flight that the path names; 404 unless it is in the logbook of the member in the path.
fn find(tx: &Read, call: &Call) -> Result<TimeEntry, Failure> {
    let member_id = path_id(call, 0)?;
    let entry_id = path_id(call, 1)?;
    let found = entries::find_time(tx, entry_id)?;
    found.filter(|entry| entry.member_id == member_id && !entry.opening).ok_or_else(Failure::not_found)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Option<(TimeForm, String)>) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let zone = site.time_zone()?;
    let (entry, heading) = site.store.read(|tx| {
        let entry = find(tx, call)?;
        let heading = heading::read(site, tx, call, entry.member_id)?;
        Ok((entry, heading))
    })?;
    let status = form_status(sent.is_some());
    let seen = time::mark(&entry);
    let unprintable = papers::unprintable(site, &entry.comment);
    let unprintable = unprintable.map(|texts| texts.map(|text| frame.tell(&text)).join(" "));
    let (form, comment) = sent.unwrap_or_else(|| {
        let (minutes, date) = (entry.minutes.to_string(), zone.date(entry.entry_date));
        (TimeForm { minutes, date, problem: None }, entry.comment)
    });
    let today = zone.date(site.now().max(entry.entry_date));
    let page = Page {
        frame,
        heading,
        entry_id: entry.entry_id,
        form,
        comment,
        tunnel: entry.tunnel_name,
        today,
        unprintable,
        seen,
    };
    Ok(show(status, call.language(), &page))
}
