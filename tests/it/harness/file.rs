//! Checks the file after a test: sound, complete, and how many rows it has.

use std::collections::BTreeMap;
use tunneldesk::site::Site;
use tunneldesk::store::Read;

/// Rows by table.
pub type Rows = BTreeMap<String, i64>;

/// Sums by the hour and the day against the rows that they add up: what is in one and not in the other.
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

/// Panics unless SQLite finds the file sound, every reference leads somewhere, and sums are those of their rows.
pub fn check(site: &Site) {
    site.store.rest();
    let looked = site.store.read(|tx| {
        let verdict: Vec<String> = tx.list("PRAGMA integrity_check", [], |row| row.get(0))?;
        assert_eq!(verdict, ["ok"], "PRAGMA integrity_check");
        let dangling: Vec<String> = tx.list("PRAGMA foreign_key_check", [], |row| row.get(0))?;
        assert!(dangling.is_empty(), "rows that refer to nothing are in {dangling:?}");
        for (kept, counted) in HOURS {
            for (one, other) in [(kept, counted), (counted, kept)] {
                let differ: i64 = tx.get(
                    &format!("SELECT count(*) FROM (SELECT * FROM ({one}) EXCEPT SELECT * FROM ({other}))"),
                    [],
                    |row| row.get(0),
                )?;
                assert_eq!(differ, 0, "sums that are not in both: {one}");
            }
        }
        Ok(())
    });
    looked.expect("the file can be read");
    site.store.rest();
}

pub fn rows(site: &Site) -> Rows {
    site.store.rest();
    let counted = site.store.read(|tx| {
        let counts: Vec<String> =
            tables(tx)?.iter().map(|t| format!("SELECT '{t}', (SELECT count(*) FROM {t})")).collect();
        Ok(tx.list(&counts.join(" UNION ALL "), [], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
    });
    site.store.rest();
    counted.expect("the file can be read")
}

fn tables(tx: &Read) -> rusqlite::Result<Vec<String>> {
    tx.list("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", [], |row| row.get(0))
}

/// Every column in which this text stands, as `table.column`.
pub fn columns_with(site: &Site, text: &str) -> Vec<String> {
    site.store.rest();
    let found = site.store.read(|tx| {
        let mut found = Vec::new();
        for table in tables(tx)? {
            let columns: Vec<String> = tx.list("SELECT name FROM pragma_table_info(?1)", [&table], |row| row.get(0))?;
            for column in columns {
                let sql = format!("SELECT count(*) FROM {table} WHERE instr(CAST({column} AS TEXT), ?1) > 0");
                if tx.get(&sql, [text], |row| row.get::<_, i64>(0))? > 0 {
                    found.push(format!("{table}.{column}"));
                }
            }
        }
        Ok(found)
    });
    site.store.rest();
    found.expect("the file can be read")
}
