//! Closed days of the till, on pages and as CSV.

use super::{PART, Row, Table, amount_without_currency, money, row, table};
use crate::app::import_export::cell::{RowWriter, Separator};
use crate::auth::Clerk;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::till::{self, Closing, Line};
use crate::web::desk::reports::tables::{ROWS_AT_ONCE, continue_after, long_file, time_heading};
use crate::web::{Frame, path_id, show as shown, skipped};
use askama::Template;
use http::StatusCode;

const DONE: [(&str, &str); 1] = [("closed", "till.done_closed")];
/// Closings on one page.
const ROWS_MAX: i64 = 60;
/// Entries of one closing that the page shows; the CSV file has all.
const ENTRIES_MAX: i64 = 300;

#[derive(Template)]
#[template(path = "desk/till_closings.html", config = "assets/templates/askama.toml")]
struct ListPage {
    frame: Frame,
    rows: Vec<ClosingView>,
    more: i64,
    skip_to: i64,
}

#[derive(Template)]
#[template(path = "desk/till_closing.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    closed: ClosingView,
    rows: Vec<Row>,
    more: i64,
    sums: Table,
}

/// A closing, ready to be rendered.
struct ClosingView {
    closing_id: i64,
    at: String,
    clerk: String,
    total: String,
    float: String,
    cash: String,
    /// Cash put in less cash taken out; empty where nothing was moved.
    moved: String,
    expected: String,
    counted: String,
    difference: String,
    /// Whether the count matches.
    exact: bool,
    taken_out: String,
    left: String,
    note: String,
}

fn closed(language: Language, at: String, closing_id: i64, clerk: String, closing: Closing) -> ClosingView {
    let show = |cents| money(language, cents, &closing.currency);
    let difference = closing.difference_cents();
    ClosingView {
        closing_id,
        at,
        clerk,
        total: show(closing.cash_cents + closing.terminal_cents + closing.voucher_cents),
        float: show(closing.float_cents),
        cash: show(closing.cash_cents),
        moved: if closing.moved_cents == 0 { String::new() } else { show(closing.moved_cents) },
        expected: show(closing.expected_cents()),
        counted: show(closing.counted_cents),
        difference: format!("{}{}", if difference > 0 { "+" } else { "" }, show(difference)),
        exact: difference == 0,
        taken_out: show(closing.counted_cents - closing.left_cents),
        left: show(closing.left_cents),
        note: closing.note,
    }
}

/// `GET /desk/till/closings`: one page of the closed days, the latest first, after `skip` others.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone, language) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?, call.language());
    let skip = skipped(call);
    let (found, total) =
        site.store.read(|tx| Ok((till::list_closings(tx, i64::MAX, ROWS_MAX, skip)?, till::count_closings(tx)?)))?;
    let say = |(closing_id, clerk, closing): (i64, String, Closing)| {
        closed(language, when::moment(language, &zone, closing.closed_at), closing_id, clerk, closing)
    };
    let rows: Vec<ClosingView> = found.into_iter().map(say).collect();
    let skip_to = skip.saturating_add(rows.len() as i64);
    Ok(shown(StatusCode::OK, language, &ListPage { frame, rows, more: total - skip_to, skip_to }))
}

/// `GET /desk/till/closings/{closing_id}`: a closed day with its entries.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let closing_id = path_id(call, 0)?;
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let (zone, language) = (site.time_zone()?, call.language());
    let (closing, clerk_name, lines, sums) = site.store.read(|tx| {
        let closing = till::find_closing(tx, closing_id)?.ok_or_else(Failure::not_found)?;
        let from = till::find_start(tx, closing_id)?;
        let name = members::find_clerk_name(tx, closing.closed_by)?;
        let lines = till::list(tx, from, closing.last_entry_id, ENTRIES_MAX)?;
        let sums = till::sum(tx, from, closing.last_entry_id)?;
        Ok((closing, name, lines, sums))
    })?;
    let page = Page {
        more: sums.count() - lines.len() as i64,
        rows: lines.into_iter().map(|line| row(language, &zone, line)).collect(),
        sums: table(language, &sums, &closing.currency),
        closed: closed(language, when::moment(language, &zone, closing.closed_at), closing_id, clerk_name, closing),
        frame,
    };
    Ok(shown(StatusCode::OK, language, &page))
}

/// `GET /desk/till/closings.csv`: one row a closing, the last first. Moments are by the site's clock, amounts in the
/// currency.
pub(crate) fn csv(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (zone, separator) = (site.time_zone()?, Separator::of(call)?);
    let closed_at = time_heading("closed_at", &zone);
    let heading = [
        "closing_id",
        &*closed_at,
        "closed_by",
        "currency",
        "float",
        "cash",
        "moved",
        "terminal",
        "voucher",
        "expected",
        "counted",
        "difference",
        "left",
        "note",
    ];
    let write = move |table: &mut String, (closing_id, clerk, one): (i64, String, Closing)| {
        let amounts = [
            one.float_cents,
            one.cash_cents,
            one.moved_cents,
            one.terminal_cents,
            one.voucher_cents,
            one.expected_cents(),
            one.counted_cents,
            one.difference_cents(),
            one.left_cents,
        ];
        let mut row = RowWriter::begin(table, separator);
        row.plain(closing_id);
        row.plain(zone.date_time(one.closed_at));
        row.text(&clerk);
        row.text(&one.currency);
        amounts.iter().for_each(|cents| row.plain(amount_without_currency(*cents, &one.currency)));
        row.text(&one.note);
        row.end();
    };
    let mut before = i64::MAX;
    long_file(site, clerk, separator, "closings.csv", &heading, move |site, table| {
        let found = site.store.read(|tx| Ok(till::list_closings(tx, before, ROWS_AT_ONCE, 0)?))?;
        let rows = found.len();
        for closing in found {
            before = closing.0;
            write(table, closing);
        }
        Ok(continue_after(rows))
    })
}

/// `GET /desk/till/closings/{closing_id}/entries.csv`: one row an entry, the latest first.
pub(crate) fn entries(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let closing_id = path_id(call, 0)?;
    let between = site.store.read(|tx| {
        let closing = till::find_closing(tx, closing_id)?.ok_or_else(Failure::not_found)?;
        Ok((till::find_start(tx, closing_id)?, closing.last_entry_id))
    })?;
    entries_csv(site, call, clerk, &format!("till-{closing_id}.csv"), between)
}

/// `GET /desk/till/entries.csv`: the entries of the open day.
pub(crate) fn open_entries(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let between = site.store.read(|tx| {
        let from = till::find_last_closing(tx)?.map_or(0, |(_, closing)| closing.last_entry_id);
        Ok((from, till::last(tx)?))
    })?;
    let name = format!("till-open-{}.csv", site.time_zone()?.date(site.now()));
    entries_csv(site, call, clerk, &name, between)
}

/// The entries with an ID above `from` up to `to`, as CSV.
fn entries_csv(site: &Site, call: &Call, clerk: &Clerk, name: &str, (from, to): (i64, i64)) -> Answer {
    let (zone, separator) = (site.time_zone()?, Separator::of(call)?);
    let taken_at = time_heading("taken_at", &zone);
    let heading =
        ["entry_id", &taken_at, "kind", "amount", "currency", "member_id", "member", "undoes", "reason", "taken_by"];
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    let write = move |table: &mut String, line: &Line| {
        let mut row = RowWriter::begin(table, separator);
        row.plain(line.entry_id);
        row.plain(zone.date_time(line.taken_at));
        row.plain(line.kind.name());
        row.plain(amount_without_currency(line.amount_cents, &line.currency));
        row.text(&line.currency);
        row.plain(number(line.member_id.map(i64::from)));
        row.text(&line.member);
        row.plain(number(line.undoes));
        row.text(&line.reason);
        row.text(&line.clerk);
        row.end();
    };
    let mut last = to;
    long_file(site, clerk, separator, name, &heading, move |site, table| {
        let lines = site.store.read(|tx| Ok(till::list(tx, from, last, ROWS_AT_ONCE)?))?;
        let rows = lines.len();
        for line in lines {
            last = line.entry_id - 1;
            write(table, &line);
        }
        Ok(continue_after(rows))
    })
}
