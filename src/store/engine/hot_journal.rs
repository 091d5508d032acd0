//! A rollback journal beside the database: another program changed the file and was interrupted, so the file has half of
//! that change. SQLite alone can take it back.

use super::data_dir::{self, DataDir};
use crate::files;
use std::io::Read;

/// The first bytes of a journal that was not ended.
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses a database with such a journal, in one line that says what to type.
pub(crate) fn refuse(data_dir: &DataDir) -> Result<(), String> {
    let journal = data_dir::journal(data_dir.dir());
    let begins = files::open(&journal).and_then(|mut file| {
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map(|()| magic == MAGIC)
    });
    if !begins.unwrap_or(false) {
        return Ok(());
    }
    let (database, journal) = (data_dir.database(), journal.display());
    let database = database.display();
    Err(format!(
        "another program was interrupted while it changed {database}, and left {journal}: type `sqlite3 {database} .tables`, \
         which takes its change back, or `tunneldesk restore`"
    ))
}
