//! How far the history went upstream, and what the receiver refused of it.

use crate::store::engine::columns::row;
use crate::store::{Read, Write};
use rusqlite::Result;
use serde::{Deserialize, Serialize};

row! {
    /// Moments in Unix seconds; numbers are `seq` of the history.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct State {
        /// Whom the rest speaks of, without credentials.
        pub upstream: String,
        /// Every row up to this one was taken or refused.
        pub cursor: i64,
        /// The last one that the receiver has.
        pub held: i64,
        /// The highest that ever left.
        pub offered: i64,
        /// The end of a batch whose fate is not known; 0: there is none.
        pub pending: i64,
        /// Rows refused since the receiver last took one.
        pub refused_run: i64,
        /// Tries in a row that came to nothing.
        pub misses: i64,
        /// Why the last try came to nothing; empty: it did not.
        pub trouble: String,
        /// When something was last offered.
        pub tried_at: Option<i64>,
        /// When something was last taken.
        pub taken_at: Option<i64>,
        /// Batches that were taken.
        pub batches: i64,
        /// Rows that were taken.
        pub rows: i64,
        /// Rows that got new numbers because the file was put back.
        pub renumbered: i64,
        /// When that happened last.
        pub renumbered_at: Option<i64>,
    } saved
}

row! {
    /// A row that the receiver does not take as it is.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Refused {
        /// The row's number.
        pub seq: i64,
        /// When it was refused first, in Unix seconds.
        pub refused_at: i64,
        /// When it was offered last, in Unix seconds.
        pub tried_at: i64,
        /// How often it was offered.
        pub tries: i64,
        /// The receiver's error.
        pub error: String,
    } saved
}

/// As it is before anything was sent, where nothing was.
pub fn find(tx: &Read) -> Result<State> {
    let sql = sql!("SELECT ", State::COLUMNS, " FROM sync WHERE only = 1");
    let state = tx.find(sql, [], row)?;
    Ok(state.unwrap_or_default())
}

/// The state in place of the one before.
pub fn replace(tx: &Write, state: &State) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO sync" State: state, { only: 1 })
}

/// Whether it was refused before or not.
pub(crate) fn replace_refused(tx: &Write, refused: &Refused) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO sync_refused" Refused: refused, {})
}

/// Deletes the refused rows after `after` up to `last`, which the receiver has taken now.
pub(crate) fn delete_refused(tx: &Write, after: i64, last: i64) -> Result<usize> {
    tx.run(sql!("DELETE FROM sync_refused WHERE seq > ?1 AND seq <= ?2"), [after, last])
}

/// The refused rows whose last try was before that moment, oldest row first.
pub(crate) fn list_refused(tx: &Read, tried_before: i64, limit: i64) -> Result<Vec<Refused>> {
    let sql = sql!("SELECT ", Refused::COLUMNS, " FROM sync_refused WHERE tried_at < ?1 ORDER BY seq LIMIT ?2");
    tx.list(sql, [tried_before, limit], row)
}

/// How many rows the receiver does not take.
pub fn count_refused(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM sync_refused"), [], row)
}
