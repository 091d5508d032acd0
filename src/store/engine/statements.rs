//! The cache of a connection's prepared statements. The cache of rusqlite copies, hashes and compares the text of a
//! statement at each call; here each constant statement has a number, by which a connection finds it.

use rusqlite::{CachedStatement, Connection, Params, PrepFlags, Result, Statement};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Statements that one connection caches; the least recently used are dropped first.
pub(super) const CACHED_MAX: usize = 128;

/// A constant statement; made by `sql!`.
pub struct Sql {
    text: &'static str,
    /// The number of the statement, given at its first use; 0: none yet.
    number: AtomicUsize,
}

/// The text of a statement.
#[derive(Clone, Copy)]
pub enum Text<'s> {
    /// A constant statement, prepared once a connection.
    Constant(&'static Sql),
    /// Built at run time.
    Built(&'s str),
}

/// A connection and its cache of prepared statements.
pub(crate) struct WithStatements {
    /// Declared before `conn`, so that the statements are dropped before their connection.
    statements: Statements,
    /// Boxed, so that the address that the statements refer to does not change.
    conn: Box<Connection>,
}

#[derive(Default)]
pub(crate) struct Statements(RefCell<Cache>);

#[derive(Default)]
struct Cache {
    /// The cached statements, by number.
    slots: Vec<Option<Slot>>,
    count: usize,
    /// How many times a statement was returned.
    returns: u64,
}

struct Slot {
    statement: Box<Statement<'static>>,
    /// The value of `returns` at its last use.
    used_at: u64,
}

/// A statement in use. A constant one returns to the cache when this is dropped.
pub(crate) enum Handle<'c> {
    Constant { statement: Option<Box<Statement<'c>>>, number: usize, home: &'c Statements },
    Built(CachedStatement<'c>),
}

// SAFETY: the statements move to another thread only together with their connection, which is `Send`.
unsafe impl Send for Statements {}

impl Sql {
    pub(crate) const fn new(text: &'static str) -> Sql {
        Sql { text, number: AtomicUsize::new(0) }
    }

    #[cfg(test)]
    pub(crate) const fn text(&self) -> &'static str {
        self.text
    }

    fn number(&self) -> usize {
        match self.number.load(Ordering::Relaxed) {
            0 => self.take_number(),
            number => number,
        }
    }

    #[cold]
    fn take_number(&self) -> usize {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        match self.number.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => number,
            Err(taken) => taken,
        }
    }
}

impl From<&'static Sql> for Text<'_> {
    fn from(sql: &'static Sql) -> Self {
        Text::Constant(sql)
    }
}

impl<'s> From<&'s str> for Text<'s> {
    fn from(sql: &'s str) -> Text<'s> {
        Text::Built(sql)
    }
}

impl<'s> From<&'s String> for Text<'s> {
    fn from(sql: &'s String) -> Text<'s> {
        Text::Built(sql)
    }
}

impl<'s> Text<'s> {
    /// The SQL.
    pub fn as_str(self) -> &'s str {
        match self {
            Text::Constant(sql) => sql.text,
            Text::Built(text) => text,
        }
    }
}

impl WithStatements {
    pub(crate) fn of(conn: Connection) -> WithStatements {
        WithStatements { statements: Statements::default(), conn: Box::new(conn) }
    }

    pub(crate) fn statements(&self) -> &Statements {
        &self.statements
    }

    /// Runs a constant statement and returns how many rows it changed.
    pub(crate) fn run(&self, sql: &'static Sql, params: impl Params) -> Result<usize> {
        prepare(&self.conn, Some(&self.statements), sql.into())?.execute(params)
    }
}

impl Deref for WithStatements {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.conn
    }
}

/// Prepares a statement, or takes it from `statements`, the connection's cache where it has one.
pub(crate) fn prepare<'c>(
    conn: &'c Connection,
    statements: Option<&'c Statements>,
    sql: Text<'_>,
) -> Result<Handle<'c>> {
    let (Text::Constant(sql), Some(home)) = (sql, statements) else {
        return conn.prepare_cached(sql.as_str()).map(Handle::Built);
    };
    let number = sql.number();
    let statement = match home.take(number) {
        Some(statement) => statement,
        None => Box::new(conn.prepare_with_flags(sql.text, PrepFlags::SQLITE_PREPARE_PERSISTENT)?),
    };
    Ok(Handle::Constant { statement: Some(statement), number, home })
}

impl Statements {
    fn take(&self, number: usize) -> Option<Box<Statement<'static>>> {
        let mut cache = self.0.borrow_mut();
        let slot = cache.slots.get_mut(number)?.take()?;
        cache.count -= 1;
        Some(slot.statement)
    }

    fn give_back(&self, number: usize, mut statement: Box<Statement<'_>>) {
        // Bound values may be large, and personal data.
        statement.clear_bindings();
        // SAFETY: the statement belongs to the connection of this cache, is dropped before it, and is lent for no longer
        // than both are borrowed.
        let statement = unsafe { std::mem::transmute::<Box<Statement<'_>>, Box<Statement<'static>>>(statement) };
        let mut cache = self.0.borrow_mut();
        if cache.count >= CACHED_MAX {
            cache.drop_oldest();
        }
        if cache.slots.len() <= number {
            cache.slots.resize_with(number + 1, || None);
        }
        cache.returns += 1;
        let used_at = cache.returns;
        // The same statement may have been in use twice, and be in the cache already.
        if cache.slots[number].replace(Slot { statement, used_at }).is_none() {
            cache.count += 1;
        }
    }
}

impl Cache {
    fn drop_oldest(&mut self) {
        let oldest = self.slots.iter_mut().filter(|slot| slot.is_some());
        if let Some(slot) = oldest.min_by_key(|slot| slot.as_ref().map(|slot| slot.used_at)) {
            *slot = None;
            self.count -= 1;
        }
    }
}

impl<'c> Deref for Handle<'c> {
    type Target = Statement<'c>;

    fn deref(&self) -> &Statement<'c> {
        match self {
            Handle::Constant { statement, .. } => statement.as_ref().expect("it is in use"),
            Handle::Built(statement) => statement,
        }
    }
}

impl<'c> DerefMut for Handle<'c> {
    fn deref_mut(&mut self) -> &mut Statement<'c> {
        match self {
            Handle::Constant { statement, .. } => statement.as_mut().expect("it is in use"),
            Handle::Built(statement) => statement,
        }
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        if let Handle::Constant { statement, number, home } = self
            && let Some(statement) = statement.take()
        {
            home.give_back(*number, statement);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(conn: &WithStatements) -> usize {
        conn.statements.0.borrow().count
    }

    fn find(conn: &WithStatements, sql: &'static Sql, value: i64) -> i64 {
        let mut statement = prepare(conn, Some(conn.statements()), sql.into()).unwrap();
        statement.query_row([value], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_constant_statement_is_prepared_once_and_its_bindings_are_cleared() {
        static DOUBLED: Sql = Sql::new("SELECT 2 * ?1");
        static BOUND: Sql = Sql::new("SELECT ?1 IS NULL");
        let conn = WithStatements::of(Connection::open_in_memory().unwrap());
        assert_eq!((find(&conn, &DOUBLED, 4), find(&conn, &DOUBLED, 5), find(&conn, &BOUND, 1)), (8, 10, 0));
        assert_eq!(count(&conn), 2);
        let handle = |sql| prepare(&conn, Some(conn.statements()), Text::Constant(sql)).unwrap();
        let address = |handle: &Handle| std::ptr::from_ref::<Statement>(handle).addr();
        let first = handle(&DOUBLED);
        let known = address(&first);
        drop(first);
        assert_eq!(address(&handle(&DOUBLED)), known);
        assert!(handle(&BOUND).raw_query().next().unwrap().unwrap().get::<_, bool>(0).unwrap());
    }

    #[test]
    fn a_statement_in_use_is_prepared_a_second_time_and_cached_once() {
        static TWO_ROWS: Sql = Sql::new("VALUES (1), (2)");
        let conn = WithStatements::of(Connection::open_in_memory().unwrap());
        let all = || {
            let mut statement = prepare(&conn, Some(conn.statements()), Text::Constant(&TWO_ROWS)).unwrap();
            statement.query_map([], |row| row.get::<_, i64>(0)).unwrap().map(Result::unwrap).collect::<Vec<_>>()
        };
        let mut outer = prepare(&conn, Some(conn.statements()), Text::Constant(&TWO_ROWS)).unwrap();
        let mut rows = outer.query([]).unwrap();
        while rows.next().unwrap().is_some() {
            assert_eq!(all(), [1, 2]);
        }
        drop(rows);
        drop(outer);
        assert_eq!((all(), count(&conn)), (vec![1, 2], 1));
    }

    #[test]
    fn the_cache_is_bounded_and_drops_the_least_recently_used() {
        let conn = WithStatements::of(Connection::open_in_memory().unwrap());
        let all: Vec<&'static Sql> =
            (0..CACHED_MAX + 10).map(|_| &*Box::leak(Box::new(Sql::new("SELECT ?1")))).collect();
        for (value, sql) in (0..).zip(&all) {
            assert_eq!(find(&conn, sql, value), value);
            find(&conn, all[0], 0);
        }
        assert_eq!(count(&conn), CACHED_MAX);
        let is_kept = |sql: &Sql| conn.statements.0.borrow().slots[sql.number()].is_some();
        assert!(is_kept(all[0]) && !is_kept(all[1]) && is_kept(all.last().unwrap()));
    }
}
