//! The search for mentions of a person in the columns that are declared as searched: see [`crate::store::personal`].

use super::personal_data;
use super::sealed;
use crate::domain::ids::MemberId;
use crate::domain::mention::Terms;
use crate::keys::{Keys, Place};
use crate::store::engine::columns::Columns;
use crate::store::personal::{Column, Fate, Mention, Table};
use crate::store::{Read, Write};
use rusqlite::types::Value;
use rusqlite::{Result, Row, ToSql, named_params};

/// An outcome with a document in base64 may name anybody inside.
const DOCUMENT: &str = "JVBERi0";

/// A search: for whom, with the site's key for sealed texts, and the word that stands in for the person.
pub(crate) struct Search<'a> {
    pub keys: &'a Keys,
    pub terms: &'a Terms,
    pub stand_in: &'a str,
}

/// What removes a mention.
#[derive(Debug)]
pub(crate) struct Change {
    table: &'static Table,
    key: Value,
    effect: Effect,
}

#[derive(Debug)]
enum Effect {
    RowRemoved,
    Replaced { column: &'static str, old: Value, new: Value },
}

/// The tables that are searched.
pub(crate) fn tables() -> impl Iterator<Item = &'static Table> {
    personal_data::tables().filter(|table| table.searched().next().is_some())
}

pub(crate) fn count(tx: &Read, table: &Table) -> Result<i64> {
    tx.get(&format!("SELECT count(*) FROM {} AS searched", table.name), [])
}

/// The changes in at most `rows` rows after a key (`None`: from the first), and the last key: `None` at the end.
pub(crate) fn list(
    tx: &Read,
    search: &Search,
    table: &'static Table,
    after: Option<&Value>,
    rows: i64,
) -> Result<(Vec<Change>, Option<Value>)> {
    let key = table.key;
    let beyond = if after.is_some() { format!("{key} > :after") } else { ":after IS NULL".to_owned() };
    let rest = format!("WHERE {beyond} ORDER BY {key} LIMIT :rows");
    look(tx, search, table, &rest, named_params! {":after": after, ":rows": rows})
}

/// Removes each mention of the person from rows of others that the person had a part in.
pub(crate) fn forget_near(tx: &Write, search: &Search, member_id: MemberId) -> Result<()> {
    for table in tables() {
        for rows in table.rows.iter().filter(|rows| matches!(rows.fate, Fate::Others(_))) {
            let rest = format!("WHERE {}", rows.condition);
            let (found, _) = look(tx, search, table, &rest, named_params! {":id": member_id})?;
            found.iter().try_for_each(|found| change(tx, found).map(drop))?;
        }
    }
    Ok(())
}

pub(crate) fn change(tx: &Write, change: &Change) -> Result<usize> {
    let Table { name, key, .. } = change.table;
    match &change.effect {
        Effect::RowRemoved => tx.run(&format!("DELETE FROM {name} WHERE {key} = ?1"), [&change.key]),
        // A text that somebody changed meanwhile stays.
        Effect::Replaced { column, old, new } => {
            let sql = format!("UPDATE {name} SET {column} = ?2 WHERE {key} = ?1 AND {column} IS ?3");
            tx.run(&sql, (&change.key, new, old))
        }
    }
}

fn look(
    tx: &Read,
    search: &Search,
    table: &'static Table,
    rest: &str,
    params: &[(&str, &dyn ToSql)],
) -> Result<(Vec<Change>, Option<Value>)> {
    let searched: Vec<(&Column, Mention)> = table.searched().collect();
    let names: Vec<&str> = searched.iter().map(|(column, _)| column.name).collect();
    let places = searched.iter().filter_map(|(column, _)| column.sealed).flat_map(|sealed| sealed.row);
    let places: String = places.map(|part| format!(", {part}")).collect();
    let sql = format!("SELECT {}, {}{places} FROM {} {rest}", table.key, names.join(", "), table.name);
    let (mut changes, mut last) = (Vec::new(), None);
    let each = |row: &Row| {
        let mut values = Columns::of(row);
        let key: Value = values.read()?;
        let old: Vec<Value> = searched.iter().map(|_| values.read()).collect::<Result<_>>()?;
        for ((column, mention), old) in searched.iter().zip(old) {
            let place = column.sealed.map(|sealed| sealed::place(sealed, || values.read())).transpose()?;
            if let Some(effect) = search.effect(column, *mention, old, place.as_ref()) {
                changes.push(Change { table, key: key.clone(), effect });
            }
        }
        last = Some(key);
        Ok(())
    };
    tx.list_with(&sql, params, each)?;
    Ok((changes, last))
}

impl Search<'_> {
    /// What becomes of a value; `None`: it does not mention the person.
    fn effect(&self, column: &'static Column, mention: Mention, old: Value, place: Option<&Place>) -> Option<Effect> {
        let text = self.opened(place, &old)?;
        let new = match mention {
            Mention::Word => self.terms.replaced(&text, self.stand_in),
            Mention::WordInJson => self.in_json(&text),
            Mention::Emptied => self.terms.are_in(&text).then(String::new),
            Mention::RowRemoved => {
                let is_said = self.terms.are_in(&text) || (column.sealed.is_some() && text.contains(DOCUMENT));
                return is_said.then_some(Effect::RowRemoved);
            }
        }?;
        let new = match place {
            Some(place) => Value::Blob(self.keys.seal(place, new.as_bytes())),
            None => Value::Text(new),
        };
        Some(Effect::Replaced { column: column.name, old, new })
    }

    fn opened(&self, place: Option<&Place>, value: &Value) -> Option<String> {
        match (place, value) {
            (Some(place), Value::Blob(sealed)) => {
                let plain = self.keys.unseal(place, sealed)?;
                Some(String::from_utf8_lossy(&plain).into_owned())
            }
            (None, Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// The JSON with the stand-in in each of its texts that mentions the person; what is no JSON is read as a text.
    fn in_json(&self, text: &str) -> Option<String> {
        let Ok(mut value) = serde_json::from_str::<serde_json::Value>(text) else {
            return self.terms.replaced(text, self.stand_in);
        };
        self.replace_in(&mut value).then(|| value.to_string())
    }

    fn replace_in(&self, value: &mut serde_json::Value) -> bool {
        match value {
            serde_json::Value::String(text) => {
                let replaced = self.terms.replaced(text, self.stand_in);
                let is_found = replaced.is_some();
                *text = replaced.unwrap_or_else(|| std::mem::take(text));
                is_found
            }
            serde_json::Value::Array(all) => all.iter_mut().fold(false, |found, one| self.replace_in(one) | found),
            serde_json::Value::Object(all) => all.values_mut().fold(false, |found, one| self.replace_in(one) | found),
            _ => false,
        }
    }
}
