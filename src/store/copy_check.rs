//! The full check of a copy, which also reads what the copy is.

use crate::domain::audit::Head;
use crate::store::engine::connection::{open_immutable, prepare_connection};
use crate::store::engine::copy::{self, Rows, rows};
use crate::store::engine::pace::Pace;
use crate::store::engine::reader::CACHE_KIB;
use crate::store::tables::{audit, tunnels};
use crate::store::{Read, Store};
use rusqlite::Connection;
use std::path::Path;

/// Steps of SQLite's virtual machine between two looks whether a check is to pause.
const STEPS_BETWEEN_LOOKS: i32 = 50;

/// The properties of a database that passed its check.
#[derive(Debug, PartialEq)]
pub(crate) struct Sound {
    pub schema: i64,
    pub site_id: String,
    /// The IANA name of the site's time zone.
    pub zone: String,
    /// The text by which the site key is recognised, sealed by that key.
    pub key_check: Vec<u8>,
    pub rows: Rows,
    /// The head of the audit log in the site's row. Only with the key can be verified that the rows' hashes lead to
    /// this head.
    pub audit: Head,
}

/// How fast a check goes. It looks every row up in every index, which takes 14 s of a processor for a gigabyte with much memory,
/// and 22 s with little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckSpeed {
    /// Beside requests: with little memory, and with pauses, by which it takes three times as long.
    Gentle,
    /// Beside requests, where the newest writes are on one disk alone until it is done: with little memory.
    Prompt,
    /// In a command that somebody waits for.
    Full,
}

impl CheckSpeed {
    fn cache_kib(self) -> i64 {
        match self {
            CheckSpeed::Gentle | CheckSpeed::Prompt => CACHE_KIB,
            CheckSpeed::Full => 64 * 1024,
        }
    }
}

/// Checks every page, index and reference of a file that no process writes. Leaves no files beside it.
pub(crate) fn check(path: &Path, speed: CheckSpeed) -> Result<Sound, String> {
    let unsound = |what: String| format!("{} is not sound: {what}", path.display());
    let opened = open_immutable(path).and_then(|mut conn| {
        prepare_connection(&conn, speed.cache_kib())?;
        if speed == CheckSpeed::Gentle {
            let mut pace = Pace::begin();
            let pause = move || {
                pace.pause_if_due();
                false
            };
            conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(pause))?;
        }
        Ok(conn)
    });
    opened.map_err(|e| e.to_string()).and_then(|conn| sound(&conn)).map_err(unsound)
}

/// Checks every page, index and reference of the live database, with its WAL.
pub(crate) fn check_live(store: &Store) -> Result<Sound, String> {
    let unsound = |what: String| format!("{} is damaged: {what}", store.path().display());
    store.writer().exclusive(sound).map_err(unsound)
}

/// Checks every page, index and reference of an open file. The error says what is damaged, or cannot be read.
fn sound(conn: &Connection) -> Result<Sound, String> {
    copy::check_all(conn)?;
    read(conn).map_err(|e| e.to_string())
}

fn read(conn: &Connection) -> rusqlite::Result<Sound> {
    let tx = Read::on(conn);
    Ok(Sound {
        schema: tx.get(sql!("SELECT max(version) FROM refinery_schema_history"), [])?,
        site_id: tx.get(sql!("SELECT site_id FROM site"), [])?,
        zone: tunnels::find_zone_of_site(&tx)?.name().to_owned(),
        key_check: tx.get(sql!("SELECT key_check FROM site"), [])?,
        rows: rows(conn)?,
        audit: audit::head(&tx)?,
    })
}
