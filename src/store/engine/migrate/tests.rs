//! Tests of upgrades: of databases of released versions, and of databases that no version writes.

use super::*;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::params_from_iter;
use rusqlite::types::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Databases of released versions, and the last schema that each has.
const RELEASED: [(&str, i64); 3] = [
    (include_str!("../../../../tests/databases/V0008.sql"), 8),
    (include_str!("../../../../tests/databases/V0015.sql"), 15),
    (include_str!("../../../../tests/databases/V0025.sql"), 25),
];

fn released(dump: &str) -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    // A dump fills tables before those that they refer to.
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(dump).unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    conn
}

/// Every object and every row.
fn content(conn: &Connection) -> Vec<String> {
    let mut content: Vec<String> =
        objects(conn).unwrap().into_iter().map(|(name, sql)| format!("{name}: {sql}")).collect();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let tables: Vec<String> =
        conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables {
        let mut statement = conn.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = statement.column_count();
        let row =
            |row: &rusqlite::Row| (0..columns).map(|i| row.get::<_, Value>(i)).collect::<rusqlite::Result<Vec<_>>>();
        content.extend(statement.query_map([], row).unwrap().map(|row| format!("{table}: {:?}", row.unwrap())));
    }
    content
}

#[test]
fn the_latest_schema_is_that_of_the_last_migration() {
    let last = embedded::migrations::runner().get_migrations().iter().map(|migration| migration.version()).max();
    assert_eq!(Some(latest()), last.map(i64::from));
}

#[test]
fn an_entry_and_a_message_are_inserted_without_a_table_for_each_check() {
    let conn = at_schema(latest());
    for table in ["entries", "outbox"] {
        let mut columns = conn.prepare(&format!("SELECT name, '?' FROM pragma_table_info('{table}')")).unwrap();
        let columns = columns.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
        let (names, values): (Vec<_>, Vec<_>) = columns.map(Result::unwrap).unzip();
        let sql = format!("EXPLAIN INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "));
        let mut plan = conn.prepare(&sql).unwrap();
        let steps = plan.query_map(params_from_iter(names.iter()), |row| row.get::<_, String>(1)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(!steps.is_empty() && !steps.contains(&"OpenEphemeral".to_owned()), "{table}: {steps:?}");
    }
}

#[test]
fn an_entry_has_one_of_its_kinds_and_states() {
    let conn = at_schema(latest());
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    let enter = |kind: &str, status: &str| {
        let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, cat_group, created_at, updated_at)
                   VALUES (1, ?1, ?2, 0, 30, 1, 1, 'x', 0, 0)";
        conn.execute(sql, [kind, status]).is_ok()
    };
    for status in ["pending", "open", "denied", "suspended", "cancelled"] {
        assert!(["time", "skill", "safety"].iter().all(|kind| enter(kind, status)), "{status}");
    }
    assert!(!enter("walk", "open") && !enter("time", "lost") && !enter("", "open") && !enter("time", ""));
}

fn at_schema(last: i64) -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    migrate_to(&mut conn, last, &|_, _| Ok(())).unwrap();
    conn
}

/// Whether an action that SQLite is about to take changes the database. A rollback is no change.
fn changes(action: &AuthAction) -> bool {
    use rusqlite::hooks::TransactionOperation::Rollback;
    !matches!(
        action,
        AuthAction::Read { .. }
            | AuthAction::Select
            | AuthAction::Function { .. }
            | AuthAction::Recursive
            | AuthAction::Transaction { operation: Rollback }
    )
}

#[test]
fn databases_of_every_released_schema_get_the_schema_of_a_new_site() {
    for (dump, schema) in RELEASED {
        let mut conn = released(dump);
        assert_eq!(version(&conn).unwrap(), schema);
        let members = |conn: &Connection| -> Vec<(i64, String)> {
            let mut statement = conn.prepare("SELECT member_id, username FROM members ORDER BY 1").unwrap();
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
        };
        let before = members(&conn);
        assert!(before.len() >= 2, "{before:?}");
        migrate(&mut conn).unwrap();
        assert_eq!((version(&conn).unwrap(), members(&conn)), (latest(), before));
        assert_eq!(objects(&conn).unwrap(), objects(&at_schema(latest())).unwrap());
        migrate(&mut conn).unwrap();
    }
}

/// The suite lets every so manyth change fail, a prime number; `tests/deep` each.
const CHANGES_APART: i64 = 7;

/// Makes the upgrade of a released database fail at its changes in turn until it succeeds, and returns how
/// often it failed. One database serves for all attempts, because each failure leaves it unchanged.
fn fail_at_each_change(dump: &str, schema: i64) -> usize {
    let mut conn = released(dump);
    let before = content(&conn);
    let apart =
        if std::env::var_os("TUNNELDESK_DEEP").is_some_and(|wanted| !wanted.is_empty()) { 1 } else { CHANGES_APART };
    let (mut last, mut failed) = (0, 0);
    loop {
        let left = Arc::new(AtomicI64::new(last));
        let count = left.clone();
        let judge = move |context: AuthContext<'_>| {
            let denied = changes(&context.action) && count.fetch_sub(1, Ordering::Relaxed) < 1;
            if denied { Authorization::Deny } else { Authorization::Allow }
        };
        conn.authorizer(Some(judge)).unwrap();
        let done = migrate(&mut conn);
        conn.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).unwrap();
        if done.is_ok() && left.load(Ordering::Relaxed) >= 0 {
            return failed;
        }
        assert!(done.is_err() && conn.is_autocommit(), "after {last} changes: {done:?}");
        assert!(content(&conn) == before, "schema {schema} is between old and new after {last} changes");
        (last, failed) = (last + apart, failed + 1);
    }
}

#[test]
fn an_upgrade_that_fails_at_any_statement_leaves_the_database_unchanged() {
    let failed: usize = std::thread::scope(|scope| {
        let each = RELEASED.map(|(dump, schema)| scope.spawn(move || fail_at_each_change(dump, schema)));
        each.into_iter().map(|one| one.join().expect("no upgrade leaves anything")).sum()
    });
    assert!(failed > 100, "only {failed} statements were refused");
}

#[test]
fn an_upgrade_to_another_schema_than_a_new_sites_is_rolled_back() {
    for (spoil, named) in [
        ("CREATE TABLE stray (n)", "table stray"),
        ("DROP INDEX sessions_by_member", "index sessions_by_member"),
        ("PRAGMA foreign_keys = off; UPDATE members SET tunnel_id = 77", "refers to one that is not there"),
        ("UPDATE refinery_schema_history SET checksum = '7' WHERE version = 3", "V3__outbox"),
    ] {
        let mut conn = released(RELEASED[0].0);
        conn.execute_batch(spoil).unwrap();
        let before = content(&conn);
        let trouble = migrate(&mut conn).unwrap_err();
        assert!(trouble.contains(named) && !trouble.contains('\n'), "{spoil}: {trouble}");
        assert!(content(&conn) == before, "{spoil}");
    }
}

fn schema(conn: &Connection) -> String {
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' \
               AND name NOT LIKE 'refinery_%' \
               AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY type <> 'table', rowid";
    let mut statement = conn.prepare(sql).unwrap();
    let parts: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    format!(
        "-- The sum of the migrations; a test keeps it so (write it anew with UPDATE_SCHEMA=1).\n\n{};\n",
        parts.join(";\n\n")
    )
}

#[test]
fn schema_sql_is_the_sum_of_the_migrations() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql/schema.sql");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema(&conn)).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), schema(&conn), "run the tests with UPDATE_SCHEMA=1");
}

#[test]
fn payments_from_before_payments_without_a_member_are_kept() {
    let mut conn = at_schema(8);
    conn.execute_batch(
        "INSERT INTO tunnels VALUES (1, 'T', '', 'CH', 0);
         INSERT INTO site (only, site_id, tunnel_id, key_check, clock_high_water, created_at) VALUES (1, 'ab', 1, x'', 0, 0);
         INSERT INTO members (member_id, username, screen_name, real_name, email, join_date, updated_at)
             VALUES (7, 'jane', 'jane', 'jane', '', 1, 1);
         INSERT INTO payments (payment_id, member_id, intent_id, amount_cents, currency, status, created_at, updated_at)
             VALUES (41, 7, 'pi_1', 3000, 'CHF', 'succeeded', 2, 3);",
    )
    .unwrap();
    migrate(&mut conn).unwrap();
    let sql = "SELECT payment_id, member_id, intent_id, amount_cents, status, granted_to FROM payments";
    let read = |row: &rusqlite::Row| {
        let text: (String, String) = (row.get(2)?, row.get(4)?);
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, text, row.get::<_, i64>(3)?, row.get::<_, Option<i64>>(5)?))
    };
    let kept = conn.query_row(sql, [], read).unwrap();
    assert_eq!(kept, (41, 7, ("pi_1".to_owned(), "succeeded".to_owned()), 3000, None));
}

#[test]
fn a_newer_schema_is_refused_and_left_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    create(&data_dir).unwrap();
    assert_eq!(older(&data_dir).unwrap(), None);
    let newer = latest() + 1;
    super::super::connection::open_writer(&data_dir.database())
        .unwrap()
        .execute(
            "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (?1, 'later', '', '')",
            [newer],
        )
        .unwrap();
    let refusal = older(&data_dir).unwrap_err();
    assert!(refusal.contains(&format!("schema {newer}")) && !refusal.contains('\n'), "{refusal}");
}

#[test]
fn entries_from_before_the_events_get_their_present_state_as_first_event() {
    let mut conn = at_schema(8);
    conn.execute_batch(
        "INSERT INTO tunnels VALUES (1, 'T', '', 'CH', 0);
         INSERT INTO site (only, site_id, tunnel_id, key_check, clock_high_water, created_at) VALUES (1, 'ab', 1, x'', 0, 0);
         INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at) VALUES ('a', 'a', 'a', 'a', 0, 0);
         INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, cat_group, created_at, updated_at)
         VALUES (1, 'time', 'open', 5, 9, 1, 1, '', 5, 5), (1, 'skill', 'denied', 6, 0, 1, 1, 'Flyer', 7, 8)",
    )
    .unwrap();
    migrate(&mut conn).unwrap();
    let moves = crate::store::tables::entry_events::list(&crate::store::Read::on(&conn), 2).unwrap();
    assert_eq!((moves.len(), moves[0].at, moves[0].from.as_deref(), &*moves[0].to), (1, 7, None, "denied"));
    let all: i64 = conn.query_row("SELECT count(*) FROM entry_moves", [], |row| row.get(0)).unwrap();
    assert_eq!(all, 1, "flight time has no moves");
}
