//! Lists of members, logbook entries and bookings, as CSV: out for other programs, and in from the site that was before.
//!
//! An import is one transaction, and while a server runs everybody who writes waits for it. So the work is in two passes.
//! The first reads and judges every line by the rules of the API, on snapshots that let writers go on, and puts what is to be
//! written into a file without a name: memory does not grow with the list. Only if no line has a mistake the second pass
//! takes the writer, and does nothing there but insert.

mod bookings;
pub(crate) mod cell;
mod logbook;
mod members;
mod reader;
mod stage;

pub(crate) use reader::Mistake;

use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::i18n::language::Text;
use crate::ops::backup::Progress;
use crate::site::Site;
use crate::store::Write;
use reader::{Column, Row, Rows};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stage::Stage;
use std::io::{self, Read};

/// Lines judged on one snapshot: a read may take two seconds at the most, also on a machine that is busy with others.
const LINES_AT_ONCE: usize = 50;
/// Between two words of how far the writing is.
const ROWS_BETWEEN_WORDS: u64 = 500;
/// Rows read at once for an export.
const ROWS_AT_ONCE: i64 = 1_000;
/// More mistakes are counted, and not kept.
const MISTAKES_MAX: usize = 100_000;

/// The kind of rows in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Members,
    Logbook,
    Bookings,
}

/// The number of rows that an import, or its dry run, found new and found known.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct ImportCounts {
    pub new: u64,
    /// Rows that the site has already; they stay as they are.
    pub same: u64,
}

/// Why nothing was taken.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Lines are wrong: the first of the mistakes, and how many there are.
    Mistakes(Vec<Mistake>, u64),
    Failed(Failure),
    /// The list cannot be read, in one line.
    Unreadable(String),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal::Failed(failure)
    }
}

/// The outcome of a line.
enum Judged<R> {
    New(R),
    Same,
    Wrong(Vec<Mistake>),
}

/// How one kind of list is judged and written.
trait List {
    type Row: Serialize + DeserializeOwned;
    const COLUMNS: &'static [Column];
    fn judge(&mut self, site: &Site, tx: &crate::store::Read, row: &Row) -> Result<Judged<Self::Row>, Failure>;
    fn write(&mut self, site: &Site, tx: &Write, row: Self::Row) -> Result<(), Failure>;
    /// Once all rows are written.
    fn finish(&mut self, site: &Site, tx: &Write) -> Result<(), Failure>;
}

/// Takes a list of `bytes` bytes, or (`dry`) only judges it.
pub(crate) fn import(
    site: &Site,
    kind: Kind,
    list: &mut dyn Read,
    bytes: u64,
    dry: bool,
    progress: &mut Progress,
    beside: &dyn Fn(&Write, &ImportCounts) -> Result<(), Failure>,
) -> Result<ImportCounts, Refusal> {
    match kind {
        Kind::Members => take(site, members::Members::new(site)?, list, bytes, dry, progress, beside),
        Kind::Logbook => take(site, logbook::Logbook::new(site.time_zone()?), list, bytes, dry, progress, beside),
        Kind::Bookings => take(site, bookings::Bookings::new(site.time_zone()?), list, bytes, dry, progress, beside),
    }
}

fn take<L: List>(
    site: &Site,
    mut list: L,
    text: &mut dyn Read,
    bytes: u64,
    dry: bool,
    progress: &mut Progress,
    beside: &dyn Fn(&Write, &ImportCounts) -> Result<(), Failure>,
) -> Result<ImportCounts, Refusal> {
    let mut stage =
        Stage::new(&site.config.data).map_err(|e| Refusal::Unreadable(format!("no room to work in: {e}")))?;
    let taken = judge_all(site, &mut list, text, bytes, &mut stage, progress)?;
    if dry || taken.new == 0 {
        return Ok(taken);
    }
    let broken = |e: io::Error| Failure::broken().because(e);
    let mut rows = stage.rows::<L::Row>().map_err(broken)?;
    site.store.write_many(site.now(), |tx| {
        for done in 1..=taken.new {
            let row = rows.next().map_err(broken)?.ok_or_else(Failure::broken)?;
            list.write(site, tx, row)?;
            if done % ROWS_BETWEEN_WORDS == 0 {
                progress("writing", done, taken.new);
            }
        }
        list.finish(site, tx)?;
        beside(tx, &taken)
    })?;
    Ok(taken)
}

/// Every line, with what is to be written on the stage.
fn judge_all<L: List>(
    site: &Site,
    list: &mut L,
    text: &mut dyn Read,
    bytes: u64,
    stage: &mut Stage,
    progress: &mut Progress,
) -> Result<ImportCounts, Refusal> {
    let mut rows = Rows::open(text, L::COLUMNS)?;
    let (mut taken, mut mistakes, mut count) = (ImportCounts::default(), Vec::new(), 0_u64);
    let mut ended = false;
    while !ended {
        let lines = rows.take(LINES_AT_ONCE)?;
        ended = lines.len() < LINES_AT_ONCE;
        let judged = site.store.read(|tx| {
            let judge = |line: Result<Row, Vec<Mistake>>| match line {
                Ok(row) => list.judge(site, tx, &row),
                Err(wrong) => Ok(Judged::Wrong(wrong)),
            };
            lines.into_iter().map(judge).collect::<Result<Vec<_>, Failure>>()
        });
        site.store.release();
        for judged in judged? {
            match judged {
                Judged::New(row) => {
                    taken.new += 1;
                    stage.put(&row).map_err(|e| Refusal::Unreadable(format!("no room to work in: {e}")))?;
                }
                Judged::Same => taken.same += 1,
                Judged::Wrong(wrong) => {
                    count += wrong.len() as u64;
                    mistakes.extend(wrong.into_iter().take(MISTAKES_MAX - mistakes.len().min(MISTAKES_MAX)));
                }
            }
        }
        progress("reading and judging", rows.bytes().min(bytes), bytes);
    }
    if mistakes.is_empty() { Ok(taken) } else { Err(Refusal::Mistakes(mistakes, count)) }
}

/// Writes a list, a part at a time, with moments by the site's clock. The error of `part` ends it.
pub(crate) fn export(
    site: &Site,
    kind: Kind,
    part: &mut dyn FnMut(&str) -> io::Result<()>,
    progress: &mut Progress,
) -> Result<u64, Refusal> {
    let zone = &site.time_zone()?;
    match kind {
        Kind::Members => {
            write_all(site, members::Members::COLUMNS, |tx, after| members::page(tx, zone, after), part, progress)
        }
        Kind::Logbook => {
            let mut openings = logbook::Openings::default();
            write_all(
                site,
                logbook::Logbook::COLUMNS,
                |tx, after| logbook::page(tx, zone, after, &mut openings),
                part,
                progress,
            )
        }
        Kind::Bookings => {
            write_all(site, bookings::Bookings::COLUMNS, |tx, after| bookings::page(tx, zone, after), part, progress)
        }
    }
}

/// Some rows of a table as cells, and the number that they end with; none at the end. With the greatest number there is.
struct Page {
    rows: Vec<Vec<String>>,
    next: Option<i64>,
    last: i64,
}

type Pages<'p> = dyn FnMut(&crate::store::Read, i64) -> Result<Page, Failure> + 'p;

fn write_all(
    site: &Site,
    columns: &[Column],
    mut page: impl FnMut(&crate::store::Read, i64) -> Result<Page, Failure>,
    part: &mut dyn FnMut(&str) -> io::Result<()>,
    progress: &mut Progress,
) -> Result<u64, Refusal> {
    let page: &mut Pages = &mut page;
    let gone = |e: io::Error| Refusal::Unreadable(format!("nobody takes the list: {e}"));
    let headings: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let (mut text, mut after, mut written) = (String::new(), Some(0), 0);
    cell::write_row(&mut text, &headings);
    while let Some(from) = after {
        let found = site.store.read(|tx| page(tx, from))?;
        site.store.release();
        found.rows.iter().for_each(|row| cell::write_row(&mut text, row));
        written += found.rows.len() as u64;
        part(&text).map_err(gone)?;
        text.clear();
        after = found.next;
        progress("writing", after.unwrap_or(found.last).max(0) as u64, found.last.max(0) as u64);
    }
    Ok(written)
}

/// A line's mistakes as what its judge said of its fields.
fn wrong<R>(row: &Row, failure: Failure) -> Result<Judged<R>, Failure> {
    if failure.problems().is_empty() {
        return Err(failure);
    }
    Ok(Judged::Wrong(
        failure.problems().iter().map(|problem| row.mistake(&problem.field, problem.text.in_english())).collect(),
    ))
}

/// One that only the list's judge sees.
fn wrong_field<R>(row: &Row, field: &str, text: &Text) -> Judged<R> {
    Judged::Wrong(vec![row.mistake(field, text.in_english())])
}

/// Fields that only the file can judge.
fn more_problems() -> Fields {
    Fields::new(Default::default())
}
