//! *Till*: the entries since the last closing, and the closing of the day.

pub(crate) mod closings;
pub(crate) mod entries;
pub(crate) mod fee;
pub(crate) mod movements;

use crate::app;
use crate::app::payments::till::{self as effect, CashCount, ClosingDenial, Day};
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::payment::Price;
use crate::domain::till::{Kind, Sums, example_amount, parse_amount};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Stop;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::payments;
use crate::store::tables::till::{self, Line};
use crate::web::{Frame, new_form_number, read_form, read_form_number, show as shown};
use askama::Template;
use http::StatusCode;

const PART: &str = "/desk/till";
const DONE: [(&str, &str); 1] = [("moved", "till.done_moved")];
/// Entries of the open day that the page shows; the sums include all.
const ENTRIES_MAX: i64 = 300;
const AMOUNT_CHARS_MAX: usize = 20;
const CURRENCY_CHARS_MAX: usize = 10;
/// Longest note or reason.
const TEXT_CHARS_MAX: usize = 200;

#[derive(Template)]
#[template(path = "desk/till.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    since: String,
    rows: Vec<Row>,
    /// Number of older entries that are not shown.
    more: i64,
    sums: Table,
    /// Number of card payments that wait for a decision.
    waiting: i64,
    /// `None` where the site's currency is unknown.
    closing: Option<Form>,
    movement: movements::View,
    problem: Option<String>,
    /// Name of the field that the problem is about; empty without one.
    wrong: &'static str,
}

/// An entry as a line of a list.
struct Row {
    entry_id: i64,
    at: String,
    kind: String,
    amount: String,
    member_id: Option<MemberId>,
    member: String,
    clerk: String,
    reason: String,
    undoes: Option<i64>,
    undone: bool,
}

/// The sums of entries, as a table.
struct Table {
    /// Kind, number taken, number undone, amount.
    rows: Vec<(String, i64, i64, String)>,
    taken: i64,
    undone: i64,
    total: String,
}

/// The form that closes the day.
struct Form {
    currency: String,
    float: String,
    cash: String,
    /// Cash put in less cash taken out; empty where nothing was moved.
    moved: String,
    expected: String,
    typed: Typed,
}

/// The values of the form.
#[derive(Default)]
struct Typed {
    counted: String,
    left: String,
    note: String,
    number: i64,
    seen_closing: i64,
    seen_entry: i64,
    currency: String,
}

/// `GET /desk/till`: the open day.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, StatusCode::OK, None, None)
}

/// The page; `refused` and `movement` are forms that were refused, with the key of the reason.
fn page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    status: StatusCode,
    refused: Option<(Typed, &'static str)>,
    movement: Option<(movements::Typed, &'static str)>,
) -> Answer {
    let (frame, zone, language) =
        (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?, call.language());
    let (day, lines, waiting) = site.store.read(|tx| {
        let day = effect::read_day(site, tx)?;
        let lines = till::list(tx, day.from, day.to, ENTRIES_MAX)?;
        Ok((day, lines, payments::count_questions(tx)?))
    })?;
    let since = match day.closed_at {
        Some(at) => Text::new("till.since").with("at", when::moment(language, &zone, at)),
        None => Text::new("till.since_ever"),
    };
    let currency = day.currency.clone().unwrap_or_default();
    let (typed, problem) = refused.map_or_else(Default::default, |(typed, key)| (Some(typed), Some(key)));
    let page = Page {
        since: language.say(&since),
        more: day.sums.count() - lines.len() as i64,
        rows: lines.into_iter().map(|line| row(language, &zone, line)).collect(),
        sums: table(language, &day.sums, &currency),
        waiting,
        movement: movements::view(call, &day, movement),
        problem: problem.map(|key| problem_text(language, key, &day)),
        closing: day.currency.as_ref().map(|currency| closing_form(language, &day, currency, typed)),
        wrong: match problem {
            None => "",
            Some("till.note_missing") => "note",
            Some("till.left_too_much") => "left",
            Some(_) => "counted",
        },
        frame,
    };
    Ok(shown(status, language, &page))
}

/// Why a form was refused, with what holds now.
fn problem_text(language: Language, key: &'static str, day: &Day) -> String {
    let currency = day.currency.as_deref().unwrap_or_default();
    let text = Text::new(key).with("currency", currency).with("example", example_amount(language, currency));
    language.say(&text)
}

/// The form with the typed values, else with the defaults.
fn closing_form(language: Language, day: &Day, currency: &str, typed: Option<Typed>) -> Form {
    let show = |cents| money(language, cents, currency);
    let typed = typed.unwrap_or_else(|| Typed {
        left: amount_to_edit(language, day.float_cents, currency),
        number: new_form_number(),
        ..Typed::default()
    });
    Form {
        currency: currency.to_owned(),
        float: show(day.float_cents),
        cash: show(day.sums.of(Kind::Cash).cents),
        moved: match day.sums.moved_cents() {
            0 => String::new(),
            cents => show(cents),
        },
        expected: show(day.expected_cents()),
        // A form that was refused is shown with the state of now.
        typed: Typed { seen_closing: day.closing_id, seen_entry: day.to, ..typed },
    }
}

/// `POST /desk/till/close`: closes the day; later entries belong to the next day.
pub(crate) fn close(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = read_form(call, |form| Typed {
        counted: form.line("counted", AMOUNT_CHARS_MAX),
        left: form.line("left", AMOUNT_CHARS_MAX),
        note: form.line("note", TEXT_CHARS_MAX),
        number: form.required("number", read_form_number),
        seen_closing: form.required("seen_closing", fields::whole_in(0..=i64::MAX)),
        seen_entry: form.required("seen_entry", fields::whole_in(0..=i64::MAX)),
        currency: form.line("currency", CURRENCY_CHARS_MAX),
    })?;
    let amounts = (parse_amount(&typed.counted, &typed.currency), parse_amount(&typed.left, &typed.currency));
    let (Some(counted_cents), Some(left_cents)) = amounts else {
        return page(site, call, clerk, StatusCode::UNPROCESSABLE_ENTITY, Some((typed, "till.no_amount")), None);
    };
    let count = CashCount {
        currency: &typed.currency,
        counted_cents,
        left_cents,
        note: &typed.note,
        form_number: typed.number,
        seen_closing: typed.seen_closing,
        seen_entry: typed.seen_entry,
    };
    match app::try_change(site, clerk, call.language(), |cx| effect::close_day(cx, &count)) {
        Ok(closing_id) => Ok(reply::see_other(&format!("/desk/till/closings/{closing_id}?done=closed"))),
        Err(Stop::Denied(denial)) => {
            let status = match denial {
                ClosingDenial::ClosedBefore | ClosingDenial::Changed | ClosingDenial::CurrencyChanged => {
                    StatusCode::CONFLICT
                }
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            page(site, call, clerk, status, Some((typed, denial.key())), None)
        }
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

fn row(language: Language, zone: &TimeZone, line: Line) -> Row {
    Row {
        entry_id: line.entry_id,
        at: when::moment(language, zone, line.taken_at),
        kind: language.say(&Text::new(line.kind.key())),
        amount: money(language, line.amount_cents, &line.currency),
        member_id: line.member_id,
        member: line.member,
        clerk: line.clerk,
        reason: line.reason,
        undoes: line.undoes,
        undone: line.undone_by.is_some(),
    }
}

fn table(language: Language, sums: &Sums, currency: &str) -> Table {
    let row = |kind: Kind| {
        let sum = sums.of(kind);
        (language.say(&Text::new(kind.key())), sum.taken, sum.undone, money(language, sum.cents, currency))
    };
    let total = sums.total();
    Table {
        rows: Kind::FEES.map(row).into(),
        taken: total.taken,
        undone: total.undone,
        total: money(language, total.cents, currency),
    }
}

/// `30.00 CHF`, as the language writes it.
fn money(language: Language, cents: i64, currency: &str) -> String {
    Price { cents, currency: currency.to_owned() }.in_words(language)
}

/// `30.00`, or `30,00` except in English, for a field.
fn amount_to_edit(language: Language, cents: i64, currency: &str) -> String {
    let amount = amount_without_currency(cents, currency);
    if language == Language::English { amount } else { amount.replace('.', ",") }
}

/// `30.00`, for CSV.
fn amount_without_currency(cents: i64, currency: &str) -> String {
    let price = Price { cents, currency: currency.to_owned() }.to_string();
    price.split(' ').next().unwrap_or_default().to_owned()
}
