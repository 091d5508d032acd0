//! A backup takes the place of the file: tried beside it first, then swapped so that a crash at any moment leaves the
//! old site or the new one, and what was replaced is kept.

use super::backup_store::{Backup, make_dir};
use super::encrypted::Identities;
use super::off_site::OffSite;
use super::{Progress, check_space, tombstones};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{By, Detail, Whom};
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::ops::erasure;
use crate::ops::replication::replay::{Replay, Replayed};
use crate::site::Site;
use crate::store::Write;
use crate::store::engine::alarm;
use crate::store::engine::copy::Sound;
use crate::store::engine::data_dir::{self, DataDir, LockError};
use crate::store::queries::erasure::{Tombstone, list_of_file, site_of};
use crate::store::tables::{audit, history};
use std::io;
use std::path::{Path, PathBuf};

/// More than partners do at a site for long.
const ROWS_PER_SECOND: i64 = 10;
const ROWS_AT_LEAST: i64 = 10_000;

/// Where a backup is tried.
const TRIED: &str = ".restoring";
/// Where a new site is made.
const MADE: &str = ".making";
/// Where one waits that is to take the file's place: from the moment it has this name, it does.
const READY: &str = ".restored";

/// The backup to restore, and how.
pub(crate) struct Wanted<'w> {
    pub backup: &'w Backup,
    pub keys: Option<&'w Identities>,
    /// The ticks behind it.
    pub replay: Option<&'w Replay>,
}

/// Tries the backup: files as the manifest says, key and file a pair, with the ticks behind it, opened and upgraded by this
/// program; then `after` works on it, and is told how far the ticks led. The directory is left with a site in it. Nothing
/// else changes.
pub(crate) fn try_in(
    dir: &Path,
    wanted: &Wanted,
    config: &Config,
    progress: &mut Progress,
    after: impl FnOnce(&Site, Option<Replayed>, &mut Progress) -> Result<(), String>,
) -> Result<(), String> {
    let (data_dir, _) = unpack(dir, wanted.backup, wanted.keys, progress)?;
    let replay = |replay: &Replay| {
        let tell = &mut |done, all| progress("going on from there", done, all);
        let replayed = replay.run(&data_dir.database(), wanted.keys, tell)?;
        let sound = crate::store::engine::copy::check(&data_dir.database())?;
        Ok::<_, String>(Replayed { rows: sound.rows.values().sum(), ..replayed })
    };
    let replayed = wanted.replay.map(replay).transpose()?;
    let config = Config { data: dir.to_owned(), ..config.clone() };
    let site = Site::open_copy(&data_dir, config, Clock::machine(0))?;
    let worked = after(&site, replayed, progress);
    site.close();
    worked
}

/// Copies the backup into the directory, made anew, and checks it: files and rows as the manifest says.
pub(crate) fn unpack(
    dir: &Path,
    backup: &Backup,
    keys: Option<&Identities>,
    progress: &mut Progress,
) -> Result<(DataDir, Sound), String> {
    let failed = |e: io::Error| format!("cannot write to {}: {e}", dir.display());
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(failed)?;
    }
    make_dir(dir).map_err(failed)?;
    check_space(backup.manifest.bytes(), dir)?;
    backup.copy_to(dir, keys, &mut |done, all| progress("restoring", done, all))?;
    progress("checking", 0, 1);
    let sound = crate::store::engine::copy::check(&data_dir::database(dir))?;
    if (sound.rows != backup.manifest.rows) || (sound.site_id != backup.manifest.site_id) {
        return Err(format!("{} does not hold the rows that its manifest speaks of", backup.at));
    }
    let data_dir = DataDir::lock(dir).map_err(|error| match error {
        LockError::InUse => format!("another restore works in {}: wait for it", dir.display()),
        LockError::Unusable(text) => text,
    })?;
    Ok((data_dir, sound))
}

/// The outcome of a restore.
#[derive(Debug)]
pub(crate) struct Restored {
    /// Where the files lie now that were replaced, if there were any.
    pub replaced: Option<PathBuf>,
    /// People whom the backup still held, and who had been erased since.
    pub erased: usize,
    /// How far the ticks behind it led.
    pub replayed: Option<Replayed>,
    /// The zone of the restored site.
    pub zone: TimeZone,
}

/// Puts a backup in the place of the held directory's file, with the ticks behind it and without whoever was erased since. A
/// dry run does all but the last step, and leaves everything as it was.
pub(crate) fn restore(
    data_dir: &DataDir,
    wanted: &Wanted,
    config: &Config,
    by: &By,
    is_dry: bool,
    progress: &mut Progress,
) -> Result<Restored, String> {
    let (tried, backup) = (tried_in(data_dir), wanted.backup);
    let gone = erased_since(data_dir, backup, config)?;
    let (mut erased, mut replayed, mut zone) = (0, None, TimeZone::UTC);
    try_in(&tried, wanted, config, progress, |site, led_to, progress| {
        let moment = led_to.as_ref().map_or(backup.manifest.made_at, |led_to| led_to.moment);
        replayed = led_to;
        zone = site.time_zone().unwrap_or(TimeZone::UTC);
        site.store.release();
        let again = erasure::erase_again(site, &gone, progress);
        erased = again.map_err(|e| format!("people who were erased are in the backup, and stay in it: {e}"))?;
        erasure::rebuild(site, progress)?;
        // The record goes into the file that takes the place, so that it cannot come without.
        let (whom, detail) = (Whom::Backup(backup.name()), Detail::none().number("made_at", moment));
        let written = site.store.write(site.now(), |tx| {
            audit::insert(tx, &by.who, "site.restored", &whom, &by.origin, &detail)?;
            leave_numbers(tx, moment)
        });
        written.map_err(|e| format!("the restored site takes no writes: {e}"))
    })?;
    // A new site's directory has backup stores of its own; what the trial made there is empty.
    _ = std::fs::remove_dir_all(tried.join("backups"));
    if is_dry {
        std::fs::remove_dir_all(&tried).map_err(|e| format!("cannot remove {}: {e}", tried.display()))?;
        return Ok(Restored { replaced: None, erased, replayed, zone });
    }
    Ok(Restored { replaced: take_over(data_dir, &tried)?, erased, replayed, zone })
}

/// Where a backup is tried before it takes the place of the held directory's file.
pub(crate) fn tried_in(data_dir: &DataDir) -> PathBuf {
    data_dir.dir().join(TRIED)
}

/// Where a new site is made before it takes its place.
pub(crate) fn made_in(data_dir: &DataDir) -> PathBuf {
    data_dir.dir().join(MADE)
}

/// The site in `tried` takes the place of what lies in the held directory. From the rename on, whatever ends this process,
/// the next start finishes it.
pub(crate) fn take_over(data_dir: &DataDir, tried: &Path) -> Result<Option<PathBuf>, String> {
    let failed = |e: io::Error| format!("cannot put the site in its place in {}: {e}", data_dir.dir().display());
    if std::fs::metadata(data_dir::wal(tried)).is_ok_and(|log| log.len() > 0) {
        return Err(format!("the log of {} could not be emptied", data_dir::database(tried).display()));
    }
    std::fs::File::open(tried).and_then(|names| names.sync_all()).map_err(failed)?;
    std::fs::rename(tried, data_dir.dir().join(READY)).map_err(failed)?;
    data_dir.flush().map_err(failed)?;
    complete(data_dir).map_err(failed)
}

/// Everybody whom any place at hand knows to be erased: the file that is replaced, the backup stores, and where the backup lies.
/// A second place that does not answer is passed over; the backup store beside the file is told of everybody as well. The error is one
/// line: a backup store's list is there, and cannot be read.
pub(crate) fn erased_since(data_dir: &DataDir, backup: &Backup, config: &Config) -> Result<Vec<Tombstone>, String> {
    let site_id = &backup.manifest.site_id;
    let mut known = match data_dir.database().exists() && site_of(&data_dir.database()).as_ref() == Some(site_id) {
        true => list_of_file(&data_dir.database()),
        false => Vec::new(),
    };
    let own = data_dir.dir().join("backups");
    let shelves = [Some(own.as_path()), backup.at.path().and_then(Path::parent)];
    for backup_store in shelves.into_iter().flatten() {
        known.extend(tombstones::list(backup_store, site_id)?);
    }
    let off_site = OffSite::default();
    let second = off_site.target(config).and_then(|second| off_site.list_erased(&second, site_id).ok());
    known.extend(second.into_iter().flatten());
    known.sort_unstable();
    known.dedup_by_key(|tombstone| (tombstone.member_id, tombstone.join_date));
    Ok(known)
}

/// Moves the history's numbers on after a restore. Rows written after the backup have numbers that others know,
/// upstream and in reports, and no number is given twice: the next row gets one that the site cannot have reached since
/// the backup.
pub(crate) fn leave_numbers(tx: &Write, made_at: i64) -> Result<(), Failure> {
    let seconds = (tx.now() - made_at).max(0);
    let left = (seconds * ROWS_PER_SECOND).max(ROWS_AT_LEAST);
    Ok(history::raise_numbers(tx, history::last_seq(tx)? + left).map(drop)?)
}

/// The directories that a `restore`, a `rollback` or an `init` left in the directory of a locked or stopped site when
/// it was cut off: each a site of its own, with its key.
pub(crate) fn leftovers(dir: &Path) -> Vec<PathBuf> {
    [TRIED, MADE].map(|name| dir.join(name)).into_iter().filter(|path| path.exists()).collect()
}

/// Finishes what was cut off in a held directory: a swap that was begun goes on, and what never came so far is removed.
/// Says where the old files lie that were swapped out. Each step may be done again.
pub(crate) fn complete(data_dir: &DataDir) -> io::Result<Option<PathBuf>> {
    for left in leftovers(data_dir.dir()).into_iter().chain(super::drill::tried_in(data_dir.dir())) {
        match std::fs::remove_dir_all(&left) {
            Ok(()) => tracing::info!(dir = %left.display(), "removed what was left by a command that was cut off"),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => tracing::warn!(dir = %left.display(), cause = %e, "cannot remove what a command left"),
        }
    }
    let ready = data_dir.dir().join(READY);
    if !ready.exists() {
        return Ok(None);
    }
    let old = ready.join("old");
    make_dir(&old)?;
    let beside: [&dyn Fn(&Path) -> PathBuf; 5] =
        [&data_dir::database, &data_dir::wal, &data_dir::wal_index, &data_dir::wal_mark, &data_dir::page_checksums];
    swap(&ready, data_dir.dir(), &old, &beside)?;
    swap(&ready, data_dir.dir(), &old, &[&data_dir::key])?;
    let replaced = if std::fs::read_dir(&old)?.next().is_some() {
        let free = |number: u32| data_dir.dir().join(format!("replaced-{number}"));
        let replaced = (1..).map(free).find(|dir| !dir.exists()).expect("some name is free");
        std::fs::rename(&old, &replaced)?;
        Some(replaced)
    } else {
        None
    };
    std::fs::remove_dir_all(&ready)?;
    // Alarms about the replaced file do not hold for this one.
    for kind in [alarm::Kind::Damage, alarm::Kind::LostLog, alarm::Kind::Changed] {
        alarm::clear(data_dir.dir(), kind);
    }
    data_dir.flush()?;
    Ok(replaced)
}

/// Moves the first of these files in from `ready`, if it is not in already; before that, all of them out to `old`.
fn swap(ready: &Path, dir: &Path, old: &Path, names: &[&dyn Fn(&Path) -> PathBuf]) -> io::Result<()> {
    let new = names[0](ready);
    if !new.exists() {
        return Ok(());
    }
    for name in names.iter().rev().filter(|name| name(dir).exists()) {
        std::fs::rename(name(dir), name(old))?;
    }
    std::fs::rename(new, names[0](dir))
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

    /// Every state of the disk in which a crash can leave a swap, finished by the next start.
    #[test]
    fn a_swap_that_was_cut_off_anywhere_is_finished_and_loses_no_file() {
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
    fn a_backup_comes_into_an_empty_directory_too() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join(READY), &NEW);
        let data_dir = DataDir::lock(dir.path()).unwrap();
        assert_eq!(complete(&data_dir).unwrap(), None);
        assert_eq!(read(&data_dir.database()), "new");
    }
}
