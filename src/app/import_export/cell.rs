//! One cell of CSV (RFC 4180), safe to open in a spreadsheet: no cell begins like a formula.

use crate::domain::local_time::TimeZone;
use crate::http::fields;
use crate::i18n::language::Text;
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value;
use std::fmt::{self, Display};

/// Characters at which other programs cut a cell: a program that splits at semicolons or tabs ignores quotes in the
/// middle of a cell.
const CUTS: [char; 4] = [';', '\t', '\r', '\n'];
/// Characters that start a formula in a spreadsheet.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

pub(crate) fn write_row(table: &mut String, cells: &[String]) {
    let mut row = RowWriter::begin(table);
    cells.iter().for_each(|cell| row.text(cell));
    row.end();
}

/// Writes a row into a table cell by cell, without a `String` for each cell: for tables of many rows.
pub(crate) struct RowWriter<'t> {
    table: &'t mut String,
    is_begun: bool,
}

impl<'t> RowWriter<'t> {
    pub(crate) fn begin(table: &'t mut String) -> RowWriter<'t> {
        RowWriter { table, is_begun: false }
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
    pub(crate) fn moment(&mut self, zone: &TimeZone, moment: impl Into<Option<i64>>) {
        self.part();
        if let Some(moment) = moment.into() {
            zone.write_date_time(moment, self.table);
        }
    }

    /// Writes a moment with its offset from UTC (RFC 3339), so that every program reads the same moment; or an empty cell.
    pub(super) fn exact_moment(&mut self, zone: &TimeZone, moment: impl Into<Option<i64>>) {
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
            self.table.push(',');
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
pub(crate) fn exact_moment(zone: &TimeZone, moment: i64) -> String {
    let mut text = String::new();
    push_exact_moment(&mut text, zone, moment);
    text
}

/// Appends a moment with its offset from UTC, or the number of seconds where it is beyond the calendar.
fn push_exact_moment(text: &mut String, zone: &TimeZone, moment: i64) {
    match Timestamp::from_second(moment) {
        Ok(_) => zone.write_rfc3339(moment, text),
        Err(_) => text.push_str(&moment.to_string()),
    }
}

/// A birthday, which is stored as a midnight in UTC.
pub(crate) fn birthday(moment: i64) -> String {
    let whole = moment.rem_euclid(86_400) == 0;
    let day =
        Timestamp::from_second(moment).ok().filter(|_| whole).map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
    day.map_or_else(|| exact_moment(&TimeZone::UTC, moment), |day| day.to_string())
}

/// Parses a field that is a moment: a day in the time zone, a moment with its offset, or Unix seconds.
pub(crate) fn moment_in(zone: &TimeZone) -> impl Fn(&Value) -> Result<i64, Text> + Copy {
    read_in(zone, fields::moment)
}

fn read_in(zone: &TimeZone, within: fn(&Value) -> Result<i64, Text>) -> impl Fn(&Value) -> Result<i64, Text> + Copy {
    move |value| {
        let text = value.as_str().unwrap_or("").trim();
        let seconds = match fields::seconds(value) {
            Some(number) => Some(number),
            None if text.contains(['T', 't', ':']) => text.parse::<Timestamp>().ok().map(Timestamp::as_second),
            None => zone.start_of_date(text),
        };
        let wrong = || Text::new("field.moment_or_day");
        seconds.ok_or_else(wrong).and_then(|seconds| within(&seconds.into()).map_err(|_| wrong()))
    }
}

/// Parses a birthday as [`moment_in`] UTC, because a birthday is the same day in every time zone.
pub(crate) fn read_birthday(value: &Value) -> Result<i64, Text> {
    read_in(&TimeZone::UTC, fields::day_of_birth)(value)
}

/// Parses a birthday as [`read_birthday`], with the error text of a form: there a day is chosen, or typed in three
/// parts.
pub(crate) fn read_birthday_of_form(value: &Value) -> Result<i64, Text> {
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
mod tests {
    use super::*;
    use serde_json::json;

    const CELLS: [(&str, &str); 25] = [
        ("x;=1+1", "\"x;'=1+1\""),
        ("x\t=1", "\"x\t'=1\""),
        ("x\n+1\r\n@b", "\"x\n'+1\r\n'@b\""),
        ("x; =1;\"-1", "\"x;' =1;'\"\"-1\""),
        ("x;'=1;' '=1", "\"x;\'\'=1;\'\' '=1\""),
        ("x;＝1", "\"x;'＝1\""),
        ("=1;=2", "\"'=1;'=2\""),
        ("a;b\n\nc\t't", "\"a;b\n\nc\t't\""),
        ("a\n;=1", "\"a\n;'=1\""),
        ("", ""),
        ("a good one", "a good one"),
        ("one, two", "\"one, two\""),
        ("one; two", "\"one; two\""),
        ("say \"hi\"", "\"say \"\"hi\"\"\""),
        ("two\nlines", "\"two\nlines\""),
        (" kept ", "\" kept \""),
        ("=1+1", "\"'=1+1\""),
        ("+41 79", "\"'+41 79\""),
        ("-2", "\"'-2\""),
        ("@SUM(A1)", "\"'@SUM(A1)\""),
        ("\t=1", "\"'\t'=1\""),
        ("＝1", "\"'＝1\""),
        ("a=b", "a=b"),
        ("'t was", "'t was"),
        ("'=1", "\"''=1\""),
    ];

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_never_a_formula() {
        for (cell, written) in CELLS {
            let mut table = String::new();
            write(&mut table, cell);
            assert_eq!(table, written, "{cell:?}");
        }
    }

    #[test]
    fn what_was_written_is_read_as_it_was() {
        let all: Vec<String> = CELLS.iter().map(|(cell, _)| (*cell).to_owned()).collect();
        let mut table = String::new();
        write_row(&mut table, &all);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes());
        let record = reader.records().next().unwrap().unwrap();
        let again: Vec<String> = record.iter().map(read).collect();
        assert_eq!(again, all);
    }

    #[test]
    fn moments_are_read_as_they_are_written_and_no_other_way() {
        for seconds in [0, 1_795_219_200, 1_795_271_400, -86_400] {
            let zurich = TimeZone::named("Europe/Zurich");
            let exact = [zurich, TimeZone::UTC].map(|zone| exact_moment(&zone, seconds));
            for text in exact.into_iter().chain([birthday(seconds), seconds.to_string()]) {
                assert_eq!(read_birthday(&json!(text)).unwrap(), seconds, "{text}");
            }
        }
        assert_eq!(birthday(1_795_219_200), "2026-11-21");
        assert_eq!(read_birthday(&json!("1795219200.5")).unwrap(), 1_795_219_200);
        assert_eq!(read_birthday(&json!("2026-11-21T15:30:00+01:00")).unwrap(), 1_795_271_400);
        let denver = TimeZone::named("America/Denver");
        assert_eq!(moment_in(&denver)(&json!("2026-11-21")).unwrap(), 1_795_219_200 + 7 * 3_600, "the site's day");
        assert_eq!(moment_in(&denver)(&json!("2026-11-21T00:00:00Z")).unwrap(), 1_795_219_200);
        for wrong in ["21.11.2026", "11/21/2026", "2026-13-01", "soon", "2026-11-21 14:30", "9999999999999999"] {
            assert!(read_birthday(&json!(wrong)).is_err(), "{wrong}");
        }
    }
}
