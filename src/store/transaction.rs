//! A transaction that reads, and one that writes: what the functions of tables and queries take.

use crate::domain::audit::ChainKey;
use crate::store::engine::statements::{self, Handle, Statements, Text, WithStatements};
use rusqlite::{Connection, Params, Row, ToSql};
use std::cell::Cell;
use std::ops::ControlFlow;
#[cfg(debug_assertions)]
use std::panic::Location;

/// A read transaction.
pub struct Read<'c> {
    pub(super) conn: &'c Connection,
    /// Those that the connection keeps, where it keeps any.
    pub(super) statements: Option<&'c Statements>,
}

/// A write transaction: reads too, and carries the moment that all its rows bear.
pub struct Write<'c> {
    pub(super) read: Read<'c>,
    pub(super) now: i64,
    /// The audit log's.
    pub(super) chain_key: Option<&'c ChainKey>,
    /// Whether it put a message in line.
    pub(super) queued: Cell<bool>,
}

impl<'c> Read<'c> {
    /// A transaction over a connection that is not a store's: migrations, bulk loads, tests.
    pub fn on(conn: &'c Connection) -> Read<'c> {
        Read { conn, statements: None }
    }

    pub(super) fn of(conn: &'c WithStatements) -> Read<'c> {
        Read { conn, statements: Some(conn.statements()) }
    }

    #[track_caller]
    fn prepare(&self, sql: Text<'_>) -> rusqlite::Result<Handle<'c>> {
        #[cfg(debug_assertions)]
        crate::store::engine::prepared::note(sql.as_str(), Location::caller());
        statements::prepare(self.conn, self.statements, sql)
    }

    /// The one row that the statement finds, if there is one.
    #[track_caller]
    pub fn find<'s, T>(
        &self,
        sql: impl Into<Text<'s>>,
        params: impl Params,
        row: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        let mut statement = self.prepare(sql.into())?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(row).transpose()
    }

    /// The one row that an aggregate or a key that is known to exist gives.
    #[track_caller]
    pub fn get<'s, T>(
        &self,
        sql: impl Into<Text<'s>>,
        params: impl Params,
        row: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.find(sql, params, row)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    /// Every row that the statement gives, read by `row`.
    #[track_caller]
    pub fn list<'s, T>(
        &self,
        sql: impl Into<Text<'s>>,
        params: impl Params,
        row: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.prepare(sql.into())?.query_map(params, row)?.collect()
    }
}

impl Read<'_> {
    /// Hands over each row as it is read, until `take` breaks off: no long list has to be in memory as a whole.
    #[track_caller]
    pub(crate) fn each<'s, T>(
        &self,
        sql: impl Into<Text<'s>>,
        params: impl Params,
        mut row: impl FnMut(&Row) -> rusqlite::Result<T>,
        mut take: impl FnMut(T) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.prepare(sql.into())?;
        let mut rows = statement.query(params)?;
        while let Some(found) = rows.next()? {
            if take(row(found)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl<'c> Write<'c> {
    /// See [`Read::on`].
    pub(crate) fn on(conn: &'c Connection, now: i64) -> Write<'c> {
        Write { read: Read::on(conn), now, chain_key: None, queued: Cell::new(false) }
    }

    /// The moment of the transaction, in Unix seconds.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Has the sender of messages woken once this is committed.
    pub(super) fn wake_sender(&self) {
        self.queued.set(true);
    }

    /// Runs a statement and returns how many rows it changed.
    #[track_caller]
    pub fn run<'s>(&self, sql: impl Into<Text<'s>>, params: impl Params) -> rusqlite::Result<usize> {
        self.read.prepare(sql.into())?.execute(params)
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

/// The conditions of a report: only those that are asked for, so that each meets its index.
#[derive(Default)]
pub(super) struct Conditions<'a> {
    conditions: Vec<&'static str>,
    pub(super) params: Vec<(&'static str, &'a dyn ToSql)>,
}

impl<'a> Conditions<'a> {
    /// `condition` speaks of `name`, and counts when there is a value.
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
