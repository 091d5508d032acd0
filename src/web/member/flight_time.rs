//! Flight time in the member's own logbook: enter, correct, delete.

use super::frame::{LOGBOOK, Shell};
use super::show;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::time::{self, Editor, Patch};
use crate::app::{self, RankedActor};
use crate::auth::Member;
use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::entries::{self, NewTime, TimeEntry};
use crate::store::tables::tunnels;
use crate::web::form_state::{FormState, value};
use crate::web::group_session::entry_moment;
use crate::web::{client_error_text, form, form_pairs, form_status, path_id};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "member/flight_time.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    form: FormState,
    /// The number of the entry that is corrected.
    entry_id: Option<EntryId>,
    minutes: String,
    date: String,
    comment: String,
    tunnel_id: TunnelId,
    /// Number and name.
    tunnels: Vec<(TunnelId, String)>,
    today: String,
    usual: Vec<i64>,
    /// The mark of the stored entry.
    seen: String,
    /// Whether a booking entered it and is not flown yet: the booking is what the member may change.
    is_ahead: bool,
}

impl Page {
    /// The problems that are no field's.
    fn other_problems(&self) -> Vec<&str> {
        // Where there is one tunnel, the form has no field that would show its problem.
        let shown = ["minutes", "date", "comment", "tunnel"];
        self.form.other_problems(&shown[..if self.tunnels.len() > 1 { 4 } else { 3 }]).collect()
    }
}

/// What the fields of the form say.
struct Typed {
    minutes: i64,
    date: String,
    tunnel_id: TunnelId,
    comment: String,
    /// The moment of that day for a new entry.
    moment: Moment,
}

impl Typed {
    /// The content of the form, by which it is known when it is sent again, and the entry that it makes.
    fn for_entry(self) -> (String, NewTime) {
        let content = format!("{} {} {} {}", self.minutes, self.date, self.tunnel_id, self.comment);
        let Typed { minutes, tunnel_id, comment, moment, .. } = self;
        (content, NewTime { entry_date: moment, minutes, tunnel_id, comment })
    }
}

/// `GET /me/logbook/time`: the form for new flight time, of today.
pub(crate) fn show_new(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, None, FormState::empty())
}

/// `GET /me/logbook/time/{entry_id}`: the form that corrects a flight.
pub(crate) fn show_entry(site: &Site, call: &Call, member: &Member) -> Answer {
    let known = find(site, call, member)?;
    page(site, call, member, Some(known), FormState::empty())
}

fn page(site: &Site, call: &Call, member: &Member, known: Option<TimeEntry>, form: FormState) -> Answer {
    let (zone, now, status) = (site.time_zone()?, site.now(), form_status(form.has_problems()));
    let tunnels = site.store.read(|tx| Ok(tunnels::list(tx)?))?;
    let shown = |field: &str, stored: Option<String>| match (form.has_problems(), stored) {
        (false, Some(stored)) => stored,
        _ => form.typed(field).to_owned(),
    };
    let entry = known.as_ref();
    let date = shown("date", Some(zone.date(entry.map_or(now, |entry| entry.entry_date))));
    let page = Page {
        shell: Shell::of(site, call, member, LOGBOOK)?,
        minutes: shown("minutes", entry.map(|entry| entry.minutes.to_string())),
        date,
        comment: shown("comment", entry.map(|entry| entry.comment.clone())),
        tunnel_id: form.typed("tunnel").parse().unwrap_or(entry.map_or(site.tunnel_id, |entry| entry.tunnel_id)),
        tunnels: tunnels.into_iter().map(|one| (one.tunnel_id, one.name)).collect(),
        today: zone.date(entry.map_or(now, |entry| entry.entry_date.max(now))),
        usual: site.config.usual_minutes.clone(),
        seen: entry.map(time::mark).unwrap_or_default(),
        is_ahead: entry.is_some_and(|entry| is_ahead(entry, now)),
        entry_id: entry.map(|entry| entry.entry_id),
        form,
    };
    Ok(show(status, call.language(), &page))
}

/// The fields of the form; 422 with every mistake.
fn read(site: &Site, call: &Call) -> Result<Typed, Failure> {
    let (zone, now) = (site.time_zone()?, site.now());
    let mut form = form(call)?;
    let length = minutes::parse(&form.line("minutes", 10)).filter(|length| minutes::MINUTES.contains(length));
    if length.is_none() {
        form.0.refuse("minutes", Text::new("me.minutes_wrong"));
    }
    let date = form.line("date", 20);
    let moment = entry_moment(&zone, now, &date);
    if moment.is_none() {
        form.0.refuse("date", Text::new("me.date_wrong"));
    }
    let tunnel_id = form.optional("tunnel", fields::id).unwrap_or(site.tunnel_id);
    let comment = form.lines("comment", COMMENT_CHARS_MAX);
    form.finish()?;
    Ok(Typed { minutes: length.unwrap_or_default(), date, tunnel_id, comment, moment: moment.unwrap_or(now) })
}

/// `POST /me/logbook/time`: enters flight time; once, where a browser sends the form again.
pub(crate) fn add(site: &Site, call: &Call, member: &Member) -> Answer {
    let sent = form_pairs(call)?;
    let entered = read(site, call).and_then(|typed| {
        let (content, new) = typed.for_entry();
        let number = value(&sent, "number").parse().ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| Failure::field("number", Text::new("field.missing")))?;
        app::change(site, member, call.language(), |cx| time::enter_once(cx, &new, number, &content))
    });
    match entered {
        Ok(()) => Ok(reply::see_other(&format!("{LOGBOOK}?done=logged"))),
        Err(failure) => refused(call, failure, sent, |form| page(site, call, member, None, form)),
    }
}

/// `POST /me/kept`: flight time that the telephone kept while it had no network. Once, however often it is sent. 204, else the
/// reason against it as a text, which the telephone shows beside what it keeps. 403 where another member is signed in meanwhile.
pub(crate) fn add_kept(site: &Site, call: &Call, member: &Member) -> Answer {
    let sent = form_pairs(call)?;
    let whole = |field: &str| value(&sent, field).parse::<i64>().ok();
    let (Some(number), Some(owner)) = (whole("number"), whole("member").map(MemberId)) else {
        return Err(Failure::bad_request());
    };
    if owner != member.id() {
        return Err(Failure::not_allowed());
    }
    let entered = read(site, call).and_then(|typed| {
        let (content, new) = typed.for_entry();
        app::change(site, member, call.language(), |cx| time::enter_once(cx, &new, number, &content))
    });
    match entered {
        Ok(()) => Ok(reply::empty(StatusCode::NO_CONTENT)),
        Err(failure) if matches!(failure.status(), StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY) => {
            let status = failure.status();
            let text = client_error_text(failure, call.language())?;
            Ok(Reply { status, ..reply::bytes("text/plain; charset=utf-8", text) })
        }
        Err(failure) => Err(failure),
    }
}

/// `POST /me/logbook/time/{entry_id}`: corrects minutes, day, tunnel or comment.
pub(crate) fn correct(site: &Site, call: &Call, member: &Member) -> Answer {
    let (known, sent, zone) = (find(site, call, member)?, form_pairs(call)?, site.time_zone()?);
    let seen = form(call)?.seen();
    let corrected = check_flown(site, &known).and_then(|()| read(site, call)).and_then(|typed| {
        // An unchanged day keeps the time of the flight.
        let moved = typed.date != zone.date(known.entry_date);
        let patch = Patch {
            entry_date: moved.then_some(typed.moment),
            minutes: Some(typed.minutes),
            tunnel_id: Some(typed.tunnel_id),
            comment: Some(typed.comment),
            seen,
        };
        let editor = Editor::Account(RankedActor::from(member).rank);
        app::change(site, member, call.language(), |cx| time::edit(cx, editor, known.entry_id, &patch))
    });
    match corrected {
        Ok(()) => Ok(reply::see_other(&format!("{LOGBOOK}?done=corrected"))),
        Err(failure) => refused(call, failure, sent, |form| page(site, call, member, Some(known), form)),
    }
}

fn refused(
    call: &Call,
    failure: Failure,
    sent: Vec<(String, String)>,
    page: impl FnOnce(FormState) -> Answer,
) -> Answer {
    FormState::refused(sent, failure, call, call.language(), page)
}

/// `POST /me/logbook/time/{entry_id}/delete`. Of an entry that is gone, deleted in another window, nothing is said; one that was
/// changed since it was shown is not deleted.
pub(crate) fn delete(site: &Site, call: &Call, member: &Member) -> Answer {
    let (entry_id, seen) = (path_id(call, 0)?, form(call)?.seen());
    if site.store.read(|tx| Ok(entries::find_time(tx, entry_id)?))?.is_none() {
        return Ok(reply::see_other(LOGBOOK));
    }
    let known = find(site, call, member)?;
    let deleted = check_flown(site, &known)
        .and_then(|()| app::change(site, member, call.language(), |cx| time::delete(cx, entry_id, &seen)));
    if let Err(failure) = deleted {
        let stored = as_fields(&known, &site.time_zone()?);
        return refused(call, failure, stored, |form| page(site, call, member, Some(known), form));
    }
    Ok(reply::see_other(&format!("{LOGBOOK}?done=deleted")))
}

fn is_ahead(entry: &TimeEntry, now: Moment) -> bool {
    entry.booking_id.is_some() && entry.entry_date > now
}

/// Refuses a change of what a booking entered and nobody has flown yet.
fn check_flown(site: &Site, entry: &TimeEntry) -> Result<(), Failure> {
    match is_ahead(entry, site.now()) {
        true => Err(Failure::entry_state().saying(Text::new("me.time_ahead"))),
        false => Ok(()),
    }
}

/// A stored flight as the fields of the form.
fn as_fields(entry: &TimeEntry, zone: &TimeZone) -> Vec<(String, String)> {
    let fields = [
        ("minutes", entry.minutes.to_string()),
        ("date", zone.date(entry.entry_date)),
        ("tunnel", entry.tunnel_id.to_string()),
        ("comment", entry.comment.clone()),
    ];
    fields.map(|(name, text)| (name.to_owned(), text)).into()
}

/// The flight that the path names; 404 unless it is in the member's own logbook.
fn find(site: &Site, call: &Call, member: &Member) -> Result<TimeEntry, Failure> {
    let entry_id = path_id(call, 0)?;
    let own = |tx: &Read| Ok(entries::find_time(tx, entry_id)?);
    let found = site.store.read(own)?;
    found.filter(|entry| entry.member_id == member.id() && !entry.opening).ok_or_else(Failure::not_found)
}
