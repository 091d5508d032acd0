//! A check of every page of a file, without its rows.

use super::{connection, data_dir, repair};
use crate::store::db_error::is_of_bad_page;
use rusqlite::{Connection, ErrorCode};
use std::path::Path;
use std::time::{Duration, Instant};

/// SQLite's virtual machine steps between two checks of the time limit.
pub(super) const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// The message for a page that fails its checksum, which SQLite itself does not know.
pub(super) const BAD_PAGE: &str = "a page is not what was written there";

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sound,
    /// The time limit was reached.
    Unfinished,
    Damaged(String),
}

/// Checks every page of a table and its indexes, or of the whole database. Does not compare rows with indexes.
pub(crate) fn check_connection(
    mut conn: Connection,
    table: Option<&str>,
    time_max: Duration,
) -> rusqlite::Result<Verdict> {
    let since = Instant::now();
    conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || since.elapsed() > time_max))?;
    let of = table.map_or_else(|| "1".to_owned(), |table| format!("'{}'", table.replace('\'', "''")));
    match conn.query_row(&format!("PRAGMA quick_check({of})"), [], |row| row.get::<_, String>(0)) {
        Ok(said) if said == "ok" => Ok(Verdict::Sound),
        Ok(said) => {
            // A page that fails its checksum explains the other lines.
            let line = said.lines().find(|line| repair::names_bad_page(line)).or_else(|| said.lines().last());
            Ok(Verdict::Damaged(line.unwrap_or(&said).to_owned()))
        }
        Err(e) => match e.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Ok(Verdict::Unfinished),
            // The statement is valid, so an unknown error comes from what it reads, such as the search index.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
                Ok(Verdict::Damaged(e.to_string()))
            }
            _ if is_of_bad_page(&e) => Ok(Verdict::Damaged(message(&e))),
            _ => Err(e),
        },
    }
}

/// Whether the WAL is empty, as after a clean stop.
pub(crate) fn wal_is_empty(path: &Path) -> bool {
    std::fs::metadata(data_dir::wal_of(path)).map_or(0, |wal| wal.len()) == 0
}

/// Whether the database file is sound without its WAL. Reads all of it without a time limit, because the answer decides
/// whether the WAL is refused.
pub(crate) fn is_sound_alone(path: &Path) -> bool {
    let verdict = connection::open_immutable(path).and_then(|conn| check_connection(conn, None, Duration::MAX));
    matches!(verdict, Ok(Verdict::Sound))
}

pub(super) fn message(e: &rusqlite::Error) -> String {
    if is_of_bad_page(e) { BAD_PAGE.to_owned() } else { e.to_string() }
}

/// A line of a check about a page that failed its checksum, in words: "page 265 is not what was written there".
pub(super) fn page_in_words(line: &str) -> String {
    let page = line.split_once(" page ").and_then(|(_, rest)| rest.split_once(':'));
    page.map_or_else(|| BAD_PAGE.to_owned(), |(page, _)| format!("page {page} is not what was written there"))
}
