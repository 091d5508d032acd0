//! People who leave for good: out of every row, out of what others wrote, out of the bytes of the file; and remembered by
//! number where a backup could bring them back.

use crate::http::failure::Failure;
use crate::ops::backup::off_site::OffSite;
use crate::ops::backup::{self, Progress, tombstones};
use crate::site::Site;
use crate::store::Write;
use crate::store::queries::erasure::{self, Tombstone};
use crate::store::queries::mentions::{self, Change as Mention, TABLES};
use std::path::{Path, PathBuf};

/// Rows looked at between two breaths: a read may take two seconds at the most.
const ROWS_AT_ONCE: i64 = 20_000;
/// Replaces the person's name in texts of other members.
const SOMEBODY: &str = "[erased]";

/// A member who is to be erased, with the texts of others that speak of the member.
#[derive(Debug)]
pub(crate) struct Leaving {
    pub member_id: i64,
    mentions: Vec<Mention>,
}

/// Looks for the name of a member in everybody's texts. Long, so it comes before the change that erases the member.
pub(crate) fn find_mentions(site: &Site, member_id: i64, progress: &mut Progress) -> Result<Leaving, Failure> {
    Ok(Leaving { member_id, mentions: look_for_mentions(site, member_id, progress)? })
}

/// Takes a member out of the rows of the site. The bytes go with [`rebuild`]. `erased_at`: when that was first done.
pub(crate) fn forget(site: &Site, tx: &Write, leaving: &Leaving, erased_at: i64) -> Result<(), Failure> {
    for mention in &leaving.mentions {
        mentions::change(tx, mention)?;
    }
    erasure::erase(tx, &site.keys, leaving.member_id, erased_at)?;
    tracing::info!(member_id = leaving.member_id, "a member is erased");
    Ok(())
}

/// In everybody's texts, a part at a time, while others read and write.
fn look_for_mentions(site: &Site, member_id: i64, progress: &mut Progress) -> Result<Vec<Mention>, Failure> {
    let person = site.store.read(|tx| Ok(erasure::find_person(tx, member_id)?))?.ok_or_else(Failure::not_found)?;
    let (names, mut changes) = (person.widely(), Vec::new());
    for table in TABLES.iter().filter(|_| !names.is_empty()) {
        let (mut from, last) = (0, site.store.read(|tx| Ok(mentions::last(tx, *table)?))?);
        while from < last {
            let to = from + ROWS_AT_ONCE;
            changes.extend(site.store.read(|tx| Ok(mentions::list(tx, *table, from, to, &names, SOMEBODY)?))?);
            site.store.release();
            progress("looking for the name", to.min(last) as u64, last as u64);
            from = to;
        }
    }
    site.store.release();
    Ok(changes)
}

/// Takes out of a file that came from a backup whoever was erased since; how many it still had.
pub(crate) fn erase_again(site: &Site, all: &[Tombstone], progress: &mut Progress) -> Result<usize, Failure> {
    let mut erased = 0;
    for tombstone in all {
        if site.store.read(|tx| Ok(erasure::is_here(tx, tombstone)?))? {
            // The log of a later state has the row already, and whoever restored is recorded beside this.
            let leaving = find_mentions(site, tombstone.member_id, progress)?;
            site.store.write(site.now(), |tx| forget(site, tx, &leaving, tombstone.erased_at))?;
            erased += 1;
        }
        site.store.write(site.now(), |tx| Ok(erasure::remember(tx, tombstone)?))?;
    }
    Ok(erased)
}

/// A file that was set back (a rollback brings it as it was) may hold people whom its backup store knows to be erased: they go
/// again. How many it still had.
pub(crate) fn catch_up(site: &Site, progress: &mut Progress) -> Result<usize, String> {
    let beside = tombstones::list(backup::local_store(&site.config.data).dir(), &site.site_id)?;
    if beside.is_empty() {
        return Ok(0);
    }
    let known = site.store.read(|tx| Ok(erasure::list(tx)?)).map_err(|e| format!("cannot read the file: {e}"))?;
    let is_known = |one: &Tombstone| known.iter().any(|k| (k.member_id, k.join_date) == (one.member_id, one.join_date));
    let gone: Vec<Tombstone> = beside.into_iter().filter(|one| !is_known(one)).collect();
    let again = erase_again(site, &gone, progress);
    again.map_err(|e| format!("people who were erased are in the file again, and stay in it: {e}"))
}

/// Writes the file anew where somebody's old bytes may lie in it. Backups wait for it, and it for them.
pub(crate) fn rebuild(site: &Site, progress: &mut Progress) -> Result<(), String> {
    let unreadable = |e: Failure| format!("cannot read the file: {e}");
    let due = site.store.read(|tx| Ok(erasure::list_to_do(tx)?)).map_err(unreadable)?;
    site.store.release();
    if due.is_empty() {
        return Ok(());
    }
    let backup_store = backup::local_store(&site.config.data);
    let _lock = backup_store.lock()?;
    progress("writing the file anew", 0, 1);
    erasure::rebuild(&site.store)?;
    progress("writing the file anew", 1, 1);
    // A person who was erased meanwhile is due for the next rebuild.
    let note = |member_id: &i64| site.store.write(site.now(), |tx| Ok(erasure::set_rebuilt(tx, *member_id)?));
    due.iter().try_for_each(|one| note(one).map(drop)).map_err(|e| format!("cannot write the file: {e}"))
}

/// Has every backup store know of everybody who was erased. The error: some place does not.
pub(crate) fn remember_beside(site: &Site) -> Result<(), String> {
    let all = site.store.read(|tx| Ok(erasure::list(tx)?)).map_err(|e| format!("cannot read the file: {e}"))?;
    site.store.release();
    if all.is_empty() {
        return Ok(());
    }
    let own = backup::local_store(&site.config.data);
    let failed = |e: std::io::Error| format!("cannot write to {}: {e}", own.dir().display());
    backup::backup_store::make_dir(own.dir()).map_err(failed)?;
    tombstones::keep(own.dir(), &site.site_id, &all).map_err(failed)?;
    let second = OffSite::target_of(site);
    second.map_or(Ok(()), |second| site.state::<OffSite>().keep_erased(&second, &site.site_id, &all))
}

/// Finishes erasures that were cut off or came by a callback. Runs every minute.
pub(crate) fn look_after(site: &Site) {
    let caught_up = catch_up(site, &mut |_, _, _| ());
    if let Err(cause) = caught_up.and_then(|_| rebuild(site, &mut |_, _, _| ())).and_then(|()| remember_beside(site)) {
        tracing::warn!(cause, "an erasure is not complete; the next minute tries again");
    }
}

/// Copies that nothing prunes and nobody restores by command: they hold whoever was erased since, until somebody removes them.
pub(crate) fn older_copies(data: &Path) -> Vec<PathBuf> {
    let in_dir = |dir: PathBuf| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let begins = |path: &Path, start: &str| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(start));
    let replaced = in_dir(data.to_owned()).filter(|path| begins(path, "replaced-"));
    let upgraded = in_dir(data.join("backups")).filter(|path| begins(path, "before-schema-"));
    let mut copies: Vec<PathBuf> = replaced.chain(upgraded).collect();
    copies.sort();
    copies
}
