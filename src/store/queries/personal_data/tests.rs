//! Tests that compare the declarations with the schema: each column of text or bytes needs one.

use super::*;
use crate::store::engine::migrate;
use crate::store::joining::OnJoin;
use crate::store::personal::Fate;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// A column of the schema.
struct Found {
    table: String,
    name: String,
    is_text: bool,
    refers: bool,
}

fn migrated() -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    crate::store::engine::connection::prepare_connection(&conn, crate::store::engine::reader::CACHE_KIB).unwrap();
    migrate::migrate(&mut conn).unwrap();
    conn
}

/// Every column of every table; those of SQLite's own tables are numbers and names of tables.
fn columns(conn: &Connection) -> Vec<Found> {
    let sql = "SELECT t.name, c.name, c.type NOT LIKE '%INT%' AND c.type <> 'REAL',
                      EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name) f WHERE f.\"from\" = c.name AND f.\"table\" = 'members')
               FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'";
    let mut statement = conn.prepare(sql).unwrap();
    let column =
        |row: &Row| Ok(Found { table: row.get(0)?, name: row.get(1)?, is_text: row.get(2)?, refers: row.get(3)? });
    statement.query_map([], column).unwrap().map(Result::unwrap).collect()
}

fn declared() -> BTreeSet<String> {
    tables()
        .flat_map(|table| table.columns.iter().map(move |column| format!("{}.{}", table.name, column.name)))
        .collect()
}

/// Columns of text or bytes that no table declares.
fn undeclared(conn: &Connection) -> Vec<String> {
    let texts = columns(conn).into_iter().filter(|column| column.is_text);
    texts.map(|column| format!("{}.{}", column.table, column.name)).filter(|name| !declared().contains(name)).collect()
}

#[test]
fn every_column_of_text_says_what_an_erasure_does_to_it() {
    let conn = migrated();
    assert_eq!(undeclared(&conn), Vec::<String>::new(), "declare each in PERSONAL, beside the rows of its table");
    let known: BTreeSet<String> = columns(&conn).iter().map(|c| format!("{}.{}", c.table, c.name)).collect();
    assert_eq!(declared().difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "no such column any more");
    let named: Vec<&str> = tables().map(|table| table.name).collect();
    assert_eq!(named.len(), named.iter().collect::<BTreeSet<_>>().len(), "a table is declared twice");
}

/// Tables of rows that are kept after their end.
const KEPT_AFTER_THEIR_END: [&str; 2] = ["tls", "waiver_overrides"];

/// Tables of rows with an end that do not say when these go, or what becomes of those that began while the clock was ahead.
fn endless(conn: &Connection) -> Vec<String> {
    let says = |name: &str| tables().any(|t| t.name == name && !t.expiries.is_empty() && t.ahead.is_some());
    let sql = "SELECT t.name FROM sqlite_schema t, pragma_table_info(t.name) c
               WHERE t.type = 'table' AND c.name = 'ends_at' AND c.\"notnull\" ORDER BY t.name";
    let mut statement = conn.prepare(sql).unwrap();
    let named = statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    named.filter(|name| !says(name) && !KEPT_AFTER_THEIR_END.contains(&&**name)).collect()
}

#[test]
fn rows_with_an_end_say_when_they_go() {
    let conn = migrated();
    assert_eq!(endless(&conn), Vec::<String>::new(), "declare it in PERSONAL, beside the rows of the table");
    conn.execute_batch("CREATE TABLE vouchers (n INTEGER PRIMARY KEY, ends_at INTEGER NOT NULL) STRICT;").unwrap();
    assert_eq!(endless(&conn), ["vouchers"]);
}

#[test]
fn a_new_column_without_a_declaration_is_seen() {
    let conn = migrated();
    conn.execute_batch(
        "ALTER TABLE members ADD COLUMN nickname TEXT; CREATE TABLE rumours (words TEXT NOT NULL, n INTEGER) STRICT;",
    )
    .unwrap();
    assert_eq!(undeclared(&conn), ["members.nickname", "rumours.words"]);
}

/// Whether a column is about a member: it refers to one, or has the name of such a column.
fn is_about_members(column: &Found) -> bool {
    column.refers || column.name.contains("member") || column.name == "voucher_id"
}

/// Numbers of members in tables whose rows are about something else. The number of an erased member leads to nobody.
const NUMBERS_ALONE: [&str; 1] = ["erasures.member_id"];
/// Numbers of staff who did something for others: no part of the copy that a person may request of what is held of them.
const DONE_FOR_OTHERS: [&str; 9] = [
    "bookings.arrived_by",
    "bookings.ended_by",
    "brief_pictures.added_by",
    "guardianships.made_by",
    "joins.joined_by",
    "kiosk_pairings.made_by",
    "kiosks.paired_by",
    "site_texts.published_by",
    "waiver_signatures.witness_id",
];

#[test]
fn every_column_that_refers_to_a_member_leads_to_the_person_s_rows() {
    let leads = |column: &Found| {
        tables()
            .filter(|table| table.name == column.table)
            .flat_map(|table| table.rows)
            .any(|rows| names(rows.condition, &column.name))
    };
    let missing: Vec<String> = columns(&migrated())
        .iter()
        .filter(|column| !column.is_text && is_about_members(column) && !leads(column))
        .map(|column| format!("{}.{}", column.table, column.name))
        .filter(|name| !NUMBERS_ALONE.contains(&&**name) && !DONE_FOR_OTHERS.contains(&&**name))
        .collect();
    assert!(missing.is_empty(), "no export shows, and no erasure finds, what is held by {missing:?}");
}

#[test]
fn what_a_column_declares_agrees_with_what_becomes_of_its_rows() {
    for table in tables() {
        let has = |wanted: fn(&Fate) -> bool| table.rows.iter().any(|rows| wanted(&rows.fate));
        for column in table.columns {
            let name = format!("{}.{}", table.name, column.name);
            match column.erasure {
                Erasure::Deleted => {
                    assert!(has(|fate| matches!(fate, Fate::Deleted)), "{name}: no row of this table is deleted");
                    let stays = has(|fate| matches!(fate, Fate::Emptied(..) | Fate::Kept(_)));
                    assert!(!stays, "{name}: rows of the person stay, and with them this column");
                }
                Erasure::Replaced(_) => {
                    assert!(has(|fate| matches!(fate, Fate::Emptied(..))), "{name}: no row of this table is emptied");
                }
                Erasure::Searched(_) => assert!(!table.key.is_empty(), "{name}: the rows have no key"),
                Erasure::NotPersonal(why) => assert!(!why.is_empty(), "{name}"),
                Erasure::Kept(why, how_long) => assert!(!why.is_empty() && !how_long.is_empty(), "{name}"),
            }
        }
    }
}

#[test]
fn rows_that_are_found_by_way_of_another_table_come_before_it() {
    let sets = data_sets();
    assert_eq!(sets.len(), tables().map(|table| table.rows.len()).sum::<usize>());
    for (at, (table, _)) in sets.iter().enumerate() {
        for (other, rows) in &sets[at + 1..] {
            let looks = other.name != table.name && names(rows.condition, table.name);
            assert!(!looks, "{} is found by way of {}, whose rows are gone by then", rows.part, table.name);
        }
    }
}

#[test]
fn the_parts_of_an_export_have_names_of_their_own_and_columns_that_are_there() {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for column in columns(&migrated()) {
        known.entry(column.table).or_default().insert(column.name);
    }
    for (table, rows) in data_sets() {
        for name in rows.only {
            assert!(known[table.name].contains(*name), "{}.{name}", table.name);
        }
    }
    let parts: BTreeSet<_> = data_sets().iter().map(|(_, rows)| rows.part).collect();
    assert_eq!(parts.len(), data_sets().len());
}

/// Whether a column has a member's number: the references, and what is named as one without being one.
fn has_a_number(column: &Found) -> bool {
    let name = &*column.name;
    column.table != "members" && (is_about_members(column) || name.ends_with("_by") || name == "witness_id")
}

/// Columns with a member's number for which no table says what a join does.
fn unjoined(conn: &Connection) -> Vec<String> {
    let says = |column: &Found| {
        let joins = tables().filter(|table| table.name == column.table).flat_map(|table| table.joins);
        joins.filter(|join| join.column == column.name).count() == 1
    };
    let numbers = columns(conn).into_iter().filter(|column| !column.is_text && has_a_number(column) && !says(column));
    let named = numbers.map(|column| format!("{}.{}", column.table, column.name));
    named.filter(|name| !NUMBERS_ALONE.contains(&&**name)).collect()
}

#[test]
fn every_column_with_a_member_s_number_says_what_a_join_does_to_it() {
    let conn = migrated();
    assert_eq!(unjoined(&conn), Vec::<String>::new(), "declare each once in PERSONAL, beside the rows of its table");
    let known: BTreeSet<String> = columns(&conn).iter().map(|c| format!("{}.{}", c.table, c.name)).collect();
    for table in tables() {
        for join in table.joins {
            assert!(known.contains(&format!("{}.{}", table.name, join.column)), "{}.{}", table.name, join.column);
            if let OnJoin::Stays(why) = join.on_join {
                assert!(!why.is_empty(), "{}.{}", table.name, join.column);
            }
        }
    }
    conn.execute_batch(
        "ALTER TABLE bookings ADD COLUMN moved_by INTEGER;
         CREATE TABLE friends (member_id INTEGER REFERENCES members, friend INTEGER REFERENCES members) STRICT;",
    )
    .unwrap();
    assert_eq!(unjoined(&conn), ["bookings.moved_by", "friends.member_id", "friends.friend"]);
}
