//! Every column that is sealed by the site key, for the rotation of that key.

use crate::keys::{Keys, Part, Place, SealedColumn, columns};
use crate::store::Write;
use crate::store::engine::columns::Columns;
use rusqlite::Result;
use rusqlite::types::Value;

/// The number of values, and of those that could not be unsealed and stay unchanged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resealed {
    pub values: usize,
    pub damaged: usize,
}

/// The statement that reads every value with the columns that say which row it is, and the one that writes a value.
pub(crate) fn statements(column: &SealedColumn) -> [String; 2] {
    let SealedColumn { table, name, row, .. } = column;
    let place: String = row.iter().map(|part| format!(", {part}")).collect();
    let key = row.first().unwrap_or(&"1");
    [
        format!("SELECT {key}, {name}{place} FROM {table} WHERE {name} IS NOT NULL AND {name} <> x''"),
        format!("UPDATE {table} SET {name} = ?2 WHERE {key} = ?1"),
    ]
}

/// The place of a value, by the next values of its row.
pub(super) fn place(column: &SealedColumn, mut next: impl FnMut() -> Result<Value>) -> Result<Place> {
    let row: Vec<Value> = column.row.iter().map(|_| next()).collect::<Result<_>>()?;
    Ok(column.at(row.iter().map(part)))
}

/// Replaces every value by the result of `change`. An empty value is one that was taken back, and stays.
fn reseal(tx: &Write, column: &SealedColumn, change: impl Fn(&Place, &[u8]) -> Option<Vec<u8>>) -> Result<Resealed> {
    let [all, update] = statements(column);
    let found = tx.list_with(&all, [], |row| {
        let mut values = Columns::of(row);
        let (key, sealed): (Value, Vec<u8>) = (values.read()?, values.read()?);
        Ok((key, sealed, place(column, || values.read())?))
    })?;
    let mut done = Resealed { values: found.len(), damaged: 0 };
    for (key, sealed, place) in found {
        match change(&place, &sealed) {
            Some(anew) => _ = tx.run(&update, (key, anew))?,
            None => done.damaged += 1,
        }
    }
    Ok(done)
}

fn part(value: &Value) -> Part<'_> {
    match value {
        Value::Integer(number) => Part::Number(*number),
        Value::Text(text) => Part::Bytes(text.as_bytes()),
        Value::Blob(bytes) => Part::Bytes(bytes),
        Value::Null | Value::Real(_) => Part::Bytes(&[]),
    }
}

/// Seals every value with the next keys.
pub(crate) fn reseal_all(tx: &Write, keys: &Keys, next: &Keys) -> Result<Resealed> {
    let mut sum = Resealed::default();
    for column in columns::ALL {
        let one = reseal(tx, column, |place, sealed| Some(next.seal(place, &keys.unseal(place, sealed)?)))?;
        (sum.values, sum.damaged) = (sum.values + one.values, sum.damaged + one.damaged);
    }
    Ok(sum)
}
