//! How far the history went upstream, and what the receiver refused of it.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};
use serde::{Deserialize, Serialize};

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
    pub misses: i64,
    /// Why the last try came to nothing; empty: it did not.
    pub trouble: String,
    pub tried_at: Option<i64>,
    pub taken_at: Option<i64>,
    pub batches: i64,
    pub rows: i64,
    pub renumbered: i64,
    pub renumbered_at: Option<i64>,
}

/// A row that the receiver does not take as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    pub seq: i64,
    pub refused_at: i64,
    pub tried_at: i64,
    pub tries: i64,
    /// What the receiver said.
    pub error: String,
}

/// As it is before anything was sent, where nothing was.
pub fn find(tx: &Read) -> Result<State> {
    let sql = "SELECT upstream, cursor, held, offered, pending, refused_run, misses, trouble, tried_at, taken_at, batches, rows,
                      renumbered, renumbered_at
               FROM sync WHERE only = 1";
    let state = tx.find(sql, [], |row| {
        Ok(State {
            upstream: row.get(0)?,
            cursor: row.get(1)?,
            held: row.get(2)?,
            offered: row.get(3)?,
            pending: row.get(4)?,
            refused_run: row.get(5)?,
            misses: row.get(6)?,
            trouble: row.get(7)?,
            tried_at: row.get(8)?,
            taken_at: row.get(9)?,
            batches: row.get(10)?,
            rows: row.get(11)?,
            renumbered: row.get(12)?,
            renumbered_at: row.get(13)?,
        })
    })?;
    Ok(state.unwrap_or_default())
}

pub fn replace(tx: &Write, state: &State) -> Result<usize> {
    let sql = "INSERT OR REPLACE INTO sync (only, upstream, cursor, held, offered, pending, refused_run, misses, trouble, tried_at,
                      taken_at, batches, rows, renumbered, renumbered_at)
               VALUES (1, :upstream, :cursor, :held, :offered, :pending, :refused_run, :misses, :trouble, :tried_at, :taken_at,
                       :batches, :rows, :renumbered, :renumbered_at)";
    tx.run(
        sql,
        named_params! {":upstream": state.upstream, ":cursor": state.cursor, ":held": state.held, ":offered": state.offered,
        ":pending": state.pending, ":refused_run": state.refused_run, ":misses": state.misses,
        ":trouble": state.trouble, ":tried_at": state.tried_at, ":taken_at": state.taken_at, ":batches": state.batches,
        ":rows": state.rows, ":renumbered": state.renumbered, ":renumbered_at": state.renumbered_at},
    )
}

/// Whether it was refused before or not.
pub fn replace_refused(tx: &Write, refused: &Refused) -> Result<usize> {
    let sql = "INSERT OR REPLACE INTO sync_refused (seq, refused_at, tried_at, tries, error)
               VALUES (:seq, :refused_at, :tried_at, :tries, :error)";
    tx.run(
        sql,
        named_params! {":seq": refused.seq, ":refused_at": refused.refused_at, ":tried_at": refused.tried_at,
        ":tries": refused.tries, ":error": refused.error},
    )
}

/// Those after `after` up to `last`: the receiver has them now.
pub fn delete_refused(tx: &Write, after: i64, last: i64) -> Result<usize> {
    tx.run("DELETE FROM sync_refused WHERE seq > ?1 AND seq <= ?2", [after, last])
}

/// Those whose last try was before that moment, oldest row first.
pub fn list_refused(tx: &Read, tried_before: i64, limit: i64) -> Result<Vec<Refused>> {
    let sql =
        "SELECT seq, refused_at, tried_at, tries, error FROM sync_refused WHERE tried_at < ?1 ORDER BY seq LIMIT ?2";
    tx.list(sql, [tried_before, limit], |row| {
        Ok(Refused {
            seq: row.get(0)?,
            refused_at: row.get(1)?,
            tried_at: row.get(2)?,
            tries: row.get(3)?,
            error: row.get(4)?,
        })
    })
}

pub fn count_refused(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM sync_refused", [], |row| row.get(0))
}
