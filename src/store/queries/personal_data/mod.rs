//! The personal data of a member by the declarations of [`crate::store::personal`]: for the copy that a person may request,
//! and for erasure.

use crate::domain::ids::MemberId;
use crate::keys::{Keys, Part, SealedColumn};
use crate::store::Read;
use crate::store::personal::{Column, Erasure, Mention, Rows, Table};
use crate::store::tables::PERSONAL;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::ValueRef;
use rusqlite::{Result, Row};
use serde_json::{Map, Value};

const SECRET: &str = "a secret, or its hash: whoever holds it could sign in with it, and it says nothing else";

/// The declarations of all tables.
pub(crate) fn tables() -> impl Iterator<Item = &'static Table> {
    PERSONAL.iter().copied().flatten()
}

/// The rows about members, with their tables. Rows that are found by way of another table come before that table's: an
/// erasure in this order finds them all.
pub(crate) fn data_sets() -> Vec<(&'static Table, &'static Rows)> {
    let mut left: Vec<_> = tables().flat_map(|table| table.rows.iter().map(move |rows| (table, rows))).collect();
    let mut ordered = Vec::with_capacity(left.len());
    loop {
        let looks_into = |table: &Table, rows: &Rows, other: &str| table.name != other && names(rows.condition, other);
        let is_needed = |name: &str| left.iter().any(|(table, rows)| looks_into(table, rows, name));
        let needed: Vec<&str> = left.iter().map(|(table, _)| table.name).filter(|name| is_needed(name)).collect();
        let (later, now): (Vec<_>, Vec<_>) = left.into_iter().partition(|(table, _)| needed.contains(&table.name));
        // A test sees that no two tables need each other.
        if now.is_empty() {
            ordered.extend(later);
            return ordered;
        }
        ordered.extend(now);
        left = later;
    }
}

/// Whether a condition looks into a table.
fn names(condition: &str, table: &str) -> bool {
    condition.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == table)
}

/// The SQL assignments that remove the person from rows that stay.
pub(crate) fn assignments(table: &Table, also: &str) -> String {
    let sets = table.columns.iter().filter_map(|Column { name, erasure, .. }| match erasure {
        Erasure::Replaced(value) => Some(format!("{name} = {value}")),
        Erasure::Searched(Mention::Emptied) => Some(format!("{name} = x''")),
        Erasure::Searched(_) => Some(format!("{name} = iif({name} IS NULL, NULL, '')")),
        _ => None,
    });
    sets.chain((!also.is_empty()).then(|| also.to_owned())).collect::<Vec<_>>().join(", ")
}

/// The columns of rows that an export does not show, with the reason.
pub(crate) fn hidden(table: &Table, rows: &Rows) -> Vec<(&'static str, &'static str)> {
    let is_read = |column: &&Column| rows.only.is_empty() || rows.only.contains(&column.name);
    let secrets = table.columns.iter().filter(|column| column.is_secret).filter(is_read);
    secrets.map(|column| (column.name, SECRET)).collect()
}

/// A member's rows as JSON: moments and numbers as stored, bytes in base64. A sealed value that the site key does not open
/// is null.
pub(crate) fn rows(
    tx: &Read,
    keys: &Keys,
    (table, rows): (&Table, &Rows),
    member_id: MemberId,
) -> Result<Vec<Map<String, Value>>> {
    // Computed columns are left out: they say nothing that the others do not.
    let stored = "SELECT group_concat(name, ', ') FROM pragma_table_info(?1)";
    let columns = if rows.only.is_empty() { tx.get(stored, [table.name])? } else { rows.only.join(", ") };
    let sql = format!("SELECT {columns} FROM {} WHERE {}", table.name, rows.condition);
    tx.list_with(&sql, rusqlite::named_params! {":id": member_id}, |row| displayed_row(keys, table, row))
}

fn displayed_row(keys: &Keys, table: &Table, row: &Row) -> Result<Map<String, Value>> {
    let mut shown = Map::new();
    for (index, name) in row.as_ref().column_names().enumerate() {
        let value = row.get_ref(index)?;
        let declared = table.columns.iter().find(|column| column.name == name);
        match declared.map_or((false, None), |column| (column.is_secret, column.sealed)) {
            (true, _) => {}
            (false, Some(sealed)) => _ = shown.insert(name.to_owned(), opened(keys, sealed, row, value)?),
            (false, None) => _ = shown.insert(name.to_owned(), plain(value)),
        }
    }
    Ok(shown)
}

fn plain(value: ValueRef) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => STANDARD.encode(bytes).into(),
    }
}

fn opened(keys: &Keys, column: &SealedColumn, row: &Row, value: ValueRef) -> Result<Value> {
    let ValueRef::Blob(sealed) = value else { return Ok(Value::Null) };
    let parts = column.row.iter().map(|name| {
        Ok(match row.get_ref(*name)? {
            ValueRef::Integer(number) => Part::Number(number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Part::Bytes(bytes),
            ValueRef::Null | ValueRef::Real(_) => Part::Bytes(&[]),
        })
    });
    let place = column.at(parts.collect::<Result<Vec<_>>>()?);
    let text = keys.unseal(&place, sealed).and_then(|plain| String::from_utf8(plain).ok());
    Ok(text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

#[cfg(test)]
mod tests;
