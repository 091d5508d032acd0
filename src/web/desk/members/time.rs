//! Flight time that the desk enters for a member.

use super::card;
use crate::app;
use crate::app::logbook::time;
use crate::auth::Clerk;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::entries::NewTime;
use crate::web::form;

/// The form, as it was filled in.
#[derive(Default)]
pub(crate) struct TimeForm {
    pub minutes: String,
    /// `2026-05-31`, by the hall's days.
    pub date: String,
    pub problem: Option<String>,
}

/// `POST /desk/members/{member_id}/time`: minutes of a day, today unless another is named.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = form(call)?;
    let (typed, date) = (body.optional("minutes", fields::line(254)), body.optional("date", fields::line(254)));
    let ok = body.finish()?;
    let (hall, now) = (site.hall()?, site.now());
    let sent = TimeForm {
        minutes: typed.get(&ok).unwrap_or_default(),
        date: date.get(&ok).unwrap_or_else(|| hall.date(now)),
        problem: None,
    };
    let length = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length));
    let entry_date = hall.on_date(now, &sent.date);
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
