//! Lists: rows under headings for people, an array for machines.

use super::shell::Shell;
use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt::{self, Display, Formatter};

/// A row of a list.
pub(super) trait Row {
    const HEADINGS: &'static [&'static str];

    /// A text under each heading.
    fn cells(&self) -> Vec<String>;

    fn value(&self) -> Value;
}

/// A list, which a command returns.
pub(super) struct Table<R> {
    rows: Vec<R>,
    /// Rows that people see.
    shown_max: usize,
    /// The sentence in place of a table without rows; `None`: the headings alone.
    when_empty: Option<String>,
    foot: String,
    /// The name of the array and what stands beside it, where the list is one part of an object.
    part: Option<(&'static str, Map<String, Value>)>,
}

impl<R: Row> Table<R> {
    pub(super) fn new(rows: Vec<R>) -> Table<R> {
        Table { rows, shown_max: usize::MAX, when_empty: None, foot: String::new(), part: None }
    }

    pub(super) fn shown_max(self, shown_max: usize) -> Table<R> {
        Table { shown_max, ..self }
    }

    pub(super) fn when_empty(self, text: impl Into<String>) -> Table<R> {
        Table { when_empty: Some(text.into()), ..self }
    }

    /// Sets the text that directly follows the last row.
    pub(super) fn foot(self, foot: impl Into<String>) -> Table<R> {
        Table { foot: foot.into(), ..self }
    }

    /// Sets a line below the table, which stands alone where the table has no rows.
    pub(super) fn total(self, line: impl Into<String>) -> Table<R> {
        let line = line.into();
        let foot = format!("{}\n\n{line}", self.foot);
        self.foot(foot).when_empty(line)
    }

    /// Makes the rows the part `name` of a JSON object that also has the values `beside`.
    pub(super) fn part(self, name: &'static str, beside: Value) -> Table<R> {
        let Value::Object(beside) = beside else { return self };
        Table { part: Some((name, beside)), ..self }
    }

    /// The rows are one page of a list of `total` rows: the foot says how many rows come after it, and how to list
    /// them.
    pub(super) fn page_of(self, total: i64, part: &RowRange) -> Table<R> {
        let next = part.offset.saturating_add(self.rows.len() as i64);
        match total - next {
            more @ 1.. if !self.rows.is_empty() => {
                self.foot(format!("\n… and {more} more: --offset {next}, or a larger --limit"))
            }
            _ => self,
        }
    }
}

impl<R: Row> Serialize for Table<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.rows.iter().map(Row::value);
        let Some((name, beside)) = &self.part else { return serializer.collect_seq(rows) };
        let mut object = beside.clone();
        object.insert((*name).to_owned(), rows.collect());
        object.serialize(serializer)
    }
}

impl<R: Row> Display for Table<R> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        if let (true, Some(text)) = (self.rows.is_empty(), &self.when_empty) {
            return f.write_str(text);
        }
        let rows: Vec<_> = self.rows.iter().take(self.shown_max).map(Row::cells).collect();
        f.write_str(&in_columns(R::HEADINGS, &rows))?;
        if self.rows.len() > self.shown_max {
            write!(f, "\n… and {} more", self.rows.len() - self.shown_max)?;
        }
        f.write_str(&self.foot)
    }
}

/// Characters of a cell that are shown.
const CELL_CHARS_MAX: usize = 300;

/// The text of a cell without characters that would move the cursor or break the line, and not longer than a screen.
fn shown(cell: &str) -> String {
    let mut chars = cell.chars().map(|c| if c.is_control() { '?' } else { c });
    let text: String = chars.by_ref().take(CELL_CHARS_MAX).collect();
    if chars.next().is_some() { text + "…" } else { text }
}

/// Rows under headings, in columns as wide as they need to be.
fn in_columns(headings: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect()).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(headings[column].len())
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect::<Vec<_>>();
        padded.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(headings.to_vec())];
    lines.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    lines.join("\n")
}

/// Which part of a list is asked for.
#[derive(Args)]
pub(super) struct RowRange {
    /// Rows to list; with --json all, unless it is said
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: Option<i64>,
    /// Rows to pass over first
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    pub offset: i64,
}

impl RowRange {
    /// The limit of the list: without `--limit`, `usual` rows for people, and all rows for JSON.
    pub(super) fn limit(&self, site: &Shell, usual: i64) -> i64 {
        self.limit.unwrap_or(if site.lists_all() { i64::MAX } else { usual })
    }
}
