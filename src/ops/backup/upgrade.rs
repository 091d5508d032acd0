//! Upgrade of an older database: it is checked and backed up, then all migrations run in one transaction, which is committed
//! when its outcome passes a check. An interrupted upgrade leaves the database all old or all new.

use super::backup_store::{Backup, local_store};
use super::manifest::Upgrade;
use super::{BackupError, Source, add, prune_exceptions};
use crate::clock::Clock;
use crate::ops::Progress;
use crate::ops::outside::object::BackupName;
use crate::ops::space::check_space;
use crate::store::Store;
use crate::store::copy_check::{self, CheckSpeed};
use crate::store::engine::data_dir::DataDir;
use crate::store::engine::migrate::{self, Older};

/// The backup, and the copy of the database that the migrations write.
const COPIES: u64 = 2;

/// The outcome of an upgrade.
#[derive(Debug)]
pub struct Upgraded {
    /// The earlier schema version.
    pub from: i64,
    /// The backup from before the upgrade.
    pub backup: Backup,
}

/// Upgrades the database of the locked data directory. The error is one line, and nothing was changed.
pub(crate) fn run(
    data_dir: &DataDir,
    older: &Older,
    clock: &Clock,
    progress: &mut Progress,
) -> Result<Upgraded, String> {
    let backup = back_up(data_dir, older, clock, progress)
        .map_err(|e| format!("the upgrade from schema {} was not begun, and nothing was changed: {e}", older.schema))?;
    progress("upgrading", 0, 1);
    migrate::upgrade(data_dir)?;
    progress("upgrading", 1, 1);
    Ok(Upgraded { from: older.schema, backup })
}

/// Makes a verified backup of the older database.
fn back_up(data_dir: &DataDir, older: &Older, clock: &Clock, progress: &mut Progress) -> Result<Backup, String> {
    let now = clock.now();
    let store = Store::open(&data_dir.database())?;
    let source = Source {
        store: &store,
        dir: data_dir.dir(),
        now,
        unconfirmed_bytes_max: None,
        speed: CheckSpeed::Full,
        checks_key: false,
    };
    progress("checking", 0, 1);
    copy_check::check_live(&store).map_err(|e| format!("{e}; `tunneldesk restore` brings back a backup"))?;
    let backup_store = local_store(data_dir.dir());
    let lock = backup_store.lock_own()?;
    check_space(COPIES * source.bytes(), backup_store.dir())?;
    let upgrade = Upgrade { from_version: older.version.clone(), to_schema: migrate::latest() };
    let name = BackupName::of_moment(now, &format!("-schema-{}", older.schema));
    let (backup, _) = add(&source, &lock, &name, Some(upgrade), progress).map_err(BackupError::into_cause)?;
    // An upgrade that fails at each start must not fill the disk.
    lock.prune(now, &prune_exceptions(data_dir.dir(), clock)).map_err(|e| backup_store.write_error(&e))?;
    Ok(backup)
}
