//! Moves the rows of one account of a person to another one, by the declarations beside the tables: see
//! [`crate::store::joining`]. What moved is recorded, so that it can be given back.

use super::personal_data;
use crate::domain::ids::{BookingId, JoinId, MemberId};
use crate::store::joining::OnJoin;
use crate::store::{Read, Write};
use rusqlite::{Result, ToSql};

/// Two accounts of one person: the first is joined into the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub joined: MemberId,
    pub survivor: MemberId,
}

/// The rows of a table that a join moves, and those that stay because the survivor has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JoinedRows {
    pub table: &'static str,
    pub moves: i64,
    pub stays: i64,
}

/// A column whose rows move.
struct Moving {
    table: &'static str,
    column: &'static str,
    key: &'static str,
    unless: &'static str,
}

fn moving() -> impl Iterator<Item = Moving> {
    let joins = personal_data::tables().flat_map(|table| table.joins.iter().map(move |join| (table.name, join)));
    joins.filter_map(|(table, join)| match join.on_join {
        OnJoin::Moves { key, unless } => Some(Moving { table, column: join.column, key, unless }),
        OnJoin::Stays(_) | OnJoin::Derived => None,
    })
}

impl Pair {
    /// The values of a statement, as far as it uses them.
    fn values<'a>(&'a self, sql: &str, join_id: &'a JoinId) -> Vec<(&'static str, &'a dyn ToSql)> {
        let all: [(&str, &dyn ToSql); 3] =
            [(":joined", &self.joined), (":survivor", &self.survivor), (":join_id", join_id)];
        all.into_iter().filter(|(name, _)| sql.contains(name)).collect()
    }
}

/// The keys of the reasons why the two cannot be joined.
pub(crate) fn list_refusals(tx: &Read, pair: Pair) -> Result<Vec<&'static str>> {
    let mut reasons = Vec::new();
    for table in personal_data::tables() {
        for (condition, key) in table.joins.iter().filter_map(|join| join.refused) {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {} t WHERE {condition})", table.name);
            if tx.get(&sql, &*pair.values(&sql, &JoinId(0)))? {
                reasons.push(key);
            }
        }
    }
    Ok(reasons)
}

/// What a join would move, in the order of the declarations; tables without such rows are left out.
pub(crate) fn count(tx: &Read, pair: Pair) -> Result<Vec<JoinedRows>> {
    let mut parts: Vec<JoinedRows> = Vec::new();
    for table in personal_data::tables() {
        let columns: Vec<Moving> = moving().filter(|one| one.table == table.name).collect();
        let counted = |wanted: &str| {
            let rows = columns.iter().map(|one| format!("(t.{} = :joined AND ({}) {wanted})", one.column, one.unless));
            let sql = format!("SELECT count(*) FROM {} t WHERE {}", table.name, rows.collect::<Vec<_>>().join(" OR "));
            tx.get::<i64>(&sql, &*pair.values(&sql, &JoinId(0)))
        };
        if columns.is_empty() {
            continue;
        }
        let part = JoinedRows { table: table.name, moves: counted("IS NOT TRUE")?, stays: counted("IS TRUE")? };
        if part.moves + part.stays > 0 {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Moves the rows, and records them under the join's number.
pub(crate) fn move_rows(tx: &Write, join_id: JoinId, pair: Pair) -> Result<()> {
    for Moving { table, column, key, unless } in moving() {
        let note = format!(
            "INSERT INTO joined_rows (join_id, table_name, column_name, row_key)
             SELECT :join_id, '{table}', '{column}', t.{key} FROM {table} t
             WHERE t.{column} = :joined AND ({unless}) IS NOT TRUE"
        );
        tx.run(&note, &*pair.values(&note, &join_id))?;
        let moved = format!("UPDATE {table} SET {column} = :survivor WHERE {}", recorded(table, column, key));
        tx.run(&moved, &*pair.values(&moved, &join_id))?;
    }
    Ok(())
}

/// Gives back the rows that a join moved, where they are still the survivor's. A row that the joined account could no longer
/// have beside its own stays.
pub(crate) fn give_back(tx: &Write, join_id: JoinId, pair: Pair) -> Result<()> {
    for Moving { table, column, key, .. } in moving() {
        let back = format!(
            "UPDATE OR IGNORE {table} SET {column} = :joined WHERE {} AND {column} = :survivor",
            recorded(table, column, key)
        );
        tx.run(&back, &*pair.values(&back, &join_id))?;
    }
    // Flight time that a booking entered since belongs to the booking.
    let sql = sql!(
        "UPDATE entries SET member_id = ?2 WHERE member_id = ?3 AND booking_id IN
             (SELECT b.booking_id FROM joined_rows r JOIN bookings b ON b.booking_id = r.row_key AND b.member_id = ?2
              WHERE r.join_id = ?1 AND r.table_name = 'bookings')"
    );
    tx.run(sql, (join_id, pair.joined, pair.survivor)).map(drop)
}

/// The condition of the rows that a join moved.
fn recorded(table: &str, column: &str, key: &str) -> String {
    format!(
        "{key} IN (SELECT row_key FROM joined_rows
                   WHERE join_id = :join_id AND table_name = '{table}' AND column_name = '{column}')"
    )
}

/// The bookings that a join moved.
pub(crate) fn list_bookings(tx: &Read, join_id: JoinId) -> Result<Vec<BookingId>> {
    tx.list(sql!("SELECT row_key FROM joined_rows WHERE join_id = ?1 AND table_name = 'bookings'"), [join_id])
}

/// The tables of which rows move, and the keys of the reasons to refuse a join.
#[cfg(test)]
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    moving().map(|one| one.table)
}

#[cfg(test)]
pub(crate) fn reasons() -> impl Iterator<Item = String> {
    let joins = personal_data::tables().flat_map(|table| table.joins);
    joins.filter_map(|join| join.refused.map(|(_, key)| key.to_owned()))
}
