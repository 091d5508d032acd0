use super::*;

fn schema(conn: &Connection) -> String {
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' \
               AND name NOT LIKE 'refinery_%' ORDER BY type <> 'table', rowid";
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
fn payments_of_before_they_could_be_nobody_s_are_kept() {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    embedded::migrations::runner().set_target(refinery::Target::Version(8)).run(&mut conn).unwrap();
    conn.execute_batch(
        "INSERT INTO members (member_id, username, screen_name, real_name, email, join_date, updated_at)
             VALUES (7, 'jane', 'jane', 'jane', '', 1, 1);
         INSERT INTO payments (payment_id, member_id, intent_id, amount_cents, currency, status, created_at, updated_at)
             VALUES (41, 7, 'pi_1', 3000, 'CHF', 'succeeded', 2, 3);",
    )
    .unwrap();
    migrate(&mut conn).unwrap();
    let sql = "SELECT payment_id, member_id, intent_id, amount_cents, status, granted_to FROM payments";
    let read = |row: &rusqlite::Row| {
        let text: (String, String) = (row.get(2)?, row.get(4)?);
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, i64>(1)?,
            text,
            row.get::<_, i64>(3)?,
            row.get::<_, Option<i64>>(5)?,
        ))
    };
    let kept = conn.query_row(sql, [], read).unwrap();
    assert_eq!(kept, (41, 7, ("pi_1".to_owned(), "succeeded".to_owned()), 3000, None));
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::hold(dir.path()).unwrap();
    assert_eq!(run(&place).unwrap(), Migrated::Created);
    assert_eq!(run(&place).unwrap(), Migrated::Current);
    let newer = latest() + 1;
    Connection::open(place.database())
        .unwrap()
        .execute("INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (?1, 'later', '', '')", [newer])
        .unwrap();
    let refusal = run(&place).unwrap_err();
    assert!(refusal.contains(&format!("schema {newer}")) && !refusal.contains('\n'), "{refusal}");
}

#[test]
fn entries_from_before_their_moves_were_kept_begin_where_they_are() {
    let mut conn = Connection::open_in_memory().unwrap();
    let before = refinery::Target::Version(8);
    embedded::migrations::runner().set_grouped(true).set_target(before).run(&mut conn).unwrap();
    conn.execute_batch(
        "INSERT INTO tunnels VALUES (1, 'T', '', 'CH', 0);
         INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at) VALUES ('a', 'a', 'a', 'a', 0, 0);
         INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, cat_group, created_at, updated_at)
         VALUES (1, 'time', 'open', 5, 9, 1, 1, '', 5, 5), (1, 'skill', 'denied', 6, 0, 1, 1, 'Flyer', 7, 8)",
    )
    .unwrap();
    migrate(&mut conn).unwrap();
    let moves = super::super::moves::list(&super::super::Read::on(&conn), 2).unwrap();
    assert_eq!((moves.len(), moves[0].at, moves[0].from.as_deref(), &*moves[0].to), (1, 7, None, "denied"));
    let all: i64 = conn.query_row("SELECT count(*) FROM entry_moves", [], |row| row.get(0)).unwrap();
    assert_eq!(all, 1, "flight time has no moves");
}

#[test]
fn an_older_file_is_copied_before_it_is_upgraded() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::hold(dir.path()).unwrap();
    // A file of schema 0.5, so to speak: the history says something came before the first migration we know.
    let older = "CREATE TABLE refinery_schema_history (version INTEGER PRIMARY KEY, name TEXT, applied_on TEXT, checksum TEXT)";
    let conn = Connection::open(place.database()).unwrap();
    conn.execute_batch(&format!(
        "{older}; CREATE TABLE keepsake (word TEXT); INSERT INTO keepsake VALUES ('kept')"
    ))
    .unwrap();
    let copy = copy_before(&place, &conn, 0).unwrap();
    let word: String =
        Connection::open(&copy).unwrap().query_row("SELECT word FROM keepsake", [], |row| row.get(0)).unwrap();
    assert_eq!(word, "kept");
    assert!(verify(&copy).is_ok());
}
