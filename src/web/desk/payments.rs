//! Payments that extend no membership by themselves: the desk decides on each.

use crate::app;
use crate::auth::Clerk;
use crate::domain::ids::{MemberId, PaymentId};
use crate::domain::payment::{Decision, Issue};
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
use crate::store::tables::members;
use crate::store::tables::payments::{self, Account};
use crate::web::desk::members::lookup::{Lookup, find_member};
use crate::web::{Frame, done, path_id, read_form, show as shown, skipped};
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
    /// Number of payments after this page, and where the next page begins.
    more: i64,
    skip_to: i64,
    /// ID of a payment, and why it was not decided.
    problem: Option<(PaymentId, String)>,
}

/// A decision that was refused: the payment, the member as typed, and why.
struct Refused {
    payment_id: PaymentId,
    member: Option<String>,
    problem: String,
}

struct Row {
    payment_id: PaymentId,
    amount: String,
    at: String,
    /// ID of the payment at the payment processor.
    intent_id: String,
    why: String,
    question: &'static str,
    /// ID and name of the members that it may be from.
    people: Vec<(MemberId, String)>,
    /// Whether a year was granted for it, which voiding takes back.
    given: bool,
    /// Value of the member field: as typed, else the member where that is certain.
    member: String,
}

/// `GET /desk/payments`: one page of the undecided payments, the oldest first, after `skip` others.
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
    refused: Option<Refused>,
) -> Answer {
    let mut frame = Frame::of(site, call, clerk, PART)?;
    frame.done = done;
    let zone = site.time_zone()?;
    let skip = skipped(call);
    let (rows, total) = site.store.read(|tx| {
        let waiting = payments::list_questions(tx, ROWS_MAX, skip)?.into_iter();
        let row =
            |(payment_id, at, account)| row(tx, call, payment_id, when::moment(call.language(), &zone, at), account);
        let mut rows = waiting.map(row).collect::<Result<Vec<_>, Failure>>()?;
        if let Some(Refused { payment_id, member: Some(typed), .. }) = &refused
            && let Some(row) = rows.iter_mut().find(|row| row.payment_id == *payment_id)
        {
            row.member.clone_from(typed);
        }
        Ok((rows, payments::count_questions(tx)?))
    })?;
    let skip_to = skip.saturating_add(rows.len() as i64);
    let problem = refused.map(|refused| (refused.payment_id, refused.problem));
    Ok(shown(status, call.language(), &Page { frame, rows, more: total - skip_to, skip_to, problem }))
}

fn row(tx: &Read, call: &Call, payment_id: PaymentId, at: String, account: Account) -> Result<Row, Failure> {
    let question = account.question.map_or("", Issue::name);
    let mut people = Vec::new();
    for member_id in account.member_id.into_iter().chain(account.rival_claim) {
        if let Some(one) = member_search::find(tx, member_id)? {
            people.push((member_id, one.display_name().to_owned()));
        }
    }
    let why = Text::find(&format!("payments.why_{question}"), |_| None).map(|text| call.language().say(&text));
    let sure = account.member_id.filter(|_| account.rival_claim.is_none());
    Ok(Row {
        payment_id,
        amount: account.report.price.value.as_ref().map(ToString::to_string).unwrap_or_default(),
        at,
        intent_id: account.intent_id,
        why: why.unwrap_or_default(),
        question,
        people,
        given: account.grant.is_some(),
        member: sure.map(|member_id| member_id.to_string()).unwrap_or_default(),
    })
}

/// `POST /desk/payments/{payment_id}/count`: extends the membership of the named member, whatever was paid.
pub(crate) fn count(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    decide(site, call, clerk, Decision::Counts)
}

/// `POST /desk/payments/{payment_id}/void`: the payment extends no membership; a year granted for it is taken back.
pub(crate) fn void(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    decide(site, call, clerk, Decision::Void)
}

fn decide(site: &Site, call: &Call, clerk: &Clerk, decision: Decision) -> Answer {
    let payment_id = path_id(call, 0)?;
    let (question, member) =
        read_form(call, |form| (form.line("question", 40), form.optional("member", fields::line(254))))?;
    let refusal = app::change(site, clerk, call.language(), |cx| {
        let open = payments::find_by_number(cx.tx, payment_id)?.ok_or_else(Failure::not_found)?.question;
        // Another clerk decided, or the processor reported something new since the page was shown.
        if open.map(Issue::name) != Some(&question) {
            return Ok(Some((StatusCode::CONFLICT, "payments.changed")));
        }
        let typed = member.as_deref().filter(|_| decision == Decision::Counts);
        let member_id = match typed.map(|typed| find_member(cx.tx, typed)).transpose()? {
            None => None,
            Some(Lookup::One(member_id)) => Some(member_id),
            Some(Lookup::Nobody) => return Ok(Some((StatusCode::UNPROCESSABLE_ENTITY, "payments.no_member"))),
            Some(Lookup::Two) => return Ok(Some((StatusCode::UNPROCESSABLE_ENTITY, "desk.member_two"))),
        };
        // A stranger may have signed up with the payer's address.
        if let Some(typed) = typed.filter(|typed| typed.contains('@'))
            && members::find_certain_account(cx.tx, typed)?.is_none()
        {
            return Ok(Some((StatusCode::UNPROCESSABLE_ENTITY, "payments.unconfirmed")));
        }
        let decided = app::payments::decide(cx, payment_id, decision, member_id)?;
        Ok(decided.is_none().then_some((StatusCode::UNPROCESSABLE_ENTITY, "payments.member_missing")))
    })?;
    match refusal {
        None => Ok(reply::see_other(&format!("{PART}?done={}", decision.name()))),
        Some((status, key)) => {
            page(site, call, clerk, status, None, Some(Refused { payment_id, member, problem: call.say(key) }))
        }
    }
}
