//! One cell of CSV (RFC 4180), safe to open in a spreadsheet: no cell begins like a formula.

use crate::domain::local_time::TimeZone;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;
use std::borrow::Borrow;
use std::fmt::{self, Display};
use std::ops::Range;

const DAY_SECONDS: i64 = 86_400;
/// Characters at which other programs cut a cell: a program that splits at semicolons or tabs ignores quotes in the
/// middle of a cell.
const CUTS: [char; 4] = [';', '\t', '\r', '\n'];
/// Characters that start a formula in a spreadsheet.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// The sign at the beginning of a table by which spreadsheets know that it is in UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The sign between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Comma,
    Semicolon,
    Tab,
}

impl Separator {
    pub(crate) const NAMES: [(&str, Separator); 3] =
        [("comma", Separator::Comma), ("semicolon", Separator::Semicolon), ("tab", Separator::Tab)];

    /// The separator that `separator` of the query names, else the one that a spreadsheet in the caller's language expects. 422
    /// for another name.
    pub(crate) fn of(call: &Call) -> Result<Separator, Failure> {
        let mut query = call.query();
        let named = query.optional("separator", fields::as_line(Separator::named));
        let ok = query.finish()?;
        Ok(named.get(&ok).unwrap_or(match call.language() {
            Language::English => Separator::Comma,
            _ => Separator::Semicolon,
        }))
    }

    fn named(name: &str) -> Result<Separator, Text> {
        let names = || Separator::NAMES.map(|(name, _)| name).join(", ");
        let found = Separator::NAMES.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, separator)| separator).ok_or_else(|| Text::new("field.one_of").with("values", names()))
    }

    fn sign(self) -> char {
        match self {
            Separator::Comma => ',',
            Separator::Semicolon => ';',
            Separator::Tab => '\t',
        }
    }

    /// The beginning of a table: the byte order mark and the headings.
    pub(crate) fn headings(self, names: &[impl Borrow<str>]) -> String {
        let mut table = String::from(BYTE_ORDER_MARK);
        let mut row = RowWriter::begin(&mut table, self);
        names.iter().for_each(|name| row.text(name.borrow()));
        row.end();
        table
    }
}

pub(crate) fn write_row(table: &mut String, separator: Separator, cells: &[String]) {
    let mut row = RowWriter::begin(table, separator);
    cells.iter().for_each(|cell| row.text(cell));
    row.end();
}

/// Writes a row into a table cell by cell, without a `String` for each cell: for tables of many rows.
pub(crate) struct RowWriter<'t> {
    table: &'t mut String,
    separator: Separator,
    is_begun: bool,
}

impl<'t> RowWriter<'t> {
    pub(crate) fn begin(table: &'t mut String, separator: Separator) -> RowWriter<'t> {
        RowWriter { table, separator, is_begun: false }
    }

    pub(crate) fn text(&mut self, cell: &str) {
        self.part();
        write(self.table, cell);
    }

    /// Writes a number, a day or a moment, which never needs quotes.
    pub(crate) fn plain(&mut self, cell: impl Display) {
        self.part();
        self.push(cell);
    }

    /// Writes a moment, which never needs quotes, or an empty cell.
    pub(crate) fn moment(&mut self, zone: &TimeZone, moment: impl Into<Option<Moment>>) {
        self.part();
        if let Some(moment) = moment.into() {
            zone.write_date_time(moment, self.table);
        }
    }

    /// Writes a moment with its offset from UTC (RFC 3339), so that every program reads the same moment; or an empty cell.
    pub(super) fn exact_moment(&mut self, zone: &TimeZone, moment: impl Into<Option<Moment>>) {
        self.part();
        if let Some(moment) = moment.into() {
            push_exact_moment(self.table, zone, moment);
        }
    }

    /// Writes a number, or an empty cell.
    pub(crate) fn number(&mut self, number: Option<i64>) {
        self.part();
        if let Some(number) = number {
            self.push(number);
        }
    }

    pub(crate) fn end(self) {
        self.table.push_str("\r\n");
    }

    fn push(&mut self, cell: impl Display) {
        // Writing to memory does not fail.
        _ = fmt::Write::write_fmt(self.table, format_args!("{cell}"));
    }

    fn part(&mut self) {
        if std::mem::replace(&mut self.is_begun, true) {
            self.table.push(self.separator.sign());
        }
    }
}

/// Writes a cell, quoted where necessary. An apostrophe precedes text that a spreadsheet would run as a formula.
fn write(table: &mut String, cell: &str) {
    let formula = is_risky(cell);
    let quoted = formula || cell.contains([',', ';', '"', '\r', '\n', '\t']) || cell.trim().len() != cell.len();
    if !quoted {
        return table.push_str(cell);
    }
    table.push('"');
    if formula {
        table.push('\'');
    }
    let mut before = None;
    for (place, c) in cell.char_indices() {
        if before.is_some_and(|before| CUTS.contains(&before)) && is_risky_inside(&cell[place..]) {
            table.push('\'');
        }
        if c == '"' {
            table.push('"');
        }
        table.push(c);
        before = Some(c);
    }
    table.push('"');
}

/// Whether the text after a cut begins like a formula. A line break or tab there is itself a cut. Some programs skip
/// quotes and spaces before a formula sign.
fn is_risky_inside(rest: &str) -> bool {
    let beginning = rest.trim_start_matches(['\'', '"', ' ']);
    beginning.starts_with(|c: char| FORMULA.contains(&c) && !CUTS.contains(&c))
}

/// Whether a cell begins like a formula. Leading apostrophes are skipped, so that `read` can tell the apostrophe that
/// `write` added from those of the text.
fn is_risky(cell: &str) -> bool {
    cell.trim_start_matches('\'').starts_with(FORMULA)
}

/// Reads a cell: removes the apostrophes that `write` added.
pub(crate) fn read(cell: &str) -> String {
    let cell = cell.strip_prefix('\'').filter(|rest| is_risky(rest)).unwrap_or(cell);
    let mut text = String::with_capacity(cell.len());
    for (place, c) in cell.char_indices() {
        let is_added = c == '\'' && cell[..place].ends_with(CUTS) && is_risky_inside(&cell[place + 1..]);
        if !is_added {
            text.push(c);
        }
    }
    text
}

/// A moment in the site's time zone as in [`RowWriter::exact_moment`].
pub(crate) fn exact_moment(zone: &TimeZone, moment: Moment) -> String {
    let mut text = String::new();
    push_exact_moment(&mut text, zone, moment);
    text
}

/// Appends a moment with its offset from UTC, or the number of seconds where it is beyond the calendar.
fn push_exact_moment(text: &mut String, zone: &TimeZone, moment: Moment) {
    match Timestamp::from_second(moment.0) {
        Ok(_) => zone.write_rfc3339(moment, text),
        Err(_) => text.push_str(&moment.to_string()),
    }
}

/// A birthday, which is stored as a midnight in UTC.
pub(crate) fn birthday(moment: Moment) -> String {
    let whole = moment.0.rem_euclid(86_400) == 0;
    let day =
        Timestamp::from_second(moment.0).ok().filter(|_| whole).map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
    day.map_or_else(|| exact_moment(&TimeZone::UTC, moment), |day| day.to_string())
}

/// Parses a field that is a moment: a day in the time zone, a moment there or with its offset, or Unix seconds.
pub(crate) fn moment_in(zone: &TimeZone) -> impl Fn(&Value) -> Result<Moment, Text> + Copy {
    move |value| read_in(zone, value, fields::moment, false)
}

/// Parses the last day of something, as [`moment_in`]: the last second of that day in the time zone.
pub(crate) fn last_day_in(zone: &TimeZone) -> impl Fn(&Value) -> Result<Moment, Text> + Copy {
    move |value| moment_in(zone)(value).map(|moment| zone.end_of_day(moment, 0))
}

fn read_in(
    zone: &TimeZone,
    value: &Value,
    seconds: fn(&Value) -> Result<Moment, Text>,
    is_birth: bool,
) -> Result<Moment, Text> {
    let text = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    let wrong = || Text::new("field.moment_or_day");
    if let Some(written) = zone.parse_written(&text) {
        let beyond = || Text::new("field.day_beyond");
        return Some(written).filter(|moment| fields::is_in_calendar(moment.0, is_birth)).ok_or_else(beyond);
    }
    // A program with a decimal comma writes the number of a day, with its time, as 43430,5.
    let number = fields::seconds(&text.replace(',', ".").into()).ok_or_else(wrong)?;
    if let Some(day) = day_of_spreadsheet(number) {
        return Err(Text::new("field.day_number").with("number", &text).with("day", day));
    }
    let is_short = number.abs() < fields::MOMENT_MIN;
    if is_short && (number % DAY_SECONDS != 0 || number == 0 || text.starts_with('0')) {
        return Err(wrong());
    }
    seconds(&number.into()).map_err(|_| wrong())
}

/// The day that a spreadsheet means by its number: days since 30 December 1899, from 1900 to 2173. A number that people write
/// for a year is none.
fn day_of_spreadsheet(number: i64) -> Option<Date> {
    const DAYS: Range<i64> = 1..100_000;
    const YEARS: Range<i64> = 1_900..2_100;
    let first = Date::constant(1899, 12, 30);
    let is_day = DAYS.contains(&number) && !YEARS.contains(&number);
    is_day.then(|| first.checked_add(number.days()).ok()).flatten()
}

/// Reads minutes as `read`, and as spreadsheets write a time of day: `0:15:00`.
pub(super) fn minutes(read: impl Fn(&Value) -> Result<i64, Text>) -> impl Fn(&Value) -> Result<i64, Text> {
    move |value| {
        let text = value.as_str().unwrap_or("").trim();
        match text.strip_suffix(":00").filter(|rest| rest.contains(':')) {
            Some(hours_and_minutes) => read(&hours_and_minutes.into()),
            None => read(value),
        }
    }
}

/// Parses a birthday as [`moment_in`] UTC, because a birthday is the same day in every time zone.
pub(crate) fn read_birthday(value: &Value) -> Result<Moment, Text> {
    read_in(&TimeZone::UTC, value, fields::day_of_birth, true).map(|moment| Moment(fields::nearest_midnight(moment.0)))
}

/// Parses a birthday as [`read_birthday`], with the error text of a form: there a day is chosen, or typed in three
/// parts.
pub(crate) fn read_birthday_of_form(value: &Value) -> Result<Moment, Text> {
    read_birthday(value).map_err(|_| {
        let text = value.as_str().unwrap_or("").trim();
        Text::new(match text.parse::<Date>() {
            _ if text.starts_with('0') => "field.year_short",
            Ok(_) => "field.dob",
            Err(_) => "field.no_such_day",
        })
    })
}

#[cfg(test)]
mod tests;
