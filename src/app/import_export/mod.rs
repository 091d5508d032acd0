//! Lists of members, logbook entries and bookings as CSV: export for other programs, and import from a former site.
//!
//! An import is one transaction, and while a server runs, every other write waits for it. So an import has two passes.
//! The first pass reads and validates every line by the rules of the API, on snapshots that do not block writers, and
//! stages the new rows in an unnamed temporary file, so that memory does not grow with the list. The second pass runs
//! only if no line has a mistake; it takes the writer and only inserts.

mod bookings;
pub(crate) mod cell;
mod logbook;
mod members;
pub(crate) mod own_logbook;
mod reader;
mod stage;

pub(crate) use reader::Mistake;

use crate::app::{Change, RankedActor};
use crate::domain::audit::Detail;
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::i18n::language::{Language, Text};
use crate::ops::Progress;
use crate::site::Site;
use crate::store::{Read, Write};
use cell::Separator;
use reader::{Column, Row, Rows};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stage::Stage;
use std::io;

/// Lines validated on one snapshot: a read may take two seconds at most, even on a busy machine.
const LINES_AT_ONCE: usize = 50;
/// Written rows between two progress reports.
const ROWS_BETWEEN_WORDS: u64 = 500;
/// Rows of one read for an export.
const ROWS_AT_ONCE: i64 = 1_000;
/// Mistakes beyond this number are counted, but not kept.
const MISTAKES_MAX: usize = 100_000;

/// The kind of rows in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Members,
    Logbook,
    Bookings,
}

/// The number of rows that an import, or its dry run, found new, changed and unchanged.
#[derive(Debug, Default, Clone)]
pub(crate) struct ImportCounts {
    pub new: u64,
    /// Rows that change what the site has.
    pub changed: u64,
    /// Rows that the site has already; they stay unchanged.
    pub same: u64,
    /// Each change, up to [`MISTAKES_MAX`].
    pub changes: Vec<Difference>,
    /// The new members with a role above `member`.
    pub roles: Vec<GivenRole>,
}

/// A role above `member` that a list gives.
#[derive(Debug, Clone)]
pub(crate) struct GivenRole {
    pub role: Role,
    pub username: String,
    /// `None`: the member is not written yet.
    pub member_id: Option<MemberId>,
}

/// A value that a list changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    pub line: u64,
    /// Which row of the site.
    pub of: String,
    pub field: &'static str,
    pub from: String,
    pub to: String,
}

/// What an import, or its dry run, does with one line.
#[derive(Debug)]
pub(crate) struct SeenRow {
    pub line: u64,
    /// The value of the list's first column; empty where the line cannot be read.
    pub of: String,
    pub fate: Fate,
}

#[derive(Debug)]
pub(crate) enum Fate {
    New,
    Changed(Vec<Difference>),
    Same,
    Wrong(Vec<Mistake>),
}

/// What goes on beside an import.
pub(crate) struct Attention<'a> {
    pub progress: &'a mut Progress<'a>,
    /// Runs in the transaction of an import, after its rows are written, as a change by this actor.
    pub beside: Option<(&'a RankedActor, &'a Beside<'a>)>,
    /// Sees each line in turn.
    pub look: Option<&'a mut dyn FnMut(SeenRow)>,
}

/// An effect of an import beside its rows.
pub(crate) type Beside<'a> = dyn Fn(&Change, &ImportCounts) -> Result<(), Failure> + 'a;

/// What an import may do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mode {
    /// Only validate the list.
    pub dry: bool,
    /// Change known members where the list has other values.
    pub update: bool,
    /// Give roles above `member`.
    pub roles: bool,
}

/// Why an import was refused as a whole.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Lines are wrong: the first mistakes, and the total number of mistakes.
    Mistakes(Vec<Mistake>, u64),
    Failed(Failure),
    /// The list cannot be read: one line.
    Unreadable(Text),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal::Failed(failure)
    }
}

/// The result of validating a line.
enum Judged<R> {
    New(R),
    Changed(R, Vec<Difference>),
    Same,
    Wrong(Vec<Mistake>),
}

/// How one kind of list is validated and written.
trait List {
    type Row: Serialize + DeserializeOwned;
    const COLUMNS: &'static [Column];
    fn judge(&mut self, site: &Site, tx: &Read, row: &Row) -> Result<Judged<Self::Row>, Failure>;
    fn write(&mut self, site: &Site, tx: &Write, row: Self::Row) -> Result<(), Failure>;
    /// Runs once all rows are written.
    fn finish(&mut self, site: &Site, tx: &Write) -> Result<(), Failure>;
    /// The roles above `member` among the new rows.
    fn roles(&self) -> &[GivenRole] {
        &[]
    }
}

/// Imports a list of `bytes` bytes.
pub(crate) fn import(
    site: &Site,
    kind: Kind,
    list: &mut dyn io::Read,
    bytes: u64,
    mode: Mode,
    attention: Attention,
) -> Result<ImportCounts, Refusal> {
    match kind {
        Kind::Members => take(site, members::Members::new(site, mode)?, list, bytes, mode.dry, attention),
        Kind::Logbook => take(site, logbook::Logbook::new(site.time_zone()?), list, bytes, mode.dry, attention),
        Kind::Bookings => take(site, bookings::Bookings::new(site.time_zone()?), list, bytes, mode.dry, attention),
    }
}

/// Each line of a list with what an import would do with it. A refusal here is of the list as a whole.
pub(crate) fn preview(site: &Site, kind: Kind, list: &[u8], mode: Mode) -> Result<Vec<SeenRow>, Refusal> {
    let mut rows: Vec<SeenRow> = Vec::new();
    let mut look = |row| rows.push(row);
    let attention = Attention { progress: &mut |_, _, _| {}, beside: None, look: Some(&mut look) };
    let outcome = import(site, kind, &mut &*list, list.len() as u64, Mode { dry: true, ..mode }, attention);
    match outcome {
        Ok(_) => Ok(rows),
        Err(Refusal::Mistakes(mistakes, count)) if rows.is_empty() => Err(Refusal::Mistakes(mistakes, count)),
        Err(Refusal::Mistakes(mistakes, _)) => {
            // A quote that is never closed ends the list: its line was not seen as a row.
            let last = rows.last().map_or(0, |row| row.line);
            let beyond = mistakes.into_iter().filter(|mistake| mistake.line > last);
            let beyond = beyond.map(|one| SeenRow { line: one.line, of: String::new(), fate: Fate::Wrong(vec![one]) });
            Ok(rows.into_iter().chain(beyond.collect::<Vec<_>>()).collect())
        }
        Err(other) => Err(other),
    }
}

/// The audit row's detail of an import: how many rows, and the numbers of the members who got a role above `member`, by role.
pub(crate) fn audit_detail(taken: &ImportCounts) -> Detail {
    let with_count = Detail::none().number("count", (taken.new + taken.changed) as i64);
    Role::ALL.into_iter().fold(with_count, |detail, role| {
        let of_role = taken.roles.iter().filter(|given| given.role == role);
        let members: Vec<_> = of_role.filter_map(|given| given.member_id).collect();
        if members.is_empty() { detail } else { detail.numbers(role.name(), &members) }
    })
}

fn take<L: List>(
    site: &Site,
    mut list: L,
    text: &mut dyn io::Read,
    bytes: u64,
    dry: bool,
    attention: Attention,
) -> Result<ImportCounts, Refusal> {
    let Attention { progress, beside, look } = attention;
    let mut stage = Stage::new(&site.config.data).map_err(no_room)?;
    let mut taken = judge_all(site, &mut list, (text, bytes), &mut stage, progress, look)?;
    let rows_to_write = taken.new + taken.changed;
    if dry || rows_to_write == 0 {
        return Ok(taken);
    }
    let broken = |e: io::Error| Failure::broken().because(e);
    let mut rows = stage.rows::<L::Row>().map_err(broken)?;
    site.store.write_many(site.now(), |tx| {
        for done in 1..=rows_to_write {
            let row = rows.next().map_err(broken)?.ok_or_else(Failure::broken)?;
            list.write(site, tx, row)?;
            if done % ROWS_BETWEEN_WORDS == 0 {
                progress("writing", done, rows_to_write);
            }
        }
        list.finish(site, tx)?;
        taken.roles = list.roles().to_vec();
        beside.map_or(Ok(()), |(actor, effect)| effect(&actor.change(site, tx, Language::default()), &taken))
    })?;
    Ok(taken)
}

fn no_room(e: io::Error) -> Refusal {
    Refusal::Unreadable(Text::new("list_file.no_room").with("cause", e))
}

/// What a judged line is to whoever looks.
fn seen<R>(line: u64, of: &str, judged: &Judged<R>) -> SeenRow {
    let fate = match judged {
        Judged::New(_) => Fate::New,
        Judged::Changed(_, differences) => Fate::Changed(differences.clone()),
        Judged::Same => Fate::Same,
        Judged::Wrong(mistakes) => Fate::Wrong(mistakes.clone()),
    };
    SeenRow { line, of: of.to_owned(), fate }
}

/// Validates every line, and stages the new rows.
fn judge_all<L: List>(
    site: &Site,
    list: &mut L,
    (text, bytes): (&mut dyn io::Read, u64),
    stage: &mut Stage,
    progress: &mut Progress,
    mut look: Option<&mut dyn FnMut(SeenRow)>,
) -> Result<ImportCounts, Refusal> {
    let mut rows = Rows::open(text, L::COLUMNS)?;
    let (mut taken, mut mistakes, mut count) = (ImportCounts::default(), Vec::new(), 0_u64);
    let mut ended = false;
    while !ended {
        let lines = rows.take(LINES_AT_ONCE)?;
        ended = lines.len() < LINES_AT_ONCE;
        let judged = site.store.read(|tx| {
            let judge = |line: Result<Row, Vec<Mistake>>| match line {
                Ok(row) => Ok((row.line(), row.value(L::COLUMNS[0].name).to_owned(), list.judge(site, tx, &row)?)),
                Err(wrong) => Ok((wrong.first().map_or(0, |one| one.line), String::new(), Judged::Wrong(wrong))),
            };
            lines.into_iter().map(judge).collect::<Result<Vec<_>, Failure>>()
        });
        site.store.release();
        for (line, of, judged) in judged? {
            if let Some(look) = &mut look {
                look(seen(line, &of, &judged));
            }
            match judged {
                Judged::New(row) => {
                    taken.new += 1;
                    stage.append(&row).map_err(no_room)?;
                }
                Judged::Changed(row, differences) => {
                    taken.changed += 1;
                    stage.append(&row).map_err(no_room)?;
                    let room = MISTAKES_MAX - taken.changes.len().min(MISTAKES_MAX);
                    taken.changes.extend(differences.into_iter().take(room));
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
    taken.roles = list.roles().to_vec();
    if mistakes.is_empty() { Ok(taken) } else { Err(Refusal::Mistakes(mistakes, count)) }
}

/// Exports a list page by page, with moments in the site's time zone. An error of `part` ends the export.
pub(crate) fn export(
    site: &Site,
    kind: Kind,
    separator: Separator,
    part: &mut dyn FnMut(&str) -> io::Result<()>,
    progress: &mut Progress,
) -> Result<u64, Refusal> {
    let zone = site.time_zone()?;
    match kind {
        Kind::Members => write_all(site, members::Table::new(zone, separator), separator, part, progress),
        Kind::Logbook => write_all(site, logbook::Table::new(zone, separator), separator, part, progress),
        Kind::Bookings => write_all(site, bookings::Table::new(zone, separator), separator, part, progress),
    }
}

/// How one kind of list is exported.
trait Table {
    const COLUMNS: &'static [Column];
    /// The greatest number of a row.
    fn last(tx: &Read) -> Result<i64, Failure>;
    /// Writes the rows after a number, [`ROWS_AT_ONCE`] at most, and adds the number of each to `written`.
    fn write(&mut self, tx: &Read, after: i64, text: &mut String, written: &mut Written) -> Result<(), Failure>;
}

/// The rows written so far.
#[derive(Default)]
struct Written {
    count: u64,
    /// The number of the last row.
    last: i64,
}

impl Written {
    fn add(&mut self, number: impl Into<i64>) {
        (self.count, self.last) = (self.count + 1, number.into());
    }
}

fn write_all<T: Table>(
    site: &Site,
    mut table: T,
    separator: Separator,
    part: &mut dyn FnMut(&str) -> io::Result<()>,
    progress: &mut Progress,
) -> Result<u64, Refusal> {
    let failed = |e: io::Error| Refusal::Unreadable(Text::new("list_file.unwritable").with("cause", e));
    let headings: Vec<&str> = T::COLUMNS.iter().map(|column| column.name).collect();
    let (mut text, mut written) = (separator.headings(&headings), Written::default());
    loop {
        let before = written.count;
        let last = site.store.read(|tx| {
            table.write(tx, written.last, &mut text, &mut written)?;
            T::last(tx)
        })?;
        site.store.release();
        part(&text).map_err(failed)?;
        text.clear();
        let is_end = written.count - before < ROWS_AT_ONCE as u64;
        progress("writing", if is_end { last } else { written.last } as u64, last as u64);
        if is_end {
            return Ok(written.count);
        }
    }
}

/// Converts the field errors of a failure into mistakes of a line.
fn wrong<R>(row: &Row, failure: Failure) -> Result<Judged<R>, Failure> {
    if failure.problems().is_empty() {
        return Err(failure);
    }
    Ok(Judged::Wrong(
        failure.problems().iter().map(|problem| row.mistake(&problem.field, problem.text.clone())).collect(),
    ))
}

/// A mistake that only the validation of the list finds.
fn wrong_field<R>(row: &Row, field: &str, text: &Text) -> Judged<R> {
    Judged::Wrong(vec![row.mistake(field, text.clone())])
}

/// An empty collector for mistakes that are found with the database.
fn more_problems() -> Fields {
    Fields::new(Default::default())
}
