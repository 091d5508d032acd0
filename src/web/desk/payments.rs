//! Payments that came and extend no membership by themselves: the desk says what becomes of each, once.

use crate::app;
use crate::auth::Clerk;
use crate::domain::payment::{Decision, Question};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::member_search;
use crate::store::tables::payments::{self, Account};
use crate::web::desk::walk_in::{Unclear, find_member};
use crate::web::{Frame, called, done, form, show as shown, skipped};
use askama::Template;
use http::StatusCode;

const PART: &str = "/desk/payments";
/// Rows on one page.
const ROWS_MAX: i64 = 100;
const DONE: [(&str, &str); 2] = [("counts", "payments.done_counts"), ("void", "payments.done_void")];

#[derive(Template)]
#[template(path = "desk/payments.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    /// Payments that wait behind those that are shown, and how many come before them.
    more: i64,
    skip_to: i64,
    /// The number of a payment, and why nothing was decided of it.
    problem: Option<(i64, String)>,
}

struct Row {
    payment_id: i64,
    amount: String,
    at: String,
    /// The processor's name for it.
    intent_id: String,
    why: String,
    question: &'static str,
    /// Whom it is believed to be from: number and name.
    people: Vec<(i64, String)>,
    /// Whether a year was given, which would be taken back.
    given: bool,
    /// Whom the form names; what was typed, where it was refused.
    member: String,
}

/// `GET /desk/payments`: what waits for a decision, the oldest first, from the one after `skip` others on.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let done = done(call, &DONE);
    page(site, call, clerk, StatusCode::OK, done, None)
}

fn page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    status: StatusCode,
    done: Option<String>,
    problem: Option<(i64, String)>,
) -> Answer {
    let mut frame = Frame::of(site, call, clerk, PART)?;
    frame.done = done;
    let zone = site.time_zone()?;
    let skip = skipped(call);
    let (rows, total) = site.store.read(|tx| {
        let waiting = payments::list_questions(tx, ROWS_MAX, skip)?.into_iter();
        let row =
            |(payment_id, at, account)| row(tx, call, payment_id, when::moment(call.language(), &zone, at), account);
        let rows = waiting.map(row).collect::<Result<Vec<_>, Failure>>()?;
        Ok((rows, payments::count_questions(tx)?))
    })?;
    let skip_to = skip.saturating_add(rows.len() as i64);
    Ok(shown(status, call.language(), &Page { frame, rows, more: total - skip_to, skip_to, problem }))
}

fn row(tx: &Read, call: &Call, payment_id: i64, at: String, account: Account) -> Result<Row, Failure> {
    let question = account.question.map_or("", Question::name);
    let mut people = Vec::new();
    for member_id in account.member_id.into_iter().chain(account.rival_claim) {
        if let Some(one) = member_search::find(tx, member_id)? {
            people.push((member_id, called(&one.real_name, &one.screen_name, &one.username).to_owned()));
        }
    }
    let why = Text::find(&format!("payments.why_{question}"), |_| None).map(|text| call.language().say(&text));
    let sure = account.member_id.filter(|_| account.rival_claim.is_none());
    Ok(Row {
        payment_id,
        amount: account.heard.price.value.as_ref().map(ToString::to_string).unwrap_or_default(),
        at,
        intent_id: account.intent_id,
        why: why.unwrap_or_default(),
        question,
        people,
        given: account.grant.is_some(),
        member: sure.map(|member_id| member_id.to_string()).unwrap_or_default(),
    })
}

/// `POST /desk/payments/{payment_id}/count`: it extends the membership of the member who is named, whatever was paid.
pub(crate) fn count(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    decide(site, call, clerk, Decision::Counts)
}

/// `POST /desk/payments/{payment_id}/void`: it extends none; a year that it gave is taken back.
pub(crate) fn void(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    decide(site, call, clerk, Decision::Void)
}

fn decide(site: &Site, call: &Call, clerk: &Clerk, decision: Decision) -> Answer {
    let payment_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = form(call)?;
    let (question, member) = (body.optional("question", fields::line(40)), body.optional("member", fields::line(254)));
    let ok = body.finish()?;
    let (question, member) = (question.get(&ok).unwrap_or_default(), member.get(&ok));
    let refusal = app::change(site, clerk, call.language(), |cx| {
        let open = payments::find_by_number(cx.tx, payment_id)?.ok_or_else(Failure::not_found)?.question;
        // Somebody else decided, or the processor told something new: what the clerk saw is no more.
        if open.map(Question::name) != Some(&question) {
            return Ok(Some((StatusCode::CONFLICT, "payments.changed")));
        }
        let typed = member.as_deref().filter(|_| decision == Decision::Counts);
        let member_id = match typed.map(|typed| find_member(cx.tx, typed)).transpose()?.transpose() {
            Ok(member_id) => member_id,
            Err(Unclear::Nobody) => return Ok(Some((StatusCode::UNPROCESSABLE_ENTITY, "payments.no_member"))),
            Err(Unclear::Two) => return Ok(Some((StatusCode::UNPROCESSABLE_ENTITY, "desk.member_two"))),
        };
        let decided = app::payments::decide(cx, payment_id, decision, member_id)?;
        Ok(decided.is_none().then_some((StatusCode::UNPROCESSABLE_ENTITY, "payments.member_missing")))
    })?;
    match refusal {
        None => Ok(reply::see_other(&format!("{PART}?done={}", decision.name()))),
        Some((status, key)) => page(site, call, clerk, status, None, Some((payment_id, call.say(key)))),
    }
}
