//! A backup takes the place of the file: tried beside it first, then swapped so that a crash at any moment leaves the
//! old site or the new one, and what was replaced is kept.

use super::Progress;
use super::shelf::{Backup, make_dir};
use crate::clock::Clock;
use crate::config::Config;
use crate::site::Site;
use crate::store::copy::Sound;
use crate::store::place::{self, Place, Unheld};
use std::io;
use std::path::{Path, PathBuf};

/// Where a backup is tried.
const TRIED: &str = ".restoring";
/// Where one waits that is to take the file's place: from the moment it has this name, it does.
const READY: &str = ".restored";

/// Tries the backup: files as the manifest says, key and file a pair, opened and upgraded by this program. The directory
/// is left with a site in it. Nothing else changes.
pub fn try_in(dir: &Path, backup: &Backup, config: &Config, progress: &mut Progress) -> Result<(), String> {
    let (place, _) = unpack(dir, backup, progress)?;
    let site = Site::open_copy(&place, config.clone(), Clock::machine(0))?;
    site.close();
    Ok(())
}

/// Copies the backup into the directory, made anew, and checks it: files and rows as the manifest says.
pub(super) fn unpack(dir: &Path, backup: &Backup, progress: &mut Progress) -> Result<(Place, Sound), String> {
    let failed = |e: io::Error| format!("cannot write to {}: {e}", dir.display());
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(failed)?;
    }
    make_dir(dir).map_err(failed)?;
    backup.copy_to(dir, &mut |done, all| progress("restoring", done, all))?;
    progress("checking", 0, 1);
    let sound = crate::store::copy::check(&place::database(dir))?;
    if (sound.rows != backup.manifest.rows) || (sound.site_id != backup.manifest.site_id) {
        return Err(format!("{} does not hold the rows that its manifest speaks of", backup.dir.display()));
    }
    let place = Place::hold(dir).map_err(|unheld| match unheld {
        Unheld::InUse => format!("another restore works in {}: wait for it", dir.display()),
        Unheld::Unfit(text) => text,
    })?;
    Ok((place, sound))
}

/// Puts a backup in the place of the held directory's file. Returns where the old one lies now, if there was one.
pub fn restore(
    place: &Place,
    backup: &Backup,
    config: &Config,
    progress: &mut Progress,
) -> Result<Option<PathBuf>, String> {
    let tried = tried_in(place);
    try_in(&tried, backup, config, progress)?;
    take_over(place, &tried)
}

/// Where a backup is tried before it takes the place of the held directory's file.
pub(super) fn tried_in(place: &Place) -> PathBuf {
    place.dir().join(TRIED)
}

/// What was tried takes the place of the file.
pub(super) fn take_over(place: &Place, tried: &Path) -> Result<Option<PathBuf>, String> {
    let failed = |e: io::Error| format!("cannot put the backup in its place in {}: {e}", place.dir().display());
    std::fs::rename(tried, place.dir().join(READY)).map_err(failed)?;
    place.flush().map_err(failed)?;
    complete(place).map_err(failed)
}

/// Finishes a swap that was begun, also one that a crash cut off, and says where the old files lie; without one it does
/// nothing. Each step may be done again.
pub fn complete(place: &Place) -> io::Result<Option<PathBuf>> {
    let ready = place.dir().join(READY);
    if !ready.exists() {
        return Ok(None);
    }
    let old = ready.join("old");
    make_dir(&old)?;
    swap(&ready, place.dir(), &old, &[&place::database, &place::log, &place::shared_memory])?;
    swap(&ready, place.dir(), &old, &[&place::key])?;
    let replaced = if std::fs::read_dir(&old)?.next().is_some() {
        let free = |number: u32| place.dir().join(format!("replaced-{number}"));
        let replaced = (1..).map(free).find(|dir| !dir.exists()).expect("some name is free");
        std::fs::rename(&old, &replaced)?;
        Some(replaced)
    } else {
        None
    };
    std::fs::remove_dir_all(&ready)?;
    place.flush()?;
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
            let place = Place::hold(dir.path()).unwrap();
            let replaced = complete(&place).unwrap().unwrap();
            for (name, text) in NEW {
                assert_eq!(read(&dir.path().join(name)), text, "after {done} moves");
            }
            for (name, text) in OLD {
                assert_eq!(read(&replaced.join(name)), text, "after {done} moves");
            }
            assert!(!place::log(dir.path()).exists(), "an old log beside a new file, after {done} moves");
            assert_eq!(complete(&place).unwrap(), None);
        }
    }

    #[test]
    fn a_backup_comes_into_an_empty_directory_too() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join(READY), &NEW);
        let place = Place::hold(dir.path()).unwrap();
        assert_eq!(complete(&place).unwrap(), None);
        assert_eq!(read(&place.database()), "new");
    }
}
