//! Undo of a restore: the replaced site is swapped in again.

use super::backup_store::local_store;
use super::{restore, tombstones};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::moment::Moment;
use crate::ops::erasure;
use crate::ops::signature::Trust;
use crate::site::Site;
use crate::store::engine::data_dir::{self, DataDir, LockError};
use crate::store::tables::audit;
use std::path::{Path, PathBuf};

/// The outcome of [`run`].
#[derive(Debug)]
pub(crate) struct Undone {
    /// The name of the directory that was swapped in.
    pub from: String,
    /// The directory of the files that the restore had brought.
    pub replaced: Option<PathBuf>,
}

/// Swaps in what the last restore replaced, without the people who were erased since. The error is one line, and nothing was
/// changed.
pub(crate) fn run(data_dir: &DataDir, config: &Config, actor: &Actor) -> Result<Undone, String> {
    let dir = newest(data_dir.dir())
        .ok_or_else(|| format!("no restore replaced anything in {}", data_dir.dir().display()))?;
    let held = DataDir::lock(&dir).map_err(|error| match error {
        LockError::InUse => format!("another tunneldesk runs on {}", dir.display()),
        LockError::Unusable(why) => why,
    })?;
    let from = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let site = Site::open_copy(&held, Config { data: dir.clone(), ..config.clone() }, Clock::machine(Moment(0))).map_err(|cause| {
        format!(
            "what the restore replaced is no site that can be opened ({cause}): `tunneldesk restore BACKUP` brings another \
             backup back, and `tunneldesk backup list` shows them"
        )
    })?;
    let worked = prepare(&site, data_dir, actor, &from);
    site.close();
    worked?;
    Ok(Undone { from, replaced: restore::swap_in(data_dir, &dir)? })
}

/// `replaced-N` with the highest number that has a database.
fn newest(data: &Path) -> Option<PathBuf> {
    let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix("replaced-")?.parse::<u32>().ok();
    let all = std::fs::read_dir(data).ok()?.flatten().map(|entry| entry.path());
    all.filter(|path| data_dir::database(path).exists())
        .filter_map(|path| Some((number(&path)?, path)))
        .max()
        .map(|one| one.1)
}

fn prepare(site: &Site, data_dir: &DataDir, actor: &Actor, from: &str) -> Result<(), String> {
    let own = local_store(data_dir.dir());
    let gone: Vec<_> = tombstones::list(own.dir(), &site.site_id, &Trust::Unsigned)?.into_iter().collect();
    let erased = erasure::erase_again(site, &gone, &mut |_, _, _| ());
    erased.map_err(|e| format!("people who were erased are in {from}, and stay in it: {e}"))?;
    erasure::rebuild(site, &mut |_, _, _| ())?;
    let written = site.store.write(site.now(), |tx| {
        let subject = Subject::Backup(from.to_owned());
        audit::insert(tx, actor, "site.restored", &subject, &Detail::none())?;
        restore::skip_history_numbers(tx, tx.now())
    });
    site.store.release();
    written.map_err(|e| format!("{from} takes no writes: {e}"))
}
