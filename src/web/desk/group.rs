//! A group at the desk: several members are booked for the same minutes now, all or none, and checked in where their waivers
//! allow it.

use super::bookings::to_day;
use super::group_said::{ALL, MEMBERS_MAX};
use super::members::search::{self, NotOne};
use super::members::waiver;
use super::walk_in::problem_key;
use crate::app::bookings::{self, DeskBooking, NotBooked};
use crate::app::{self, Change, family, flights};
use crate::auth::Clerk;
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::members;
use crate::web::{
    Frame, client_error_text, form_status, new_form_number, path_id, query_text, read_form, read_form_number,
    show as shown,
};
use askama::Template;

const PART: &str = "/desk";
const TEXT_CHARS_MAX: usize = 2_000;

#[derive(Template)]
#[template(path = "desk/group.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    sent: Sent,
    usual: Vec<i64>,
    problem: Option<String>,
    /// Whether the clerk is asked, and may say that all this is meant.
    may_go_on: bool,
}

/// The form, as typed.
struct Sent {
    /// A name, number or address in each line.
    members: String,
    minutes: String,
    number: i64,
    /// Whether the clerk knows of other bookings on the day and of a full quarter of an hour.
    knows: bool,
}

/// `GET /desk/group`: the form; with `with` the number of an adult, whose children are entered too.
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut lines = Vec::new();
    if let Ok(adult) = query_text(call, "with").parse::<MemberId>() {
        lines = site.store.read(|tx| {
            let wards = family::list_wards(site, tx, adult)?;
            let all = std::iter::once(adult).chain(wards.into_iter().map(|ward| ward.child_id));
            all.map(|member_id| name_line(tx, member_id)).collect::<Result<Vec<String>, Failure>>()
        })?;
    }
    let usual = site.config.usual_minutes.first().map(ToString::to_string).unwrap_or_default();
    let sent = Sent { members: lines.join("\n"), minutes: usual, number: new_form_number(), knows: false };
    page(site, call, clerk, sent, None)
}

/// The number and the name of a member, as the form takes them.
fn name_line(tx: &Read, member_id: MemberId) -> Result<String, Failure> {
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    Ok(format!("{member_id} {}", profile.display_name()))
}

fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Sent, problem: Option<(String, bool)>) -> Answer {
    let (problem, may_go_on) = problem.map_or((None, false), |(problem, may_go_on)| (Some(problem), may_go_on));
    let page = Page {
        frame: Frame::of(site, call, clerk, PART)?,
        sent,
        usual: site.config.usual_minutes.clone(),
        may_go_on,
        problem,
    };
    Ok(shown(form_status(page.problem.is_some()), call.language(), &page))
}

/// `POST /desk/group`: books all for a flight now, and checks in whose waiver allows it; or books none. Leads to the waiver page of
/// the first whose waiver is missing, an adult before the children.
pub(crate) fn book(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let sent = read_form(call, |form| Sent {
        members: form.lines("members", TEXT_CHARS_MAX),
        minutes: form.line("minutes", 10),
        number: form.required("number", read_form_number),
        knows: !form.line("knows", 5).is_empty(),
    })?;
    let say = |key| call.say(key);
    let Some(length) = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length)) else {
        return page(site, call, clerk, sent, Some((say("desk.walk_in_minutes"), false)));
    };
    let ids = match find_all(site, call, &sent.members) {
        Ok(ids) => ids,
        Err(stop) => return page(site, call, clerk, sent, Some((stop.denial()?, false))),
    };
    let booked = app::change(site, clerk, call.language(), |cx| {
        let mut made = Vec::new();
        for (place, member_id) in (0..).zip(&ids) {
            let quarter = sent.knows.then(|| bookings::begin_of(cx.now()));
            let other = bookings::find_on_day(cx.site, cx.tx, *member_id, cx.now())?;
            let beside = other.filter(|_| sent.knows).map(|one| one.booking_id);
            let wanted = DeskBooking {
                member_id: *member_id,
                minutes_booked: length,
                number: sent.number.wrapping_add(place) & i64::MAX,
                beside,
                full_quarter: quarter,
            };
            match bookings::book_here_now(cx, &wanted) {
                Ok(booking_id) => made.push(booking_id),
                // The failure takes back the bookings of those before.
                Err(stop) => return Err(refusal(cx, *member_id, stop.denial()?)?),
            }
        }
        Ok(made)
    });
    match booked {
        Ok(made) => Ok(reply::see_other(&next(site, &ids, &made)?)),
        Err(failure) => {
            let may_go_on = failure.is(Failure::exists);
            let problem = client_error_text(failure, call.language())?;
            page(site, call, clerk, sent, Some((problem, may_go_on)))
        }
    }
}

/// The failure that names a member and why no booking was made: 409 where the clerk may go on.
fn refusal(cx: &Change, member_id: MemberId, why: NotBooked) -> Result<Failure, Failure> {
    let profile = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    // The form has no time: a group flies now.
    let key = if matches!(why, NotBooked::Full(_)) { "desk.group_full" } else { problem_key(why) };
    let reason = cx.language.say(&Text::new(key));
    let text = Text::new("group.obstacle").with("name", profile.display_name()).with("why", reason);
    let may_go_on = matches!(why, NotBooked::HasOne | NotBooked::Full(_));
    Ok(if may_go_on { Failure::exists().saying(text) } else { Failure::entry_state().saying(text) })
}

/// The members whom the lines name; the denial says which line names nobody, or several.
fn find_all(site: &Site, call: &Call, typed: &str) -> Result<Vec<MemberId>, Stop<String>> {
    let mut ids = Vec::new();
    for line in typed.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // A line that the page made begins with the number.
        let number = line.split_whitespace().next().filter(|word| word.bytes().all(|b| b.is_ascii_digit()));
        let problem = |why| {
            call.language().say(&match why {
                NotOne::Several(hits) | NotOne::Similar(hits) => {
                    Text::new("group.several").with("line", line).with("who", search::named(&hits))
                }
                NotOne::Nobody | NotOne::TwoAccounts => Text::new("group.nobody").with("line", line),
            })
        };
        let member_id = search::find_one(site, number.unwrap_or(line)).map_err(|stop| stop.map(problem))?;
        if !ids.contains(&member_id) {
            ids.push(member_id);
        }
    }
    match ids.len() {
        0 => Err(Stop::Denied(call.say("group.empty"))),
        1..=MEMBERS_MAX => Ok(ids),
        _ => Err(Stop::Denied(call.say("group.many"))),
    }
}

/// The page after a booking: the waiver page of the first whose waiver is missing, else the day of the bookings.
fn next(site: &Site, ids: &[MemberId], made: &[BookingId]) -> Result<String, Failure> {
    let unsigned = site.store.read(|tx| {
        for member_id in ids {
            if flights::find_denial(site, tx, *member_id, site.now())?.is_some() {
                return Ok(Some(*member_id));
            }
        }
        Ok(None)
    })?;
    match (unsigned, made.first()) {
        (Some(member_id), _) => Ok(format!("{}?done=booked", waiver::path(member_id))),
        (None, Some(booking_id)) => {
            let all: Vec<String> = made.iter().map(ToString::to_string).collect();
            to_day(site, &site.time_zone()?, *booking_id, &format!("here&{ALL}={}", all.join(",")))
        }
        (None, None) => Ok(PART.to_owned()),
    }
}

/// `POST /desk/members/{member_id}/check-in`: checks in the open bookings of today of a member and the children for whom the member
/// acts, all or none.
pub(crate) fn check_in_family(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    match app::change(site, clerk, call.language(), |cx| bookings::check_in_family(cx, member_id)) {
        Ok(Some(booking_id)) => Ok(reply::see_other(&to_day(site, &site.time_zone()?, booking_id, "arrived")?)),
        Ok(None) => Ok(reply::see_other(PART)),
        Err(failure) if failure.is(Failure::waiver_missing) => waiver::back(member_id, "booked"),
        Err(failure) => Err(failure),
    }
}
