//! Read and write transactions, which the functions of `tables` and `queries` take.

use crate::domain::audit::{ChainKey, Hash};
use crate::keys::{Part, hex, unhex};
use crate::moment::Moment;
use crate::store::engine::columns::{FromRow, row};
use crate::store::engine::statements::{self, Handle, Statements, Text, WithStatements};
use rusqlite::{Connection, Params, Row, ToSql};
use std::cell::Cell;
use std::ops::ControlFlow;
#[cfg(debug_assertions)]
use std::panic::Location;
use subtle::ConstantTimeEq;

/// What stands between a text and the mark that binds it to its row.
const MARK: char = '#';

/// A read transaction.
pub struct Read<'c> {
    pub(super) conn: &'c Connection,
    /// The connection's cache of prepared statements, where it has one.
    pub(super) statements: Option<&'c Statements>,
    /// The key of the audit log's hashes, and of what binds a value to its row.
    pub(super) chain_key: Option<&'c ChainKey>,
}

/// A write transaction, with the moment that its rows carry. It derefs to [`Read`].
pub struct Write<'c> {
    pub(super) read: Read<'c>,
    pub(super) now: Moment,
    /// Whether a message was queued.
    pub(super) queued: Cell<bool>,
}

impl<'c> Read<'c> {
    /// A transaction on a connection that is not a store's: of a migration, a bulk load or a test.
    pub fn on(conn: &'c Connection) -> Read<'c> {
        Read { conn, statements: None, chain_key: None }
    }

    pub(super) fn of(conn: &'c WithStatements, chain_key: Option<&'c ChainKey>) -> Read<'c> {
        Read { conn, statements: Some(conn.statements()), chain_key }
    }

    #[track_caller]
    fn prepare(&self, sql: Text<'_>) -> rusqlite::Result<Handle<'c>> {
        #[cfg(debug_assertions)]
        crate::store::engine::prepared::note(sql.as_str(), Location::caller());
        statements::prepare(self.conn, self.statements, sql)
    }

    /// The keyed hash that binds a value to its row. `None`: the database was opened without its key.
    pub(super) fn binding(&self, what: &str, row: &[Part], value: &[u8]) -> Option<Hash> {
        self.chain_key.map(|key| key.binding(what, row, value))
    }

    /// Whether `mark` binds a value to this row. Nothing is bound in a database that was opened without its key.
    pub(super) fn is_bound(&self, what: &str, row: &[Part], value: &[u8], mark: Option<&[u8]>) -> bool {
        let ours = self.binding(what, row, value);
        ours.zip(mark).is_some_and(|(ours, mark)| bool::from(ours[..].ct_eq(mark)))
    }

    /// The text of [`Write::bound`]. `None`: the text was written to this row by somebody without the key, copied from
    /// another row for example.
    pub(super) fn unbound(&self, what: &str, row: &[Part], stored: &str) -> Option<String> {
        let (text, mark) = stored.rsplit_once(MARK)?;
        self.is_bound(what, row, text.as_bytes(), unhex(mark).as_deref()).then(|| text.to_owned())
    }

    /// The first row of the result, if there is one.
    #[track_caller]
    pub fn find<'s, T: FromRow>(&self, sql: impl Into<Text<'s>>, params: impl Params) -> rusqlite::Result<Option<T>> {
        let mut statement = self.prepare(sql.into())?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(row).transpose()
    }

    /// The first row of a result that always has one, such as an aggregate's.
    #[track_caller]
    pub fn get<'s, T: FromRow>(&self, sql: impl Into<Text<'s>>, params: impl Params) -> rusqlite::Result<T> {
        self.find(sql, params)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    /// All rows of the result.
    #[track_caller]
    pub fn list<'s, T: FromRow>(&self, sql: impl Into<Text<'s>>, params: impl Params) -> rusqlite::Result<Vec<T>> {
        self.list_with(sql, params, row)
    }

    /// All rows of the result, read by `read`.
    #[track_caller]
    pub fn list_with<'s, T>(
        &self,
        sql: impl Into<Text<'s>>,
        params: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.prepare(sql.into())?.query_map(params, read)?.collect()
    }

    /// Calls `take` with each row until it breaks, so that a long result is never in memory as a whole.
    #[track_caller]
    pub(crate) fn each<'s, T: FromRow>(
        &self,
        sql: impl Into<Text<'s>>,
        params: impl Params,
        mut take: impl FnMut(T) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        self.each_with(sql, params, |found| Ok(take(row(found)?)))
    }

    /// Calls `look` with each row until it breaks.
    #[track_caller]
    pub(crate) fn each_with<'s>(
        &self,
        sql: impl Into<Text<'s>>,
        params: impl Params,
        mut look: impl FnMut(&Row) -> rusqlite::Result<ControlFlow<()>>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.prepare(sql.into())?;
        let mut rows = statement.query(params)?;
        while let Some(found) = rows.next()? {
            if look(found)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl<'c> Write<'c> {
    /// The write transaction of a connection as in [`Read::on`].
    #[cfg(test)]
    pub(crate) fn on(conn: &'c Connection, now: Moment) -> Write<'c> {
        Write::keyed(conn, now, None)
    }

    /// The write transaction of a connection, with the key that binds values to their rows.
    pub(super) fn keyed(conn: &'c Connection, now: Moment, chain_key: Option<&'c ChainKey>) -> Write<'c> {
        Write { read: Read { chain_key, ..Read::on(conn) }, now, queued: Cell::new(false) }
    }

    /// The number of the next row of a table whose numbers are never given twice.
    pub(crate) fn next_number(&self, table: &str) -> rusqlite::Result<i64> {
        self.get(sql!("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = ?1"), [table])
    }

    /// A text with the mark that binds it to its row. See [`Read::unbound`].
    pub(super) fn bound(&self, what: &str, row: &[Part], text: &str) -> String {
        let mark = self.binding(what, row, text.as_bytes());
        mark.map_or_else(|| text.to_owned(), |mark| format!("{text}{MARK}{}", hex(&mark)))
    }

    /// The moment of the transaction, in Unix seconds.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// Wakes the sender of messages after the commit.
    pub(super) fn wake_sender(&self) {
        self.queued.set(true);
    }

    /// Runs a statement and returns how many rows it changed.
    #[track_caller]
    pub fn run<'s>(&self, sql: impl Into<Text<'s>>, params: impl Params) -> rusqlite::Result<usize> {
        self.read.prepare(sql.into())?.execute(params)
    }

    /// Runs `work` and takes back what it changed, so that a request without an effect costs as much as one with.
    pub(crate) fn undone<T, E: From<rusqlite::Error>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let queued = self.queued.get();
        self.run(sql!("SAVEPOINT undone"), [])?;
        let outcome = work();
        self.run(sql!("ROLLBACK TO undone"), [])?;
        self.run(sql!("RELEASE undone"), [])?;
        self.queued.set(queued);
        outcome
    }

    /// Runs an `INSERT` and returns the new row's number.
    #[track_caller]
    pub fn insert<'s>(&self, sql: impl Into<Text<'s>>, params: impl Params) -> rusqlite::Result<i64> {
        self.run(sql, params)?;
        Ok(self.read.conn.last_insert_rowid())
    }
}

impl<'c> std::ops::Deref for Write<'c> {
    type Target = Read<'c>;

    fn deref(&self) -> &Read<'c> {
        &self.read
    }
}

/// The `WHERE` clause of a filter, with the conditions that have a value and no others, so that the planner finds an
/// index.
#[derive(Default)]
pub(super) struct Conditions<'a> {
    conditions: Vec<&'static str>,
    pub(super) params: Vec<(&'static str, &'a dyn ToSql)>,
}

impl<'a> Conditions<'a> {
    /// Adds `condition`, which uses the parameter `name`, where there is a value.
    pub(super) fn when<T: ToSql>(mut self, condition: &'static str, name: &'static str, value: &'a Option<T>) -> Self {
        if let Some(value) = value {
            self.conditions.push(condition);
            self.params.push((name, value));
        }
        self
    }

    pub(super) fn with(mut self, name: &'static str, value: &'a dyn ToSql) -> Self {
        self.params.push((name, value));
        self
    }

    pub(super) fn sql(&self) -> String {
        if self.conditions.is_empty() { "true".to_owned() } else { self.conditions.join(" AND ") }
    }
}
