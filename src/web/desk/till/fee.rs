//! Taking a membership fee at the desk.

use super::{PART, TEXT_CHARS_MAX};
use crate::app;
use crate::app::payments::till::{self as effect, Denial, Fee, TakenFee};
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::domain::payment::{Price, a_year_after};
use crate::domain::till::Kind;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::members;
use crate::web::{Frame, form, new_form_number, path_id, read_form_number, show as shown};
use askama::Template;
use http::StatusCode;
use serde_json::Value;

const PRICE_CHARS_MAX: usize = 40;

#[derive(Template)]
#[template(path = "desk/till_fee.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    member_id: MemberId,
    name: String,
    /// Day until which the membership is paid, and whether that has passed.
    paid: Option<String>,
    lapsed: bool,
    /// The fee; `None` where the site charges none or its currency is unknown.
    fee: Option<String>,
    /// The same for the form, so that no other fee is taken than the clerk saw.
    price: String,
    /// Day until which the membership will be paid.
    next: String,
    /// Why no fee can be taken.
    obstacle: Option<String>,
    number: i64,
    /// `paid_until` when the page was made, in Unix seconds; empty for never paid.
    seen: String,
    voucher: String,
    reason: String,
    problem: Option<String>,
    /// Whether the clerk was asked about a second fee: then the form takes it.
    is_second: bool,
}

/// The values of the form that was sent.
struct Typed {
    kind: Kind,
    reason: String,
    number: i64,
}

/// `GET /desk/members/{member_id}/payment`: the fee and the forms to take it.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, StatusCode::OK, None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, status: StatusCode, refused: Option<(Typed, Denial)>) -> Answer {
    let member_id = path_id(call, 0)?;
    let (frame, zone, now, language) =
        (Frame::of(site, call, clerk, PART)?, site.time_zone()?, site.now(), call.language());
    let (profile, fee, denial) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        Ok((profile, site.fee(tx)?, clerk.denial(&account)))
    })?;
    let obstacle = match &fee.currency {
        _ if denial.is_some() => denial,
        _ if profile.banned_at.is_some() => Some(Denial::Banned.key()),
        _ if fee.cents == 0 => Some(Denial::NoFee.key()),
        None => Some(Denial::NoCurrency.key()),
        Some(_) => None,
    };
    let (typed, problem) = refused.map_or_else(Default::default, |(typed, denial)| (Some(typed), Some(denial)));
    let typed_of = |kind: Kind| {
        let typed = typed.as_ref().filter(|typed| typed.kind == kind);
        typed.map(|typed| typed.reason.clone()).unwrap_or_default()
    };
    let price = fee.currency.filter(|_| fee.cents > 0).map(|currency| Price { cents: fee.cents, currency });
    let shown_price = price.as_ref().map(|price| price.in_words(language));
    let page = Page {
        member_id,
        name: profile.display_name().to_owned(),
        paid: profile.paid_until.map(|until| when::day(language, &zone, until)),
        lapsed: profile.paid_until.is_some_and(|until| until < now),
        price: price.map(|price| price.to_string()).unwrap_or_default(),
        next: when::day(language, &zone, a_year_after(&zone, profile.paid_until.unwrap_or(Moment::FIRST).max(now))),
        obstacle: obstacle.map(|key| call.say(key)),
        // Where the membership changed since the page was made, the page is a new form.
        number: typed
            .as_ref()
            .filter(|_| problem != Some(Denial::Changed))
            .map_or_else(new_form_number, |typed| typed.number),
        seen: profile.paid_until.map(|until| until.to_string()).unwrap_or_default(),
        voucher: typed_of(Kind::Voucher),
        reason: typed_of(Kind::Free),
        is_second: problem == Some(Denial::Second),
        problem: problem.filter(|_| obstacle.is_none()).map(|denial| {
            let text = Text::new(denial.key()).with("amount", shown_price.as_deref().unwrap_or_default());
            language.say(&text)
        }),
        fee: shown_price,
        frame,
    };
    Ok(shown(status, language, &page))
}

/// `POST /desk/members/{member_id}/payment`: takes the fee.
pub(crate) fn take(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let mut form = form(call)?;
    let kind = form.0.required("kind", kind);
    let reason = form.line("reason", TEXT_CHARS_MAX);
    let number = form.required("number", read_form_number);
    let (seen_until, seen_price) =
        (form.optional("seen", |value| fields::whole(value).map(Moment)), form.line("price", PRICE_CHARS_MAX));
    let is_second = !form.line("second", 5).is_empty();
    let ok = form.0.finish()?;
    let typed = Typed { kind: kind.get(&ok), reason, number };
    let fee = Fee {
        member_id,
        kind: typed.kind,
        reason: &typed.reason,
        form_number: typed.number,
        seen_until,
        seen_price: &seen_price,
        is_second,
    };
    match app::try_change(site, clerk, call.language(), |cx| effect::take_fee(cx, &fee)) {
        Ok(TakenFee { entry_id, is_mailed }) => {
            let done = if is_mailed { "taken-mailed" } else { "taken" };
            Ok(reply::see_other(&format!("/desk/till/entries/{entry_id}?done={done}")))
        }
        Err(Stop::Denied(denial)) => {
            let status = match denial {
                Denial::Changed
                | Denial::PriceChanged
                | Denial::OtherCurrency
                | Denial::Second
                | Denial::VoucherUsed => StatusCode::CONFLICT,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            page(site, call, clerk, status, Some((typed, denial)))
        }
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

fn kind(value: &Value) -> Result<Kind, Text> {
    let text = fields::line(TEXT_CHARS_MAX)(value)?;
    let names = Kind::FEES.map(Kind::name).join(", ");
    Kind::parse(&text)
        .filter(|kind| Kind::FEES.contains(kind))
        .ok_or_else(|| Text::new("field.one_of").with("values", names))
}
