//! Mentions of a person's name in free texts: comments in logbooks, notices, messages of the contact form, and notes of
//! the staff.

use crate::domain::mention::{self, Person};
use crate::store::engine::columns::Columns;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// A table with free texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    name: &'static str,
    key: &'static str,
    columns: &'static [&'static str],
}

pub(crate) const TABLES: [Table; 7] = [
    Table { name: "entries", key: "entry_id", columns: &["comment", "comments_instructor", "comment_denial"] },
    Table { name: "notices", key: "notification_id", columns: &["detail"] },
    Table { name: "contact_messages", key: "contact_id", columns: &["message", "enquiry", "name"] },
    Table { name: "till_entries", key: "entry_id", columns: &["reason"] },
    Table { name: "till_closings", key: "closing_id", columns: &["note"] },
    Table { name: "members", key: "member_id", columns: &["staff_note", "ban_reason"] },
    Table { name: "shift_note", key: "only", columns: &["text"] },
];

/// The replacement of a text.
#[derive(Debug)]
pub(crate) struct Change {
    table: Table,
    column: &'static str,
    key: i64,
    text: String,
}

/// The highest key of a table.
pub(crate) fn last(tx: &Read, table: Table) -> Result<i64> {
    tx.get(&format!("SELECT coalesce(max({}), 0) FROM {}", table.key, table.name), [])
}

/// The changes that remove `names` from the rows after `from` up to `to`.
pub(crate) fn list(tx: &Read, table: Table, from: i64, to: i64, names: &[&str], stand_in: &str) -> Result<Vec<Change>> {
    let Table { name, key, columns } = table;
    let has_text = columns.iter().map(|column| format!("{column} <> ''")).collect::<Vec<_>>().join(" OR ");
    let sql =
        format!("SELECT {key}, {} FROM {name} WHERE {key} > ?1 AND {key} <= ?2 AND ({has_text})", columns.join(", "));
    let mut changes = Vec::new();
    let look = |row: &rusqlite::Row| {
        let mut values = Columns::of(row);
        let key = values.read()?;
        for column in columns {
            if let Some(text) = mention::replaced(values.text()?, names, stand_in) {
                changes.push(Change { table, column, key, text });
            }
        }
        Ok(())
    };
    tx.list_with(&sql, (from, to), look)?;
    Ok(changes)
}

pub(crate) fn change(tx: &Write, change: &Change) -> Result<usize> {
    let Change { table: Table { name, key, .. }, column, .. } = change;
    tx.run(&format!("UPDATE {name} SET {column} = ?2 WHERE {key} = ?1"), (change.key, &change.text))
}

/// Removes the person's name from comments that the person wrote into other members' logbooks, and from notices to
/// other members about the person's entries and signatures.
pub(crate) fn forget_near(tx: &Write, member_id: i64, person: &Person, stand_in: &str) -> Result<()> {
    let names = person.closely();
    let sql = sql!(
        "SELECT entry_id FROM entries WHERE instructor_id = :id
               UNION SELECT entry_id FROM entries WHERE author_id = :id AND author_id <> member_id"
    );
    let near: Vec<i64> = tx.list(sql, named_params! {":id": member_id})?;
    for entry_id in near {
        for found in list(tx, TABLES[0], entry_id - 1, entry_id, &names, stand_in)? {
            change(tx, &found)?;
        }
    }
    forget_in_notices(tx, member_id, stand_in)
}

/// Removes the person's name from notices to other members, which are found by the entry that they are about.
fn forget_in_notices(tx: &Write, member_id: i64, stand_in: &str) -> Result<()> {
    const ASKED: &str = "subject IN ('notice.signoff_asked', 'notice.opening_asked', 'notice.signoff_withdrawn',
                                     'notice.opening_withdrawn')";
    const SIGNED: &str = "subject IN ('notice.signed', 'notice.denied', 'notice.opening_denied')";
    for (mine, others, subjects) in [
        ("member_id", "instructor_id", ASKED),
        ("instructor_id", "member_id", SIGNED),
        ("instructor_id", "author_id", SIGNED),
    ] {
        let receivers = format!("SELECT DISTINCT {others} FROM entries WHERE {mine} = :id AND {others} <> :id");
        let receivers: Vec<i64> = tx.list(&receivers, named_params! {":id": member_id})?;
        let sql = format!(
            "UPDATE notices SET detail = json_set(detail, '$.name', :name)
             WHERE member_id = :receiver AND {subjects} AND EXISTS
                 (SELECT 1 FROM entries e WHERE e.entry_id = json_extract(detail, '$.entry_id') AND e.{mine} = :id)"
        );
        for receiver in receivers {
            tx.run(&sql, named_params! {":receiver": receiver, ":id": member_id, ":name": stand_in})?;
        }
    }
    Ok(())
}
