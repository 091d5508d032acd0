//! Rollback of an upgrade: the verified backup from before it replaces the database, unchanged, for the version that wrote it.

use super::backup_store::Backup;
use super::backup_store::local_store;
use super::{restore, tombstones};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::keys::Keys;
use crate::ops::Progress;
use crate::ops::rotation;
use crate::ops::signature::{Signer, Trust};
use crate::store::Store;
use crate::store::copy_check::CheckSpeed;
use crate::store::engine::data_dir::DataDir;
use crate::store::engine::migrate;
use crate::store::tables::audit;
use std::path::{Path, PathBuf};

/// The outcome of [`run`].
#[derive(Debug)]
pub(crate) struct RolledBack {
    pub backup: Backup,
    /// The directory of the upgraded files; `None`: the upgrade had been rolled back before.
    pub replaced: Option<PathBuf>,
    /// Members who were erased since the backup, and are in the database again until its next upgrade.
    pub erased_and_back: usize,
}

/// Why nothing was rolled back, in one line.
pub(crate) enum RollbackError {
    /// There is no upgrade to roll back.
    NothingToDo(String),
    Failed(String),
}

/// Rolls back the last upgrade in the locked data directory. A second call changes nothing.
pub(crate) fn run(
    data_dir: &DataDir,
    config: &Config,
    actor: &Actor,
    progress: &mut Progress,
) -> Result<RolledBack, RollbackError> {
    let dir = data_dir.dir().display();
    restore::complete(data_dir)
        .map_err(|e| RollbackError::Failed(format!("an earlier restore cannot be finished: {e}")))?;
    if !data_dir.database().exists() {
        return Err(RollbackError::NothingToDo(format!("there is no site in {dir}: name its directory with --data")));
    }
    let schema = migrate::schema(data_dir).map_err(RollbackError::Failed)?;
    let upgrade_backups = local_store(data_dir.dir()).before_upgrades();
    if let Some(backup) =
        upgrade_backups.iter().find(|backup| backup.manifest.schema == schema && schema < migrate::latest())
    {
        return Ok(RolledBack { backup: backup.clone(), replaced: None, erased_and_back: 0 });
    }
    let backup = upgrade_backups.into_iter().find(|backup| backup.manifest.schema < schema).ok_or_else(|| {
        let backup_store = local_store(data_dir.dir());
        RollbackError::NothingToDo(format!(
            "no backup in {} is from before an upgrade: there is nothing to take back; `tunneldesk restore` brings back \
             any backup, for this version",
            backup_store.dir().display()
        ))
    })?;
    let erased_and_back = remember_erased(data_dir, &backup, config).map_err(RollbackError::Failed)?;
    let replaced = put_back(data_dir, &backup, actor, progress).map_err(RollbackError::Failed)?;
    Ok(RolledBack { backup, replaced, erased_and_back })
}

/// Adds the tombstones to the local backup store, for the next upgrade: the earlier version's database is not for this version to
/// change. Returns how many of the erased members the backup has.
fn remember_erased(data_dir: &DataDir, backup: &Backup, config: &Config) -> Result<usize, String> {
    let gone = restore::erased_since(data_dir, backup, config, &Trust::of(data_dir.dir()))?;
    let backup_store = local_store(data_dir.dir());
    tombstones::add(backup_store.dir(), &backup.manifest.site_id, &gone, &Signer::ensure(data_dir.dir())?)
        .map_err(|e| backup_store.write_error(&e))?;
    Ok(gone
        .iter()
        .filter(|one| one.join_date <= backup.manifest.made_at && one.erased_at >= backup.manifest.made_at)
        .count())
}

fn put_back(
    data_dir: &DataDir,
    backup: &Backup,
    actor: &Actor,
    progress: &mut Progress,
) -> Result<Option<PathBuf>, String> {
    let trial_dir = restore::trial_dir(data_dir);
    restore::remove_if_failed(&trial_dir, unpack(&trial_dir, backup, actor, progress))?;
    restore::swap_in(data_dir, &trial_dir)
}

fn unpack(trial_dir: &Path, backup: &Backup, actor: &Actor, progress: &mut Progress) -> Result<(), String> {
    let unpacked = restore::unpack(trial_dir, backup, None, progress)?;
    let sound = restore::check_unpacked(&unpacked, backup, CheckSpeed::Full, progress)?;
    let keys = Keys::open(&unpacked.key())?;
    if !rotation::fits(&keys, &sound.key_check) {
        return Err(format!("the key in {} is not that of its file", backup.at));
    }
    record(&unpacked, &keys, backup, actor)
}

/// Writes the audit row into the unpacked database before the swap, so that neither comes without the other. The row is
/// hashed with the key in the backup's own key file.
fn record(unpacked: &DataDir, keys: &Keys, backup: &Backup, actor: &Actor) -> Result<(), String> {
    let failed = |e: String| format!("{} takes no record: {e}", unpacked.database().display());
    let store = Store::open(&unpacked.database())?;
    store.set_chain_key(keys.chain_key());
    let (now, made_at) = (Clock::machine(backup.manifest.made_at).now(), backup.manifest.made_at);
    let (subject, detail) = (Subject::Backup(backup.name()), Detail::none().number("made_at", made_at));
    let written = store.write(now, |tx| {
        audit::insert(tx, actor, "site.rolled_back", &subject, &detail)?;
        restore::skip_history_numbers(tx, made_at)
    });
    written.map_err(|e| failed(e.to_string()))?;
    store.release();
    store.truncate_wal().map_err(|e| failed(e.to_string()))
}
