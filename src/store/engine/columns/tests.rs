//! Tests that every statement fits the schema, and that no statement escapes that test.

use super::*;
use crate::domain::ids::{JoinId, MemberId, PartnerId};
use crate::domain::mention::{Person, Terms};
use crate::keys::Keys;
use crate::moment::Moment;
use crate::store::Write;
use crate::store::clock;
use crate::store::engine::connection::prepare_connection;
use crate::store::engine::migrate;
use crate::store::engine::reader::CACHE_KIB;
use crate::store::queries::{erasure, joining, mentions, personal_data, sealed};
use crate::store::tables::{self, audit, bookings, history};
use rusqlite::Connection;
use std::path::Path;

/// Files whose statements are built at run time, each with the test that covers them.
const AT_RUN_TIME: [(&str, &str); 13] = [
    ("engine/", "statements of the file itself, before or beside its schema"),
    ("bulk.rs", "the demo is made by them"),
    ("clock.rs", "below: the clock is set back"),
    ("personal.rs", "below: expired rows of every table are removed"),
    ("queries/erasure.rs", "below: a member is erased"),
    ("queries/joining.rs", "below: two members are joined and parted"),
    ("queries/personal_data/mod.rs", "below: what is held of a member is read"),
    ("queries/mentions.rs", "below: each table is looked through"),
    ("queries/sealed.rs", "below: each is prepared"),
    ("tables/audit.rs", "below: with every condition"),
    ("tables/bookings.rs", "below: with every condition"),
    ("tables/history.rs", "below: with every condition"),
    ("mod.rs", "the way statements run"),
];

fn file() -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    prepare_connection(&conn, CACHE_KIB).unwrap();
    migrate::migrate(&mut conn).unwrap();
    conn
}

/// SQLite's error for each statement that it refuses.
fn refused<'s>(conn: &Connection, statements: impl IntoIterator<Item = &'s (&'s str, &'s str)>) -> Vec<String> {
    let say = |(place, sql): &(&str, &str)| conn.prepare(sql).err().map(|e| format!("{place}: {e}"));
    statements.into_iter().filter_map(say).collect()
}

#[test]
fn every_statement_fits_the_schema() {
    assert!(STATEMENTS.len() > 400, "{} statements: where are the others?", STATEMENTS.len());
    assert_eq!(refused(&file(), STATEMENTS), Vec::<String>::new());
}

#[test]
fn a_statement_that_names_a_column_the_table_lacks_is_refused() {
    let refused =
        refused(&file(), &[("here", "SELECT username FROM members"), ("there", "SELECT nickname FROM members")]);
    assert_eq!(refused.len(), 1);
    assert!(refused[0].starts_with("there: no such column: nickname"), "{refused:?}");
}

#[test]
fn statements_that_are_put_together_at_run_time_fit_the_schema() {
    let conn = file();
    let (tx, keys) = (Write::on(&conn, Moment(100)), Keys::from_bytes([7; 32]));
    let sealed: Vec<String> = crate::keys::columns::ALL.iter().flat_map(sealed::statements).collect();
    assert_eq!(refused(&conn, &sealed.iter().map(|sql| ("sealed", &**sql)).collect::<Vec<_>>()), Vec::<String>::new());
    clock::set_back(&tx).unwrap();
    tables::purge_expired(&tx, 1).unwrap();
    for data_set in personal_data::data_sets() {
        personal_data::rows(&tx, &keys, data_set, MemberId(1)).unwrap();
    }
    let search = mentions::Search { keys: &keys, terms: &Terms::default(), stand_in: "somebody" };
    for table in mentions::tables() {
        mentions::count(&tx, table).unwrap();
        mentions::list(&tx, &search, table, None, 9).unwrap();
        mentions::list(&tx, &search, table, Some(&0.into()), 9).unwrap();
    }
    let pair = joining::Pair { joined: MemberId(1), survivor: MemberId(2) };
    joining::list_refusals(&tx, pair).unwrap();
    joining::count(&tx, pair).unwrap();
    joining::move_rows(&tx, JoinId(1), pair).unwrap();
    joining::give_back(&tx, JoinId(1), pair).unwrap();
    let person = Person { member_id: MemberId(1), ..Person::default() };
    erasure::erase(&tx, &keys, &person, Moment(100), "somebody").unwrap();
    let some = Some(1);
    let word = || Some("member:1".to_owned());
    let booked = bookings::Filter {
        partner_id: some.map(PartnerId),
        member_id: some.map(MemberId),
        from: some.map(Moment),
        to: some.map(Moment),
        after: some,
    };
    let happened =
        history::Filter { partner_id: some.map(PartnerId), from: some.map(Moment), to: some.map(Moment), after: some };
    let done = audit::Filter {
        actor: word(),
        subject: word(),
        action: word(),
        since: None,
        until: some.map(Moment),
        before: some,
    };
    for filter in [booked, bookings::Filter::default()] {
        bookings::list(&tx, &filter, 1, 0).unwrap();
        bookings::count(&tx, &filter).unwrap();
    }
    for filter in [happened, history::Filter::default()] {
        history::list(&tx, &filter, 1, 0).unwrap();
        history::count(&tx, &filter).unwrap();
    }
    for filter in [done.clone(), audit::Filter { actor: Some("cli".to_owned()), ..done }, audit::Filter::default()] {
        audit::list(&tx, &filter, 1).unwrap();
    }
}

#[test]
fn no_statement_and_no_position_escapes_the_macros() {
    let mut found = Vec::new();
    look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store"), "", &mut found);
    assert_eq!(found, Vec::<String>::new());
}

/// Adds to `found` each statement outside a macro and each column read by number, in all files of a directory except
/// tests.
fn look(dir: &Path, name: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy();
        let name = format!("{name}{file}");
        if path.is_dir() {
            look(&path, &format!("{name}/"), found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let allowed = |list: &[(&str, &str)]| list.iter().any(|(start, _)| name.starts_with(start));
        if file == "tests.rs" || allowed(&AT_RUN_TIME[..2]) {
            continue;
        }
        if product.contains("row.get(") || product.contains("row.get::<") {
            found.push(format!("{name}: reads a column by its number or name: declare it by row!"));
        }
        for verb in ["SELECT ", "INSERT ", "UPDATE ", "DELETE "] {
            for (at, _) in product.match_indices(&format!("\"{verb}")) {
                let before: String = product[..at].split_whitespace().collect();
                let in_macro = ["sql!(", "joined!(", "insert!(tx.run,", "insert!(tx.insert,", "update!(tx,"];
                if !in_macro.iter().any(|start| before.ends_with(start)) && !allowed(&AT_RUN_TIME) {
                    let line = product[..at].lines().count();
                    found.push(format!("{name}:{line}: a statement outside of sql!, insert! and update!"));
                }
            }
        }
    }
}

row! {
    #[derive(Debug, PartialEq)]
    struct Sum in "p." {
        name: String,
        doubled: Option<i64> = "2 * p.number",
    }
}

row! {
    #[derive(Debug, PartialEq)]
    struct Pair {
        id: i64,
        text: String,
    } saved
}

#[test]
fn a_row_is_read_and_written_by_its_one_list_of_columns() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch("CREATE TABLE pairs (id INTEGER PRIMARY KEY, text TEXT, more INTEGER)").unwrap();
    assert_eq!((Sum::COLUMNS, Pair::COLUMNS), ("p.name, 2 * p.number", "id, text"));
    let sql = joined!("SELECT 7, ", Sum::COLUMNS, ", 1 FROM (SELECT 'x' AS name, 21 AS number) p");
    let found = conn.query_row(sql, [], row::<(i64, Sum, bool)>).unwrap();
    assert_eq!(found, (7, Sum { name: "x".to_owned(), doubled: Some(42) }, true));
    let pair = Pair { id: 3, text: "three".to_owned() };
    let names = format!("INSERT INTO pairs ({}) VALUES ({})", Pair::NAMES, Pair::PLACES);
    conn.execute(&names, &*pair.values()).unwrap();
    let replaced = format!("{names} ON CONFLICT (id) DO UPDATE SET {}", Pair::EXCLUDED);
    conn.execute(&replaced, &*Pair { id: 3, text: "drei".to_owned() }.values()).unwrap();
    let read = conn.query_row("SELECT id, text FROM pairs", [], row::<Pair>).unwrap();
    assert_eq!(read, Pair { id: 3, text: "drei".to_owned() });
    assert_eq!(Pair::CHANGES, "id = ?, text = ?");
}

#[test]
fn a_name_that_an_enum_does_not_have_is_an_error() {
    let conn = Connection::open_in_memory().unwrap();
    assert_eq!(conn.query_row("SELECT 'desk'", [], row::<Role>).unwrap(), Role::Desk);
    assert_eq!(conn.query_row("SELECT NULL", [], row::<Option<Role>>).unwrap(), None);
    assert!(conn.query_row("SELECT 'nobody'", [], row::<Option<Role>>).is_err());
}
