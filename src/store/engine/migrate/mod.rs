//! Migrates a database to this binary's schema. A newer schema is refused. All migrations of an older one run in one
//! transaction, which is committed only where the result has the schema that a new site would have.

#[cfg(debug_assertions)]
mod later;

use super::alarm;
use super::data_dir::DataDir;
use crate::clock::Clock;
use crate::moment::Moment;
use refinery::Migration;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use std::fmt::Display;
use std::path::Path;

mod embedded {
    refinery::embed_migrations!("sql/migrations");
}

/// The table of applied migrations, in the form of the `refinery` library.
const HISTORY: &str = "CREATE TABLE IF NOT EXISTS refinery_schema_history(
             version INT4 PRIMARY KEY,
             name VARCHAR(255),
             applied_on VARCHAR(255),
             checksum VARCHAR(255));";

/// A database with an older schema.
#[derive(Debug, PartialEq)]
pub(crate) struct Older {
    pub schema: i64,
    /// The version of the program that opened the database last.
    pub version: String,
    /// The latest moment that the database stored, in Unix seconds.
    pub clock_high_water: Moment,
    /// The text by which the site key is recognised, sealed by that key.
    pub key_check: Vec<u8>,
}

/// The schema of this binary. Counted at build time, because the first use of the migration library allocates half a
/// megabyte of regular expressions, which a normal start does without.
pub(crate) fn latest() -> i64 {
    const LATEST: &str = env!("LATEST_SCHEMA");
    let latest: i64 = LATEST.parse().expect("the build counts the migrations");
    #[cfg(debug_assertions)]
    let latest = latest + i64::from(later::path().is_some());
    latest
}

/// The migrations of this binary, in their order.
fn migrations() -> Vec<Migration> {
    let mut migrations = embedded::migrations::runner().get_migrations().clone();
    #[cfg(debug_assertions)]
    migrations.extend(later::path().map(later::read));
    migrations.sort_by_key(Migration::version);
    migrations
}

/// Creates the database of a new site where there is none. The error is one line that says what to do.
pub(crate) fn create(data_dir: &DataDir) -> Result<(), String> {
    let path = data_dir.database();
    let made = super::connection::open_writer(&path).map_err(|e| e.to_string()).and_then(|mut conn| migrate(&mut conn));
    made.map_err(|e| format!("{} cannot be made: {e}", path.display()))
}

/// Reads the schema version of a database. One with another first migration is an error.
pub(crate) fn schema(data_dir: &DataDir) -> Result<i64, String> {
    let path = data_dir.database();
    let read = super::connection::open_writer(&path).and_then(|conn| Ok((version(&conn)?, begins_alike(&conn)?)));
    match read {
        Ok((_, false)) => Err(foreign(&path)),
        Ok((schema, true)) => Ok(schema),
        Err(e) => Err(format!("cannot read {}: {e}", path.display())),
    }
}

/// Whether the first migration of a database is this program's; also where it has none yet. It is edited until the first release.
fn begins_alike(conn: &Connection) -> rusqlite::Result<bool> {
    const FIRST: &str = env!("FIRST_MIGRATION_CHECKSUM");
    if version(conn)? == 0 {
        return Ok(true);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM refinery_schema_history WHERE version = 1 AND checksum = ?1)";
    conn.query_row(sql, [FIRST], |row| row.get(0))
}

/// The error for a database with another first migration, in one line.
fn foreign(path: &Path) -> String {
    format!(
        "{} was made by a tunneldesk from before the first release, whose files this one does not read, and was left as it is: \
         run the one that made it, or make a new site in another directory with `tunneldesk init`",
        path.display()
    )
}

/// Describes a database with an older schema; `None`: it has this binary's schema, in which [`mend`] made anew what was missing.
/// A newer schema is an error.
pub(crate) fn older(data_dir: &DataDir) -> Result<Option<Older>, String> {
    let path = data_dir.database();
    let broken = |e: rusqlite::Error| format!("cannot read {}: {e}", path.display());
    let mut conn = super::connection::open_writer(&path).map_err(broken)?;
    let found = version(&conn).map_err(broken)?;
    if !begins_alike(&conn).map_err(broken)? {
        return Err(foreign(&path));
    }
    if found > latest() {
        return Err(format!(
            "{} has schema {found} and this tunneldesk knows up to {}: start the version that wrote it, or a newer one",
            path.display(),
            latest()
        ));
    }
    if found == latest() {
        return mend(&mut conn, &path).map(|()| None);
    }
    let described = if found == 0 { Ok(None) } else { describe(&conn, found) };
    described.map_err(broken)?.ok_or_else(|| data_dir.without_site()).map(Some)
}

/// [`older`] without a write: for a database that was closed, and is to stay as it is. `None`: it has this binary's schema or a
/// newer one, has a WAL, or cannot be read; then [`older`] says more.
pub(crate) fn older_at_rest(data_dir: &DataDir) -> Option<Older> {
    let path = data_dir.database();
    let conn = super::connection::open_immutable(&path).ok().filter(|_| super::quick_check::wal_is_empty(&path))?;
    let found = version(&conn).ok().filter(|found| (1..latest()).contains(found))?;
    begins_alike(&conn).ok().filter(|alike| *alike)?;
    describe(&conn, found).ok().flatten()
}

fn describe(conn: &Connection, schema: i64) -> rusqlite::Result<Option<Older>> {
    let described = conn.query_row("SELECT version, clock_high_water, key_check FROM site", [], |row| {
        Ok(Older { schema, version: row.get(0)?, clock_high_water: row.get(1)?, key_check: row.get(2)? })
    });
    described.optional()
}

/// Upgrades the database, of which the caller has a backup. A failure leaves it unchanged.
pub(crate) fn upgrade(data_dir: &DataDir) -> Result<(), String> {
    let path = data_dir.database();
    let opened = super::connection::open_writer(&path).map_err(|e| e.to_string());
    let done = opened.and_then(|mut conn| migrate(&mut conn));
    done.map_err(|e| format!("{} could not be upgraded and is as it was: {e}", path.display()))
}

/// Compares the schema of a file with that of a new site: another program may have changed it. Indexes, triggers and views are
/// made anew, and triggers that are not this program's are dropped, with an alarm; a table that is missing or was changed is an
/// error.
fn mend(conn: &mut Connection, path: &Path) -> Result<(), String> {
    let failed = |e: rusqlite::Error| format!("cannot compare the schema of {}: {}", path.display(), one_line(e));
    let right = objects(&fresh().map_err(failed)?).map_err(failed)?;
    let found = objects(conn).map_err(failed)?;
    let missing = right.iter().filter(|object| !found.contains(object));
    let foreign = found
        .iter()
        .filter(|(object, _)| object.starts_with("trigger ") && !right.iter().any(|(one, _)| one == object));
    let mut odd: Vec<(&str, Option<&str>)> = missing.map(|(object, sql)| (&**object, Some(&**sql))).collect();
    odd.extend(foreign.map(|(object, _)| (&**object, None)));
    // A missing table is named before its indexes, which cannot be made without it.
    odd.sort_by_key(|(object, _)| !object.starts_with("table "));
    let [(first, _), others @ ..] = &*odd else { return Ok(()) };
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for (object, sql) in &odd {
        let (kind, name) = object.split_once(' ').unwrap_or(("", object));
        let statements =
            format!("DROP {kind} IF EXISTS \"{}\"; {}", name.replace('"', "\"\""), sql.unwrap_or_default());
        if !matches!(kind, "index" | "trigger" | "view") || tx.execute_batch(&statements).is_err() {
            return Err(format!(
                "the {object} of {} is missing or was changed by another program; `tunneldesk restore --dry-run` says how much a \
                 backup has: put a backup in its place with `tunneldesk restore`",
                path.display()
            ));
        }
    }
    tx.commit().map_err(failed)?;
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    let cause = format!("{first}{more} of the schema: removed, changed or added by another program, and put right");
    tracing::error!(cause, "the file is not what this program left; the doctor says what to do");
    alarm::raise(path.parent().unwrap_or(path), alarm::Kind::Changed, Clock::machine(Moment(0)).now(), &cause);
    Ok(())
}

/// A database in memory with the schema of a new site, made without the migration library.
fn fresh() -> rusqlite::Result<Connection> {
    let conn = Connection::open_in_memory()?;
    conn.execute_batch(include_str!(concat!(env!("OUT_DIR"), "/schema.sql")))?;
    #[cfg(debug_assertions)]
    conn.execute_batch(later::path().map(later::read).as_ref().and_then(Migration::sql).unwrap_or_default())?;
    Ok(conn)
}

/// Applies all migrations that the connection's database lacks, and tests the result, in one transaction.
pub(crate) fn migrate(conn: &mut Connection) -> Result<(), String> {
    migrate_by(conn, &migrations())
}

fn migrate_by(conn: &mut Connection, migrations: &[Migration]) -> Result<(), String> {
    // Migrations may edit `sqlite_schema` to change a CHECK constraint.
    let is_defensive = conn.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE).map_err(one_line)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).map_err(one_line)?;
    let done = apply_in_one(conn, migrations);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, is_defensive).map_err(one_line)?;
    done
}

fn apply_in_one(conn: &mut Connection, migrations: &[Migration]) -> Result<(), String> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(one_line)?;
    let before = version(&tx).map_err(one_line)?;
    apply(&tx, before, migrations)?;
    // A new database needs no test: it is made by the statements that it would be compared with.
    if before > 0 {
        test(&tx, migrations)?;
    }
    tx.commit().map_err(one_line)
}

fn one_line(error: impl Display) -> String {
    error.to_string().replace('\n', ": ")
}

fn apply(tx: &Transaction, before: i64, migrations: &[Migration]) -> Result<(), String> {
    tx.execute_batch(HISTORY).map_err(one_line)?;
    for migration in migrations {
        let failed = |e: rusqlite::Error| format!("{migration}: {}", one_line(e));
        let checksum = migration.checksum().to_string();
        if i64::from(migration.version()) <= before {
            let sql = "SELECT count(*) FROM refinery_schema_history WHERE version = ?1 AND checksum = ?2";
            if tx.query_row(sql, (migration.version(), &checksum), |row| row.get::<_, i64>(0)).map_err(failed)? == 0 {
                return Err(format!("its {migration} is not this program's: it was made by another program"));
            }
            continue;
        }
        tx.execute_batch(migration.sql().unwrap_or_default()).map_err(failed)?;
        let sql = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
                   VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%SZ'), ?3)";
        tx.execute(sql, (migration.version(), migration.name(), &checksum)).map_err(failed)?;
    }
    Ok(())
}

/// Checks that an upgraded database is sound, and has the schema of a new site.
fn test(conn: &Connection, migrations: &[Migration]) -> Result<(), String> {
    let failed = |what: String| format!("the upgraded file does not pass its test: {what}");
    super::copy::check_all(conn).map_err(|e| failed(one_line(e)))?;
    let mut fresh = Connection::open_in_memory().map_err(one_line)?;
    migrate_by(&mut fresh, migrations)?;
    let (ours, new) = (objects(conn).map_err(one_line)?, objects(&fresh).map_err(one_line)?);
    if ours == new {
        return Ok(());
    }
    let odd = ours.iter().find(|object| !new.contains(object)).or(new.iter().find(|object| !ours.contains(object)));
    Err(failed(format!("{} is not as in a new site", odd.map_or("the order", |(name, _)| name))))
}

/// The name of each table, index and trigger, and the statement that creates it.
fn objects(conn: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' \
               AND name NOT LIKE 'refinery_%' ORDER BY 1";
    conn.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Refuses a database with another schema on a read-only file system.
pub(crate) fn check_current(store: &crate::store::Store, path: &Path) -> Result<(), String> {
    let found = store.writer().exclusive(|conn| Ok((version(conn)?, begins_alike(conn)?)));
    match found.map_err(|e: rusqlite::Error| format!("cannot read {}: {e}", path.display()))? {
        (_, false) => Err(foreign(path)),
        (found, true) if found == latest() => Ok(()),
        _ => Err(format!(
            "the disk under {} takes no writes, and the file must be upgraded first: make the disk writable",
            path.display()
        )),
    }
}

fn version(conn: &Connection) -> rusqlite::Result<i64> {
    let table = "SELECT count(*) FROM sqlite_schema WHERE name = 'refinery_schema_history'";
    if conn.query_row(table, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(0);
    }
    conn.query_row("SELECT coalesce(max(version), 0) FROM refinery_schema_history", [], |row| row.get(0))
}

#[cfg(test)]
mod tests;
