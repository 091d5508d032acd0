//! Checks the database after a test: its integrity, its references and sums, and its row counts.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use tunneldesk::site::Site;
use tunneldesk::store::Read;

/// The number of rows by table.
pub type Rows = BTreeMap<String, i64>;

/// Tables of sums by the hour and the day, with queries that compute the same from the rows. Differences in either
/// direction are errors.
const HOURS: [(&str, &str); 4] = [
    (
        "SELECT tunnel_id, hour, flights, minutes FROM flown_hours WHERE flights <> 0 OR minutes <> 0",
        "SELECT tunnel_id, entry_date - (entry_date % 3600 + 3600) % 3600, count(*), sum(minutes) FROM entries
         WHERE kind = 'time' AND status = 'open' AND opening IS NULL GROUP BY 1, 2",
    ),
    (
        "SELECT tunnel_id, hour, partner_id, bookings, minutes, arrived FROM booked_hours
         WHERE bookings <> 0 OR minutes <> 0 OR arrived <> 0",
        "SELECT tunnel_id, flight_date - (flight_date % 3600 + 3600) % 3600, partner_id, count(*), sum(minutes_booked),
                count(arrived_at) FROM bookings WHERE ended_as IS NOT 'cancelled' GROUP BY 1, 2, 3",
    ),
    (
        "SELECT day, partner_id, event, times FROM event_days",
        "SELECT at - (at % 86400 + 86400) % 86400, partner_id, event, count(*) FROM history GROUP BY 1, 2, 3",
    ),
    (
        "SELECT partner_id, users FROM partners WHERE users <> 0",
        "SELECT partner_id, count(*) FROM partner_users WHERE deleted_at IS NULL GROUP BY 1",
    ),
];

/// The VFS of the server's own connections, which checks each page as it is read.
const CHECKED_VFS: &str = "checked";

/// Panics unless SQLite finds the database intact, every reference leads to a row, sums equal those of their rows, and
/// the search index equals that of its rows.
pub fn check(site: &Site) {
    site.store.release();
    let fault = find_fault(site).expect("the file can be looked at");
    assert_eq!(fault, None, "what is wrong with the file");
    let looked = site.store.read(|tx| {
        let dangling: Vec<String> = tx.list("PRAGMA foreign_key_check", [])?;
        assert!(dangling.is_empty(), "rows that refer to nothing are in {dangling:?}");
        for (kept, counted) in HOURS {
            for (one, other) in [(kept, counted), (counted, kept)] {
                let differ: i64 = tx
                    .get(&format!("SELECT count(*) FROM (SELECT * FROM ({one}) EXCEPT SELECT * FROM ({other}))"), [])?;
                assert_eq!(differ, 0, "sums that are not in both: {one}");
            }
        }
        Ok(())
    });
    looked.expect("the file can be read");
    site.store.release();
}

/// The fault that SQLite finds in the database, or FTS5 between an index and its rows.
///
/// The check uses a connection of its own: FTS5 keeps the structure of an index in memory, and notices changes of other
/// connections at a search but not at `integrity_check`, which would report such a change as damage.
fn find_fault(site: &Site) -> rusqlite::Result<Option<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags_and_vfs(site.store.path(), flags, CHECKED_VFS)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    let list =
        |sql: &str| conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>();
    let verdict = list("PRAGMA integrity_check")?;
    if verdict != ["ok"] {
        return Ok(Some(format!("PRAGMA integrity_check: {verdict:?}")));
    }
    for index in list("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(%'")? {
        // With rank 1 the index is compared with the rows; the statement writes nothing.
        let compare = format!("INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)");
        if let Err(fault) = conn.execute(&compare, []) {
            return Ok(Some(format!("{index} is not the index of its rows: {fault}")));
        }
    }
    Ok(None)
}

pub fn rows(site: &Site) -> Rows {
    site.store.release();
    let counted = site.store.read(|tx| {
        // A search index has a row of its own table for each document; to count the index itself would compute all that it
        // was made of.
        let counts: Vec<String> = tables(tx, "NOT LIKE 'CREATE VIRTUAL TABLE %'")?
            .iter()
            .map(|t| format!("SELECT '{t}', (SELECT count(*) FROM {t})"))
            .collect();
        Ok(tx.list(&counts.join(" UNION ALL "), [])?.into_iter().collect())
    });
    site.store.release();
    counted.expect("the file can be read")
}

/// The tables that are declared in this way.
fn tables(tx: &Read, declared: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql";
    tx.list(&format!("{sql} {declared}"), [])
}

/// Every column that contains this text, as `table.column`.
pub fn columns_with(site: &Site, text: &str) -> Vec<String> {
    site.store.release();
    let found = site.store.read(|tx| {
        let mut found = Vec::new();
        for table in tables(tx, "IS NOT NULL")? {
            let columns: Vec<String> = tx.list("SELECT name FROM pragma_table_info(?1)", [&table])?;
            for column in columns {
                let sql = format!("SELECT count(*) FROM {table} WHERE instr(CAST({column} AS TEXT), ?1) > 0");
                if tx.get::<i64>(&sql, [text])? > 0 {
                    found.push(format!("{table}.{column}"));
                }
            }
        }
        Ok(found)
    });
    site.store.release();
    found.expect("the file can be read")
}

mod tests {
    use super::find_fault;
    use crate::harness::{Caller, Site};

    fn name(site: &Site, member: &Caller, name: &str) {
        let sql = "UPDATE members SET real_name = ?2 WHERE member_id = ?1";
        site.change(|tx| Ok(tx.run(sql, (member.id, name))?));
    }

    /// The number of members found by these letters, on a connection that was used before.
    fn found(site: &Site, letters: &str) -> i64 {
        let sql = "SELECT count(*) FROM members_search WHERE members_search MATCH ?1";
        let found = site.inside().store.read(|tx| Ok(tx.get(sql, [letters])?)).unwrap();
        site.inside().store.release();
        found
    }

    #[test]
    fn a_connection_that_searched_before_a_name_changed_finds_the_new_one_and_the_file_sound() {
        let site = Site::open();
        let jane = site.member("jane");
        assert_eq!((found(&site, "jane"), found(&site, "quetzalina")), (1, 0));
        // The first words that are removed change the format of the index, in which a page may then be empty.
        name(&site, &jane, "Quetzalina");
        super::check(site.inside());
        name(&site, &jane, "Brunhilde");
        assert_eq!((found(&site, "quetzalina"), found(&site, "brunhilde")), (0, 1));
    }

    #[test]
    fn an_index_that_lacks_a_row_is_noticed() {
        let site = Site::open();
        let jane = site.member("jane");
        site.change(|tx| Ok(tx.run("DROP TRIGGER members_search_after", [])?));
        name(&site, &jane, "Quetzalina");
        let fault = find_fault(site.inside()).unwrap().expect("the name is not in the index");
        assert!(fault.contains("members_search"), "{fault}");
        site.change(|tx| Ok(tx.run("INSERT INTO members_search (members_search) VALUES ('rebuild')", [])?));
    }
}
