//! An older file becomes this binary's own: it is checked, there is room, a verified backup of it as it was lies on the
//! backup store, and only then all migrations run, in one transaction that is kept when its outcome passes a test. Wherever
//! the upgrade is cut off, the file is all old or all new.

use super::backup_store::{Backup, BackupStore};
use super::manifest::Upgrade;
use super::{BackupError, Progress, Source, check_space, exceptions, local_store, put, shown};
use crate::clock::Clock;
use crate::store::Store;
use crate::store::engine::copy;
use crate::store::engine::data_dir::DataDir;
use crate::store::engine::migrate::{self, Older};

/// The backup, and what the migrations write beside the file before it is theirs.
const COPIES: u64 = 2;

/// An upgrade that was made.
#[derive(Debug)]
pub struct Upgraded {
    /// The schema version that the file had.
    pub from: i64,
    /// The file as it was.
    pub backup: Backup,
}

/// Upgrades the held directory's file by the clock. The error is one line; the file is as it was then.
pub(crate) fn run(
    data_dir: &DataDir,
    older: &Older,
    clock: &Clock,
    progress: &mut Progress,
) -> Result<Upgraded, String> {
    let backup = keep(data_dir, older, clock, progress)
        .map_err(|e| format!("the upgrade from schema {} was not begun, and nothing was changed: {e}", older.schema))?;
    progress("upgrading", 0, 1);
    migrate::upgrade(data_dir)?;
    progress("upgrading", 1, 1);
    Ok(Upgraded { from: older.schema, backup })
}

/// The verified backup of the file as it is.
fn keep(data_dir: &DataDir, older: &Older, clock: &Clock, progress: &mut Progress) -> Result<Backup, String> {
    let now = clock.now();
    let store = Store::open(&data_dir.database(), true)?;
    let source = Source { store: &store, dir: data_dir.dir(), now, unconfirmed_bytes_max: None };
    progress("checking", 0, 1);
    copy::check_live(&store).map_err(|e| format!("{e}; `tunneldesk restore` brings back a backup"))?;
    let backup_store = local_store(data_dir.dir());
    let lock = backup_store.lock()?;
    check_space(COPIES * source.bytes(), backup_store.dir())?;
    let upgrade = Upgrade { from_version: version_of(&backup_store, older), to_schema: migrate::latest() };
    let name = format!("{}-schema-{}", shown(now), older.schema);
    let (backup, _) = put(&source, &lock, &name, Some(upgrade), progress).map_err(BackupError::into_cause)?;
    // An upgrade that fails at each start must not fill the disk.
    lock.prune(now, &exceptions(data_dir.dir(), clock)).map_err(|e| super::unwritten(&backup_store, &e))?;
    Ok(backup)
}

/// Which version wrote the file: by its own word, else by that of the newest backup of the same schema.
fn version_of(backup_store: &BackupStore, older: &Older) -> String {
    if !older.version.is_empty() {
        return older.version.clone();
    }
    let of_its_schema = |backup: &Backup| backup.manifest.schema == older.schema && backup.manifest.upgrade.is_none();
    backup_store.list().into_iter().find(of_its_schema).map_or_else(String::new, |backup| backup.manifest.version)
}
