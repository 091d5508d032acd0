//! The forms of the till for cash without a fee: the opening float, cash put in, and cash taken out.

use super::{AMOUNT_CHARS_MAX, CURRENCY_CHARS_MAX, TEXT_CHARS_MAX, page, problem_text};
use crate::app;
use crate::app::payments::till::Day;
use crate::app::payments::till::drawer::{self, Movement, MovementDenial};
use crate::auth::Clerk;
use crate::domain::till::{Kind, parse_amount};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Stop;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::web::{new_form_number, read_form, read_form_number};
use http::StatusCode;
use serde_json::Value;

/// The forms as the page shows them.
pub(super) struct View {
    /// Whether the opening float is still to be entered.
    pub(super) takes_float: bool,
    pub(super) number: i64,
    /// The name of the refused form's kind; empty without one.
    pub(super) kind: &'static str,
    pub(super) amount: String,
    pub(super) reason: String,
    pub(super) problem: Option<String>,
    /// The unusual amount that the clerk is asked about; the same form sent again enters it.
    pub(super) sure: String,
}

/// A form as it was sent.
pub(super) struct Typed {
    kind: Kind,
    amount: String,
    reason: String,
    number: i64,
    /// The currency that the page showed.
    currency: String,
    /// The unusual amount that the clerk was asked about.
    sure: String,
}

/// The forms with what was typed, else empty.
pub(super) fn view(call: &Call, day: &Day, refused: Option<(Typed, &'static str)>) -> View {
    let (typed, problem) = refused.unzip();
    // A number that was used for another movement is not used again.
    let number = typed.as_ref().filter(|_| problem != Some(MovementDenial::Changed.key())).map(|typed| typed.number);
    View {
        takes_float: day.takes_float,
        number: number.unwrap_or_else(new_form_number),
        kind: typed.as_ref().map_or("", |typed| typed.kind.name()),
        problem: problem.map(|key| match (&typed, key == MovementDenial::Unusual.key()) {
            (Some(typed), true) => call.language().say(&Text::new(key).with("amount", &typed.amount)),
            _ => problem_text(call.language(), key, day),
        }),
        sure: typed
            .as_ref()
            .filter(|_| problem == Some(MovementDenial::Unusual.key()))
            .map(|typed| typed.amount.clone())
            .unwrap_or_default(),
        amount: typed.as_ref().map(|typed| typed.amount.clone()).unwrap_or_default(),
        reason: typed.map(|typed| typed.reason).unwrap_or_default(),
    }
}

/// `POST /desk/till/move`: enters cash that was put in or taken out, or the opening float.
pub(crate) fn make(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = read_form(call, |form| Typed {
        kind: form.required("kind", kind),
        amount: form.line("amount", AMOUNT_CHARS_MAX),
        reason: form.line("reason", TEXT_CHARS_MAX),
        number: form.required("number", read_form_number),
        currency: form.line("currency", CURRENCY_CHARS_MAX),
        sure: form.line("sure", AMOUNT_CHARS_MAX),
    })?;
    let Some(cents) = parse_amount(&typed.amount, &typed.currency) else {
        return refuse(site, call, clerk, typed, MovementDenial::Nothing);
    };
    let movement = Movement {
        kind: typed.kind,
        cents,
        currency: &typed.currency,
        reason: &typed.reason,
        is_sure: typed.sure == typed.amount,
        form_number: typed.number,
    };
    match app::try_change(site, clerk, call.language(), |cx| drawer::move_cash(cx, &movement)) {
        Ok(_) => Ok(reply::see_other("/desk/till?done=moved")),
        Err(Stop::Denied(denial)) => refuse(site, call, clerk, typed, denial),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

fn refuse(site: &Site, call: &Call, clerk: &Clerk, typed: Typed, denial: MovementDenial) -> Answer {
    let status = match denial {
        MovementDenial::Changed | MovementDenial::CurrencyChanged | MovementDenial::FloatKnown => StatusCode::CONFLICT,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    page(site, call, clerk, status, None, Some((typed, denial.key())))
}

fn kind(value: &Value) -> Result<Kind, Text> {
    let text = fields::line(TEXT_CHARS_MAX)(value)?;
    let names = Kind::MOVEMENTS.map(Kind::name).join(", ");
    Kind::parse(&text)
        .filter(|kind| Kind::MOVEMENTS.contains(kind))
        .ok_or_else(|| Text::new("field.one_of").with("values", names))
}
