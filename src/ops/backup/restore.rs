//! Restores: a backup is restored into a directory of its own first, then swapped in so that a crash at any moment leaves the
//! old site or the new one. The replaced files are kept.

use super::backup_store::{Backup, local_store, make_dir};
use super::encrypted::Identities;
use super::manifest_signature::ErasedMark;
use super::off_site::OffSite;
use super::tombstones;
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::ops::Progress;
use crate::ops::erasure;
use crate::ops::outside::Dir;
use crate::ops::replication::replay::{Replay, Replayed};
use crate::ops::signature::{self, Trust};
use crate::ops::space::check_space;
use crate::site::Site;
use crate::store::Write;
use crate::store::copy_check::{self, CheckSpeed, Sound};
use crate::store::engine::alarm;
use crate::store::engine::data_dir::{self, DataDir, LockError};
use crate::store::queries::erasure::{Tombstone, list_of_file, site_of};
use crate::store::tables::{audit, events, history, tunnels};
use std::io;
use std::path::{Path, PathBuf};

/// History rows that a site can have added for each second since a backup, at most: more than its partners do.
const ROWS_PER_SECOND: i64 = 10;
const ROWS_AT_LEAST: i64 = 10_000;

/// The directory of a trial restore.
const TRIAL: &str = ".restoring";
/// The directory in which a new site is created.
const NEW_SITE: &str = ".making";
/// The directory of a site that is to be swapped in. Once it has this name, the swap is completed also after a crash.
const READY: &str = ".restored";

/// The backup to restore, and how.
pub(crate) struct RestoreRequest<'w> {
    pub backup: &'w Backup,
    pub keys: Option<&'w Identities>,
    /// The ticks behind the backup.
    pub replay: Option<&'w Replay>,
    pub purpose: Purpose,
    /// The members who had been erased when the newest of all backups was made.
    pub erased: Option<&'w ErasedMark>,
    /// Whose tombstones off site are believed. The machine believes these keys from then on.
    pub trust: &'w Trust,
}

/// What a restore is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The site is to run again, and somebody waits for it. A backup was checked when it was made, and is the same bytes by its
    /// digest: only what ticks changed is checked once more. For a gigabyte the check is two thirds of the whole restore.
    Restore,
    /// To prove that the backup is sound: everything is checked.
    Drill(CheckSpeed),
}

impl Purpose {
    fn check_speed(self) -> CheckSpeed {
        match self {
            Purpose::Restore => CheckSpeed::Full,
            Purpose::Drill(speed) => speed,
        }
    }
}

/// Restores a backup into a new directory: compares its files with the manifest, replays the ticks behind it, checks the outcome
/// as its [`Purpose`] says, opens it and upgrades it. `after` gets the open site and the outcome of the replay. The site stays in
/// the directory.
pub(crate) fn restore_into(
    dir: &Path,
    request: &RestoreRequest,
    config: &Config,
    progress: &mut Progress,
    after: impl FnOnce(&Site, Option<Replayed>, &mut Progress) -> Result<(), String>,
) -> Result<(), String> {
    let data_dir = unpack(dir, request.backup, request.keys, progress)?;
    let replayed = match request.replay {
        None => {
            if let Purpose::Drill(speed) = request.purpose {
                check_unpacked(&data_dir, request.backup, speed, progress)?;
            }
            None
        }
        Some(replay) => {
            let replaying = &mut |done, all| progress("replaying ticks", done, all);
            let replayed = replay.run(&data_dir.database(), request.keys, replaying)?;
            progress("checking", 0, 1);
            let sound = copy_check::check(&data_dir.database(), request.purpose.check_speed())?;
            Some(Replayed { rows: sound.rows.values().sum(), ..replayed })
        }
    };
    let config = Config { data: dir.to_owned(), ..config.clone() };
    let site = Site::open_copy(&data_dir, config, Clock::machine(Moment(0)))?;
    let worked = after(&site, replayed, progress);
    site.close();
    worked
}

/// Copies a backup into a new directory, and compares its files with the manifest.
pub(crate) fn unpack(
    dir: &Path,
    backup: &Backup,
    keys: Option<&Identities>,
    progress: &mut Progress,
) -> Result<DataDir, String> {
    let failed = |e: io::Error| format!("cannot write to {}: {e}", dir.display());
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(failed)?;
    }
    make_dir(dir).map_err(failed)?;
    check_space(backup.manifest.bytes(), dir)?;
    let into = Dir::root(dir).map_err(failed)?;
    backup.copy_to(&into, keys, &mut |done, all| progress("restoring", done, all))?;
    DataDir::lock(dir).map_err(|error| match error {
        LockError::InUse => format!("another restore works in {}: wait for it", dir.display()),
        LockError::Unusable(text) => text,
    })
}

/// Checks an unpacked backup, and compares its rows with the manifest.
pub(crate) fn check_unpacked(
    unpacked: &DataDir,
    backup: &Backup,
    speed: CheckSpeed,
    progress: &mut Progress,
) -> Result<Sound, String> {
    progress("checking", 0, 1);
    let sound = copy_check::check(&unpacked.database(), speed)?;
    if (sound.rows != backup.manifest.rows) || (sound.site_id != backup.manifest.site_id) {
        return Err(format!("{} does not have the rows that its manifest lists", backup.at));
    }
    Ok(sound)
}

/// The outcome of a restore.
#[derive(Debug)]
pub(crate) struct Restored {
    /// The directory of the replaced files; `None`: there were none.
    pub replaced: Option<PathBuf>,
    /// People in the backup who were erased after it was made, and are erased again.
    pub erased: usize,
    /// The outcome of the replay of ticks.
    pub replayed: Option<Replayed>,
    /// The zone of the restored site.
    pub zone: TimeZone,
    /// What its tunnel is called.
    pub name: String,
    /// The number of erased members, where the list of them is shorter: somebody may be back.
    pub not_erased: Option<usize>,
}

/// Restores a backup and its ticks in the locked data directory, without the people who were erased since. A dry run does all
/// but the last step, and changes nothing.
pub(crate) fn restore(
    data_dir: &DataDir,
    request: &RestoreRequest,
    config: &Config,
    actor: &Actor,
    is_dry: bool,
    progress: &mut Progress,
) -> Result<Restored, String> {
    let (trial_dir, backup) = (trial_dir(data_dir), request.backup);
    let gone = erased_since(data_dir, backup, config, request.trust)?;
    let mut restored = Restored {
        replaced: None,
        erased: 0,
        replayed: None,
        zone: TimeZone::UTC,
        name: String::new(),
        not_erased: None,
    };
    let tried = restore_into(&trial_dir, request, config, progress, |site, outcome, progress| {
        let moment = outcome.as_ref().map_or(backup.manifest.made_at, |outcome| outcome.moment);
        restored.replayed = outcome;
        restored.zone = site.time_zone().unwrap_or(TimeZone::UTC);
        let tunnel = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?));
        restored.name = tunnel.ok().flatten().map(|tunnel| tunnel.name).unwrap_or_default();
        site.store.release();
        let again = erasure::erase_again(site, &gone, progress);
        restored.erased =
            again.map_err(|e| format!("people who were erased are in the backup, and stay in it: {e}"))?;
        let known = erasure::list(site)?;
        restored.not_erased = request.erased.filter(|mark| !mark.is_in(&known)).map(|mark| mark.count);
        erasure::rebuild(site, progress)?;
        // The audit row goes into the restored database before the swap, so that neither comes without the other.
        let (subject, detail) = (Subject::Backup(backup.name()), Detail::none().number("made_at", moment));
        let written = site.store.write(site.now(), |tx| {
            audit::insert(tx, actor, "site.restored", &subject, &detail)?;
            skip_history_numbers(tx, moment)
        });
        written.map_err(|e| format!("the restored site takes no writes: {e}"))
    });
    remove_if_failed(&trial_dir, tried)?;
    // The trial made an empty backup store; the data directory has its own.
    _ = std::fs::remove_dir_all(trial_dir.join("backups"));
    if is_dry {
        std::fs::remove_dir_all(&trial_dir).map_err(|e| format!("cannot remove {}: {e}", trial_dir.display()))?;
        return Ok(restored);
    }
    if let Trust::Keys(keys) = request.trust {
        signature::adopt(data_dir.dir(), keys)?;
    }
    Ok(Restored { replaced: swap_in(data_dir, &trial_dir)?, ..restored })
}

/// Removes the directory of a trial restore that failed: it holds a part of a site, with its key.
pub(super) fn remove_if_failed<T>(trial_dir: &Path, tried: Result<T, String>) -> Result<T, String> {
    tried.inspect_err(|_| _ = std::fs::remove_dir_all(trial_dir))
}

/// The directories of the local and of the off-site drill. The latter has its own, because its thread may hang.
pub(crate) fn trial_dirs(site_dir: &Path) -> [PathBuf; 2] {
    [".drill", ".drill-off-site"].map(|name| local_store(site_dir).dir().join(name))
}

/// The directory of a trial restore in a data directory.
pub(crate) fn trial_dir(data_dir: &DataDir) -> PathBuf {
    data_dir.dir().join(TRIAL)
}

/// The directory in which a new site is created before it is swapped in.
pub(crate) fn new_site_dir(data_dir: &DataDir) -> PathBuf {
    data_dir.dir().join(NEW_SITE)
}

/// Swaps the site in `from` into the locked data directory, and returns the directory of the replaced files. After a crash
/// behind the rename, the next start completes the swap.
pub(crate) fn swap_in(data_dir: &DataDir, from: &Path) -> Result<Option<PathBuf>, String> {
    let failed = |e: io::Error| format!("cannot put the site in its place in {}: {e}", data_dir.dir().display());
    if std::fs::metadata(data_dir::wal(from)).is_ok_and(|log| log.len() > 0) {
        return Err(format!("the log of {} could not be emptied", data_dir::database(from).display()));
    }
    std::fs::File::open(from).and_then(|names| names.sync_all()).map_err(failed)?;
    std::fs::rename(from, data_dir.dir().join(READY)).map_err(failed)?;
    data_dir.flush().map_err(failed)?;
    complete(data_dir).map_err(failed)
}

/// The tombstones of a backup's site that are known in the database that is replaced, in the local backup store, and, as far as
/// they are believed, beside the backup and off site. An off-site target that does not answer is passed over: the local backup
/// store has its tombstones too. The error is one line: a list of tombstones cannot be read.
pub(crate) fn erased_since(
    data_dir: &DataDir,
    backup: &Backup,
    config: &Config,
    trust: &Trust,
) -> Result<Vec<Tombstone>, String> {
    let site_id = &backup.manifest.site_id;
    let mut known = match data_dir.database().exists() && site_of(&data_dir.database()).as_ref() == Some(site_id) {
        true => list_of_file(&data_dir.database()),
        false => Vec::new(),
    };
    let own = data_dir.dir().join("backups");
    let at = backup.at.path();
    known.extend(tombstones::list(&own, site_id, &Trust::Unsigned)?);
    if let Some(beside) = at.as_deref().and_then(Path::parent).filter(|beside| *beside != own) {
        known.extend(tombstones::list(beside, site_id, trust)?);
    }
    let off_site = OffSite::believing(config, trust.clone()).and_then(|off_site| off_site.list_erased(site_id).ok());
    known.extend(off_site.into_iter().flatten());
    known.sort_unstable();
    known.dedup_by_key(|tombstone| (tombstone.member_id, tombstone.join_date));
    Ok(known)
}

/// Skips history numbers after a restore. Rows written after the backup had numbers that the sync's receiver and reports
/// know, and no number is given twice: the next row gets one that the site cannot have reached since the backup.
pub(crate) fn skip_history_numbers(tx: &Write, made_at: Moment) -> Result<(), Failure> {
    let seconds = (tx.now() - made_at).max(0);
    let left = (seconds * ROWS_PER_SECOND).max(ROWS_AT_LEAST);
    events::begin_anew_after(tx, events::range(tx)?.last + left)?;
    Ok(history::raise_numbers(tx, history::last_seq(tx)? + left).map(drop)?)
}

/// The directories that an interrupted `restore`, `rollback` or `init` left: each holds a site with its key.
pub(crate) fn leftovers(dir: &Path) -> Vec<PathBuf> {
    [TRIAL, NEW_SITE].map(|name| dir.join(name)).into_iter().filter(|path| path.exists()).collect()
}

/// Completes an interrupted swap in the locked data directory, and removes what other interrupted commands left. Returns the
/// directory of the replaced files. Each step may be done again.
pub(crate) fn complete(data_dir: &DataDir) -> io::Result<Option<PathBuf>> {
    for left in leftovers(data_dir.dir()).into_iter().chain(trial_dirs(data_dir.dir())) {
        match std::fs::remove_dir_all(&left) {
            Ok(()) => tracing::info!(dir = %left.display(), "removed what an interrupted command left"),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => {
                tracing::warn!(dir = %left.display(), cause = %e, "cannot remove what an interrupted command left")
            }
        }
    }
    let ready = data_dir.dir().join(READY);
    if !ready.exists() {
        return Ok(None);
    }
    let old = ready.join("old");
    make_dir(&old)?;
    swap(&ready, data_dir.dir(), &old, &data_dir::DATABASE_FILES)?;
    swap(&ready, data_dir.dir(), &old, &[data_dir::KEY])?;
    let replaced = if std::fs::read_dir(&old)?.next().is_some() {
        let free = |number: u32| data_dir.dir().join(format!("replaced-{number}"));
        let replaced = (1..).map(free).find(|dir| !dir.exists()).expect("some name is free");
        std::fs::rename(&old, &replaced)?;
        Some(replaced)
    } else {
        None
    };
    std::fs::remove_dir_all(&ready)?;
    // Alarms about the replaced database say nothing about this one.
    for kind in [alarm::Kind::Damage, alarm::Kind::LostLog, alarm::Kind::Changed] {
        alarm::clear(data_dir.dir(), kind);
    }
    data_dir.flush()?;
    Ok(replaced)
}

/// Moves all files of `names` from `dir` to `old`, then the first of them from `ready` to `dir`, if it is still in `ready`.
fn swap(ready: &Path, dir: &Path, old: &Path, names: &[&str]) -> io::Result<()> {
    let new = ready.join(names[0]);
    if !new.exists() {
        return Ok(());
    }
    for name in names.iter().rev().filter(|name| dir.join(name).exists()) {
        let (from, to) = (dir.join(name), old.join(name));
        if from.is_symlink() {
            // The link leads on to the replaced database and its log, which stay where they are.
            _ = std::os::unix::fs::symlink(from.canonicalize()?, to);
            std::fs::remove_file(from)?;
        } else {
            std::fs::rename(from, to)?;
        }
    }
    std::fs::rename(new, dir.join(names[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, files: &[(&str, &str)]) {
        make_dir(dir).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(dir.join(name), text).unwrap());
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_default()
    }

    const OLD: [(&str, &str); 3] =
        [("tunneldesk.sqlite", "old"), ("tunneldesk.sqlite-wal", "log"), ("site.key", "old key")];
    const NEW: [(&str, &str); 2] = [("tunneldesk.sqlite", "new"), ("site.key", "new key")];

    #[test]
    fn a_swap_that_was_interrupted_anywhere_is_completed_and_loses_no_file() {
        let moves = [
            ("tunneldesk.sqlite-wal", "", ".restored/old"),
            ("tunneldesk.sqlite", "", ".restored/old"),
            ("tunneldesk.sqlite", ".restored", ""),
            ("site.key", "", ".restored/old"),
            ("site.key", ".restored", ""),
        ];
        for done in 0..=moves.len() {
            let dir = tempfile::tempdir().unwrap();
            put(dir.path(), &OLD);
            put(&dir.path().join(READY), &NEW);
            put(&dir.path().join(READY).join("old"), &[]);
            for (name, from, to) in &moves[..done] {
                std::fs::rename(dir.path().join(from).join(name), dir.path().join(to).join(name)).unwrap();
            }
            let data_dir = DataDir::lock(dir.path()).unwrap();
            let replaced = complete(&data_dir).unwrap().unwrap();
            for (name, text) in NEW {
                assert_eq!(read(&dir.path().join(name)), text, "after {done} moves");
            }
            for (name, text) in OLD {
                assert_eq!(read(&replaced.join(name)), text, "after {done} moves");
            }
            assert!(!data_dir::wal(dir.path()).exists(), "an old log beside a new file, after {done} moves");
            assert_eq!(complete(&data_dir).unwrap(), None);
        }
    }

    #[test]
    fn a_backup_is_swapped_into_an_empty_directory_too() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join(READY), &NEW);
        let data_dir = DataDir::lock(dir.path()).unwrap();
        assert_eq!(complete(&data_dir).unwrap(), None);
        assert_eq!(read(&data_dir.database()), "new");
    }
}
