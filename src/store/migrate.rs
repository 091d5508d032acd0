//! Brings a file to this binary's schema: a newer one is refused, an older one is copied before it is changed, and all
//! migrations run in one transaction.

use super::place::Place;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

mod embedded {
    refinery::embed_migrations!("sql/migrations");
}

/// What [`run`] did.
#[derive(Debug, PartialEq)]
pub enum Migrated {
    /// The file was new.
    Created,
    /// Nothing was to be done.
    Current,
    /// It was older; a verified copy of it as it was lies there.
    Upgraded { from: i64, copy: PathBuf },
}

/// The schema that this binary knows.
pub fn latest() -> i64 {
    embedded::migrations::runner().get_migrations().iter().map(|m| i64::from(m.version())).max().unwrap_or(0)
}

/// The error is one line that says what to do.
pub fn run(place: &Place) -> Result<Migrated, String> {
    let path = place.database();
    let broken = |e: rusqlite::Error| format!("cannot read {}: {e}", path.display());
    let fresh = !path.exists();
    let mut conn = super::connection::open_writer(&path).map_err(broken)?;
    let found = if fresh { 0 } else { version(&conn).map_err(broken)? };
    if found > latest() {
        return Err(format!(
            "{} has schema {found} and this tunneldesk knows up to {}: start the version that wrote it, or a newer one",
            path.display(),
            latest()
        ));
    }
    if found == latest() {
        return Ok(Migrated::Current);
    }
    let copy = if found == 0 { None } else { Some(copy_before(place, &conn, found)?) };
    migrate(&mut conn).map_err(|e| format!("{} could not be upgraded and is as it was: {e}", path.display()))?;
    Ok(copy.map_or(Migrated::Created, |copy| Migrated::Upgraded { from: found, copy }))
}

/// Refuses a file that would have to be upgraded first, where nothing can be written.
pub fn check_current(store: &super::Store, path: &Path) -> Result<(), String> {
    let found =
        store.writer().alone(|conn| version(conn)).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    if found == latest() {
        return Ok(());
    }
    Err(format!(
        "the disk under {} takes no writes, and the file must be upgraded first: make the disk writable",
        path.display()
    ))
}

/// All of this binary's migrations on a connection, in one transaction.
pub fn migrate(conn: &mut Connection) -> Result<(), refinery::Error> {
    embedded::migrations::runner().set_grouped(true).run(conn).map(|_| ())
}

fn version(conn: &Connection) -> rusqlite::Result<i64> {
    let table = "SELECT count(*) FROM sqlite_schema WHERE name = 'refinery_schema_history'";
    if conn.query_row(table, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(0);
    }
    conn.query_row("SELECT coalesce(max(version), 0) FROM refinery_schema_history", [], |row| row.get(0))
}

/// A copy made by SQLite itself, counted only after it was opened and checked.
fn copy_before(place: &Place, conn: &Connection, version: i64) -> Result<PathBuf, String> {
    let failed =
        |what: &str, e: &dyn std::fmt::Display| format!("the upgrade needs a copy of the file first, and {what}: {e}");
    let dir = place.dir().join("backups");
    std::fs::create_dir_all(&dir).map_err(|e| failed("its directory cannot be made", &e))?;
    let copy = dir.join(format!("before-schema-{}-from-{version}.sqlite", latest()));
    if copy.exists() {
        std::fs::remove_file(&copy).map_err(|e| failed("an older copy is in the way", &e))?;
    }
    conn.execute("VACUUM INTO ?1", [copy.to_string_lossy()]).map_err(|e| failed("it cannot be written", &e))?;
    verify(&copy).map_err(|e| failed("it is not sound", &e))?;
    std::fs::File::open(&copy).and_then(|f| f.sync_all()).map_err(|e| failed("it cannot be flushed", &e))?;
    Ok(copy)
}

fn verify(copy: &Path) -> Result<(), String> {
    let conn = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|e| e.to_string())?;
    let verdict: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(|e| e.to_string())?;
    if verdict == "ok" { Ok(()) } else { Err(verdict) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
