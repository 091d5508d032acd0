//! Tests of upgrades: from this version's schema to that of a migration that stands for the next, and of databases that no
//! version writes.

use super::*;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::params_from_iter;
use rusqlite::types::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The migrations of this version, and one more.
fn with_later() -> Vec<Migration> {
    let sql = include_str!("../../../../tests/binary/upgrade/later.sql");
    let later = Migration::unapplied(&format!("V{}__later", latest() + 1), sql).unwrap();
    migrations().into_iter().chain([later]).collect()
}

fn at(migrations: &[Migration]) -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    migrate_by(&mut conn, migrations).unwrap();
    conn
}

/// A site of this version with rows of many tables.
fn site() -> Connection {
    let conn = at(&migrations());
    conn.execute_batch(
        "INSERT INTO tunnels (tunnel_id, name, country, created_at) VALUES (1, 'Windwerk', 'CH', 0);
         INSERT INTO site (only, site_id, tunnel_id, version, key_check, clock_high_water, created_at)
             VALUES (1, 'ab', 1, '0.1.0', x'00', 9000, 0);
         INSERT INTO members (member_id, username, screen_name, real_name, email, phone, join_date, updated_at)
             VALUES (7, 'jane', 'Jane', 'Jane Doe', 'jane@example.com', '+41445556677', 1, 1),
                    (8, 'mark', 'Mark', 'Mark Roe', 'mark@example.com', '', 1, 1);
         UPDATE members SET real_name = 'Jane Roe' WHERE member_id = 7;
         INSERT INTO partners (partner_id, client_id, name, created_at) VALUES (1, 'abc', 'Skyline', 0);
         INSERT INTO partner_users (partner_id, email, created_at, updated_at) VALUES (1, 'jane@example.com', 2, 2);
         INSERT INTO bookings (booking_id, partner_id, member_id, flight_date, minutes_booked, tunnel_id, arrived_at, arrived_by,
                               created_at, updated_at)
             VALUES (3, 1, 7, 7200, 10, 1, 7000, 8, 2, 2);
         INSERT INTO events (partner_id, type, at, member_id, booking_id, history_seq) VALUES (1, 'booking.recorded', 2, 7, 3, 1);
         INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, booking_id, cat_group,
                              created_at, updated_at)
             VALUES (7, 'time', 'open', 7200, 12, 1, 7, 3, '', 3, 3), (7, 'skill', 'denied', 7200, 0, 1, 7, NULL, 'Flyer', 3, 4);
         INSERT INTO entry_events VALUES (2, 1, 3, 7, NULL, 'pending'), (2, 2, 4, 8, 'pending', 'denied');
         INSERT INTO payments (payment_id, member_id, intent_id, amount_cents, currency, status, created_at, updated_at)
             VALUES (41, 7, 'pi_1', 3000, 'CHF', 'succeeded', 2, 3);
         INSERT INTO till_entries (payment_id, kind, amount_cents, currency, taken_by, taken_at)
             VALUES (41, 'cash', 3000, 'CHF', 8, 3);
         INSERT INTO refused_check_ins VALUES (3, 6000, 'too_early', NULL);",
    )
    .unwrap();
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
fn the_build_counts_the_migrations_and_has_the_checksum_of_the_first() {
    let migrations = migrations();
    assert_eq!(Some(latest()), migrations.last().map(|migration| i64::from(migration.version())));
    assert_eq!(env!("FIRST_MIGRATION_CHECKSUM"), migrations[0].checksum().to_string());
    assert!(begins_alike(&at(&migrations)).unwrap());
}

#[test]
fn an_entry_and_a_message_are_inserted_without_a_table_for_each_check() {
    let conn = at(&migrations());
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
    let conn = at(&migrations());
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
fn a_site_gets_the_later_schema_with_all_that_is_in_it() {
    let mut conn = site();
    migrate_by(&mut conn, &with_later()).unwrap();
    assert_eq!(version(&conn).unwrap(), latest() + 1);
    assert_eq!(objects(&conn).unwrap(), objects(&at(&with_later())).unwrap());
    let ask = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    for (sql, kept) in [
        ("SELECT group_concat(real_name || flight_minutes || entries) FROM members", "Jane Roe122,Mark Roe00"),
        ("SELECT group_concat(nickname) FROM nicknames", "jane,mark"),
        ("SELECT motto FROM tunnels", "Windwerk flies"),
        ("SELECT payment_id || intent_id || taken_by FROM payments JOIN till_entries USING (payment_id)", "41pi_18"),
        ("SELECT tapped_at || reason FROM refused_check_ins", "6000too_early"),
        ("SELECT flights || ' ' || minutes || ' ' || hour FROM flown_hours", "1 12 7200"),
        ("SELECT bookings || ' ' || minutes || ' ' || arrived FROM booked_hours", "1 10 1"),
        ("SELECT word FROM former_names", "Jane Doe"),
        ("SELECT rowid || '' FROM members_search WHERE members_search MATCH 'jane roe'", "7"),
    ] {
        assert_eq!(ask(sql), kept, "{sql}");
    }
    conn.execute("INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, cat_group, created_at,
                                       updated_at) VALUES (7, 'dive', 'open', 0, 0, 1, 7, 'x', 0, 0)", []).unwrap();
    migrate_by(&mut conn, &with_later()).unwrap();
}

/// The suite lets one change in this many fail, `tests/deep` each. A prime number.
const CHANGES_APART: i64 = 3;

/// Makes the upgrade fail at its changes in turn until it succeeds, and returns how often it failed. One database serves for
/// all attempts, because each failure leaves it unchanged.
fn fail_at_each_change() -> usize {
    let (mut conn, migrations) = (site(), with_later());
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
        let done = migrate_by(&mut conn, &migrations);
        conn.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).unwrap();
        if done.is_ok() && left.load(Ordering::Relaxed) >= 0 {
            return failed;
        }
        assert!(done.is_err() && conn.is_autocommit(), "after {last} changes: {done:?}");
        assert!(content(&conn) == before, "between old and new after {last} changes");
        (last, failed) = (last + apart, failed + 1);
    }
}

#[test]
fn an_upgrade_that_fails_at_any_statement_leaves_the_database_unchanged() {
    let failed = fail_at_each_change();
    assert!(failed > 20, "only {failed} statements were refused");
}

#[test]
fn an_upgrade_to_another_schema_than_a_new_sites_is_rolled_back() {
    for (spoil, named) in [
        ("CREATE TABLE stray (n)", "table stray"),
        ("DROP INDEX sessions_by_member", "index sessions_by_member"),
        ("PRAGMA foreign_keys = off; UPDATE members SET tunnel_id = 77", "refers to one that is not there"),
        ("UPDATE refinery_schema_history SET checksum = '7'", "V1__site"),
    ] {
        let mut conn = site();
        conn.execute_batch(spoil).unwrap();
        let before = content(&conn);
        let trouble = migrate_by(&mut conn, &with_later()).unwrap_err();
        assert!(trouble.contains(named) && !trouble.contains('\n'), "{spoil}: {trouble}");
        assert!(content(&conn) == before, "{spoil}");
    }
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
fn a_database_of_another_beginning_is_refused_whatever_its_schema_and_left_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    create(&data_dir).unwrap();
    let conn = super::super::connection::open_writer(&data_dir.database()).unwrap();
    conn.execute("UPDATE refinery_schema_history SET checksum = '14096704634564195803'", []).unwrap();
    for more in
        ["", "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (56, 'x', '', '')"]
    {
        conn.execute_batch(more).unwrap();
        let before = content(&conn);
        assert_eq!(older_at_rest(&data_dir), None);
        for refusal in [older(&data_dir).map(drop).unwrap_err(), schema(&data_dir).map(drop).unwrap_err()] {
            assert!(refusal.contains("before the first release") && !refusal.contains('\n'), "{refusal}");
        }
        assert!(content(&conn) == before);
    }
}

#[test]
fn an_index_or_trigger_that_another_program_removed_is_made_anew_and_a_table_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    create(&data_dir).unwrap();
    let conn = super::super::connection::open_writer(&data_dir.database()).unwrap();
    let before = content(&conn);
    for change in [
        "DROP INDEX sessions_by_member",
        "DROP TRIGGER audit_is_final; CREATE TRIGGER audit_is_final BEFORE DELETE ON audit BEGIN SELECT 1; END",
        "DROP TRIGGER audit_is_kept; DROP TRIGGER audit_goes_on; DROP INDEX sessions_by_member",
        "CREATE TRIGGER \"so \"\"foreign\" AFTER INSERT ON sessions BEGIN UPDATE members SET role = 'admin'; END",
    ] {
        conn.execute_batch(change).unwrap();
        assert!(content(&conn) != before, "{change}");
        assert_eq!(older(&data_dir), Ok(None), "{change}");
        assert!(alarm::clear(dir.path(), alarm::Kind::Changed), "{change}");
        assert!(content(&conn) == before, "{change}");
    }
    for (change, named) in [
        ("ALTER TABLE sessions ADD COLUMN more TEXT", "table sessions"),
        ("PRAGMA foreign_keys = off; DROP TABLE invitations", "table invitations"),
    ] {
        let copy = tempfile::tempdir().unwrap();
        let copy = DataDir::lock(copy.path()).unwrap();
        create(&copy).unwrap();
        super::super::connection::open_writer(&copy.database()).unwrap().execute_batch(change).unwrap();
        let refusal = older(&copy).unwrap_err();
        assert!(refusal.contains(named) && refusal.contains("restore") && !refusal.contains('\n'), "{refusal}");
    }
}
