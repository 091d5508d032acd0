//! The progress of the sync: how far the history was sent upstream, and the rows that the receiver refused.

use crate::moment::Moment;
use crate::store::personal::{Table, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::Result;
use serde::{Deserialize, Serialize};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::nobodys(
        "sync",
        &[not_personal("upstream", "a server's name"), not_personal("trouble", "what a server said of the connection")],
    ),
    Table::new("sync_refused", "seq", &[searched("error")], &[]),
];

row! {
    /// The progress of the sync. Moments are Unix seconds; numbers are `seq` of the history.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct State {
        /// The receiver's address, without credentials. All other values are about this receiver.
        pub upstream: String,
        /// The receiver has accepted or refused every row up to this one.
        pub cursor: i64,
        /// The last row that the receiver has.
        pub held: i64,
        /// The highest number that was ever sent.
        pub offered: i64,
        /// The last row of a batch without an answer; 0: there is none.
        pub pending: i64,
        /// Rows refused since the receiver last took one.
        pub refused_run: i64,
        /// Failed tries in a row.
        pub failed_tries: i64,
        /// Why the last try failed; empty: it succeeded.
        pub trouble: String,
        /// When the last batch was sent.
        pub tried_at: Option<Moment>,
        /// When the last batch was accepted.
        pub taken_at: Option<Moment>,
        /// Batches that were accepted.
        pub batches: i64,
        /// Rows that were accepted.
        pub rows: i64,
        /// Rows that were renumbered after a restore.
        pub renumbered: i64,
        /// When rows were last renumbered.
        pub renumbered_at: Option<Moment>,
    } saved
}

row! {
    /// A row that the receiver refused.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Refused {
        /// The row's number.
        pub seq: i64,
        /// When the row was first refused, in Unix seconds.
        pub refused_at: Moment,
        /// When the row was last sent, in Unix seconds.
        pub tried_at: Moment,
        /// How often the row was sent.
        pub tries: i64,
        /// The receiver's error.
        pub error: String,
    } saved
}

/// The state; the default where nothing was sent yet.
pub fn find(tx: &Read) -> Result<State> {
    let sql = sql!("SELECT ", State::COLUMNS, " FROM sync WHERE only = 1");
    let state = tx.find(sql, [])?;
    Ok(state.unwrap_or_default())
}

/// Sets the state.
pub fn replace(tx: &Write, state: &State) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO sync" State: state, { only: 1 })
}

/// Adds or replaces a refused row.
pub(crate) fn replace_refused(tx: &Write, refused: &Refused) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO sync_refused" Refused: refused, {})
}

/// Deletes the refused rows after `after` up to `last`, which the receiver has accepted.
pub(crate) fn delete_refused(tx: &Write, after: i64, last: i64) -> Result<usize> {
    tx.run(sql!("DELETE FROM sync_refused WHERE seq > ?1 AND seq <= ?2"), [after, last])
}

/// The refused rows whose last try was before that moment, oldest row first.
pub(crate) fn list_refused(tx: &Read, tried_before: Moment, limit: i64) -> Result<Vec<Refused>> {
    let sql = sql!("SELECT ", Refused::COLUMNS, " FROM sync_refused WHERE tried_at < ?1 ORDER BY seq LIMIT ?2");
    tx.list(sql, (tried_before, limit))
}

/// The number of refused rows.
pub fn count_refused(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM sync_refused"), [])
}
