//! One partner: terms, secrets, refused calls, deleted users and latest events.

use super::refused_calls::Line;
use super::{PART, TermsInput, paused, show_secret, state_badge};
use crate::app;
use crate::app::partners::{self as access, IssuedCredentials, KEEP_DAYS, KEEP_DAYS_MAX};
use crate::auth::Clerk;
use crate::auth::refusals::Refusals;
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::history;
use crate::store::tables::partner_users::{self, Deleted};
use crate::store::tables::partners::{self, Partner};
use crate::web::badge::Badge;
use crate::web::{Frame, field_error_text, form_status, pages_beside, path_id, read_form, show as shown, skipped};
use askama::Template;

const DELETED_SHOWN: i64 = 50;
const EVENTS_SHOWN: i64 = 10;
const DONE: [(&str, &str); 6] = [
    ("before", "desk.done_before"),
    ("changed", "partners.done_changed"),
    ("revoked", "partners.done_revoked"),
    ("restored", "partners.done_restored"),
    ("nothing", "partners.done_nothing"),
    ("taken", "partners.done_taken"),
];

#[derive(Template)]
#[template(path = "desk/partner.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    partner: Partner,
    since: String,
    badge: Badge,
    paused: Option<Badge>,
    /// In words, the newest first.
    secrets: Vec<String>,
    sent: TermsInput,
    /// The mark of the stored terms.
    seen: String,
    /// Problems of the forms that rotate and revoke.
    rotate_problem: Option<&'static str>,
    revoke_problem: Option<&'static str>,
    /// The name that was typed to confirm, where it is another.
    typed_name: String,
    from: String,
    keep_days: i64,
    bookings: i64,
    users: i64,
    refusals: Vec<Line>,
    deleted: Vec<DeletedUser>,
    /// The `skip` of the page with later deletions, and of the one with earlier ones.
    newer: Option<i64>,
    older: Option<i64>,
    events: Vec<Event>,
}

struct DeletedUser {
    user: Deleted,
    at: String,
}

/// The form of the page that was refused.
enum Refused {
    Terms(TermsInput),
    /// Two secrets are in force; the days as typed.
    Rotate(i64),
    /// The name does not confirm; as typed.
    Revoke(String),
}

/// The outcome of the form that makes a new secret.
enum Rotated {
    /// Name and credentials of the partner.
    Done(String, IssuedCredentials),
    /// The same form was sent before.
    Before,
    /// Two secrets are in force, and the form does not confirm that the older one ends now.
    Unconfirmed,
}

struct Event {
    at: String,
    name: String,
    about: String,
}

/// The partner that the path names.
pub(crate) fn find(tx: &Read, call: &Call) -> Result<Partner, Failure> {
    access::find(tx, path_id::<PartnerId>(call, 0)?)
}

/// `GET /desk/partners/{partner_id}`: with one page of the deleted users, the latest first, after `skip` others.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, refused: Option<Refused>) -> Answer {
    let (mut frame, zone, now) = (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?, site.now());
    if !frame.address.is_empty() {
        frame.address = format!("{PART}/{}", path_id::<PartnerId>(call, 0)?);
    }
    let (status, skip) = (form_status(refused.is_some()), skipped(call));
    let (terms, days, name) = match refused {
        None => (None, None, None),
        Some(Refused::Terms(sent)) => (Some(sent), None, None),
        Some(Refused::Rotate(days)) => (None, Some(days), None),
        Some(Refused::Revoke(name)) => (None, None, Some(name)),
    };
    let page = site.store.read(|tx| {
        let partner = find(tx, call)?;
        let networks = partners::list_networks(tx, partner.partner_id)?;
        let spans = partners::list_spans(tx, partner.partner_id, now)?;
        // One row more than is shown is read, to know whether there is another page.
        let mut deleted = partner_users::list_deleted(tx, partner.partner_id, DELETED_SHOWN + 1, skip)?;
        let (newer, older) = pages_beside(&mut deleted, DELETED_SHOWN, skip);
        let refusals = site.state::<Refusals>().list(Some(partner.partner_id));
        Ok(Page {
            since: when::day(call.language(), &zone, partner.created_at),
            paused: paused(site, call, tx, partner.partner_id, now)?,
            badge: state_badge(call, &partner, spans.len()),
            secrets: spans.iter().map(|span| span_in_words(call, &zone, span)).collect(),
            from: if networks.is_empty() { call.say("partners.anywhere") } else { networks.join(", ") },
            rotate_problem: days.map(|_| "partners.rotate_confirm"),
            revoke_problem: name.as_ref().map(|_| "partners.revoke_name"),
            typed_name: name.unwrap_or_default(),
            seen: access::mark(&partner, &networks),
            sent: terms.unwrap_or_else(|| TermsInput {
                networks: networks.join("\n"),
                per_minute: partner.requests_per_minute.unwrap_or(0).to_string(),
                strict: partner.strict,
                ..TermsInput::default()
            }),
            keep_days: days.unwrap_or(KEEP_DAYS),
            bookings: partners::count_bookings(tx, Some(partner.partner_id))?,
            users: partner_users::count(tx, partner.partner_id)?,
            refusals: refusals.into_iter().map(|one| Line::of(&zone, call, None, one)).collect(),
            newer,
            older,
            deleted: deleted
                .into_iter()
                .map(|user| DeletedUser { at: when::moment(call.language(), &zone, user.deleted_at), user })
                .collect(),
            events: events(tx, call, &zone, partner.partner_id)?,
            partner,
            frame,
        })
    })?;
    Ok(shown(status, call.language(), &page))
}

fn span_in_words(call: &Call, zone: &TimeZone, span: &partners::Span) -> String {
    let since = when::day(call.language(), zone, span.created_at);
    let text = match span.ends_at {
        Some(ends_at) => Text::new("partners.secret_until")
            .with("since", since)
            .with("until", when::moment(call.language(), zone, ends_at)),
        None => Text::new("partners.secret_since").with("since", since),
    };
    call.language().say(&text)
}

fn events(tx: &Read, call: &Call, zone: &TimeZone, partner_id: PartnerId) -> Result<Vec<Event>, Failure> {
    let filter = history::Filter { partner_id: Some(partner_id), ..history::Filter::default() };
    let rows = history::list(tx, &filter, EVENTS_SHOWN, 0)?;
    let about = |row: &history::HistoryRow| {
        let (key, id) = match (row.booking_id, row.member_id, row.user_id) {
            (Some(BookingId(id)), ..) => ("partners.booking_of", id),
            (None, Some(MemberId(id)), _) => ("partners.member_of", id),
            (None, None, id) => ("partners.user_of", id?),
        };
        Some(call.language().say(&Text::new(key).with("number", id)))
    };
    let event_word = |call: &Call, event: &str| {
        let text = Text::find(&format!("partners.did_{event}"), |_| None);
        text.map_or_else(|| event.to_owned(), |text| call.language().say(&text))
    };
    let event = |row: history::HistoryRow| Event {
        at: when::moment(call.language(), zone, row.at),
        about: about(&row).unwrap_or_default(),
        name: event_word(call, &row.event),
    };
    Ok(rows.into_iter().map(event).collect())
}

/// `POST /desk/partners/{partner_id}/terms`: sets allowed networks, rate limit and strict mode.
pub(crate) fn set_terms(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (sent, seen) = read_form(call, |form| (TermsInput::read(form), form.seen()))?;
    let terms = match sent.terms(call) {
        Ok(terms) => terms,
        Err(problem) => return page(site, call, clerk, Some(Refused::Terms(sent.refused(problem)))),
    };
    let set = app::change(site, clerk, call.language(), |cx| {
        let partner = find(cx.tx, call)?;
        _ = access::set_terms(cx, &partner, &terms, &seen)?;
        Ok(reply::see_other(&format!("{PART}/{}?done=changed", partner.partner_id)))
    });
    set.or_else(|failure| {
        let problem = field_error_text(failure, call.language())?;
        page(site, call, clerk, Some(Refused::Terms(sent.refused(problem))))
    })
}

/// `POST /desk/partners/{partner_id}/rotate`: makes a second secret and shows it once; the old one stays valid for some days.
/// Where two are in force already, the older one ends now, which `end_older` confirms.
pub(crate) fn rotate(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (keep_days, may_end_older, number) = read_form(call, |form| {
        let keep_days = form.required("keep_days", fields::whole_in(0..=KEEP_DAYS_MAX));
        (keep_days, form.has("end_older"), form.number())
    })?;
    let rotated = app::change(site, clerk, call.language(), |cx| {
        let partner = find(cx.tx, call)?;
        if !cx.is_first_sending(number)? {
            return Ok(Rotated::Before);
        }
        if !may_end_older && partners::list_spans(cx.tx, partner.partner_id, cx.now())?.len() > 1 {
            return Ok(Rotated::Unconfirmed);
        }
        let handed = access::rotate(cx, &partner, keep_days)?;
        Ok(Rotated::Done(partner.name, handed))
    })?;
    match rotated {
        Rotated::Done(name, handed) => show_secret(site, call, clerk, name, handed),
        Rotated::Before => Ok(reply::see_other(&format!("{PART}/{}?done=before", path_id::<PartnerId>(call, 0)?))),
        Rotated::Unconfirmed => page(site, call, clerk, Some(Refused::Rotate(keep_days))),
    }
}

/// `POST /desk/partners/{partner_id}/revoke`: revokes the partner for good; the typed name confirms it.
pub(crate) fn revoke(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = read_form(call, |form| form.line("name", 254))?;
    let is_right = app::change(site, clerk, call.language(), |cx| {
        let partner = find(cx.tx, call)?;
        let is_right = typed == partner.name.trim();
        if is_right {
            _ = access::revoke(cx, &partner)?;
        }
        Ok(is_right)
    })?;
    match is_right {
        true => Ok(reply::see_other(&format!("{PART}/{}?done=revoked", path_id::<PartnerId>(call, 0)?))),
        false => page(site, call, clerk, Some(Refused::Revoke(typed))),
    }
}
