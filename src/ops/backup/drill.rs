//! The restore drill: once a week a backup is restored into a directory of its own, opened and compared, to prove that it can
//! be. With an off-site copy the drill restores the site at a random second of the last day, from there alone; otherwise the
//! newest local backup.

use super::backup_store::Backup;
use super::backup_store::local_store;
use super::off_site::{Drilled, OffSite};
use super::recorded::record;
use super::restore;
use crate::domain::audit::{Actor, Detail};
use crate::moment::Moment;
use crate::ops::Progress;
use crate::ops::replication::chain::TICKS_KEPT_SECONDS;
use crate::ops::replication::replay::{Replay, Replayed};
use crate::ops::signature::Trust;
use crate::site::Site;
use crate::store::copy_check::CheckSpeed;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const INTERVAL_SECONDS: i64 = 7 * 86_400;
/// Between a failed drill and the next.
const RETRY_SECONDS: i64 = 86_400;
/// How far back the random second may be, so that its ticks are not removed while the drill reads them.
const DRAWN_SECONDS: i64 = TICKS_KEPT_SECONDS - 600;

/// The outcome of the last drill, in `drill.json` in the local backup store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drill {
    pub at: Moment,
    /// The name of the backup.
    pub backup: String,
    /// Why the restore failed; empty: it did not.
    pub trouble: String,
    /// Rows in the restored database.
    pub rows: i64,
    /// The last backup that a drill restored; pruning keeps it.
    #[serde(default)]
    pub proven: String,
    /// The second of the off-site restore (Unix seconds); `None`: a local backup was restored.
    #[serde(default)]
    pub moment: Option<Moment>,
    /// The settings name an off-site target that the drill could have read, and it did not.
    #[serde(default)]
    pub is_half: bool,
}

/// A restore of a drill.
struct Trial {
    backup: Backup,
    moment: Option<Moment>,
    /// Rows in the restored database, or why the restore failed.
    rows: Result<i64, String>,
}

pub(crate) fn last(site_dir: &Path) -> Option<Drill> {
    serde_json::from_slice(&crate::files::read(&record_file(site_dir)).ok()?).ok()
}

pub(crate) fn is_due(site: &Site) -> bool {
    let is_done = |drill: &Drill| drill.trouble.is_empty() && !drill.is_half;
    let wait = |drill: Drill| drill.at + if is_done(&drill) { INTERVAL_SECONDS } else { RETRY_SECONDS };
    let due = last(&site.config.data).is_none_or(|drill| site.now() >= wait(drill));
    due && !local_store(&site.config.data).list().is_empty()
}

pub(crate) fn run_and_log(site: &Site) {
    match run(site, &Actor::job("drill"), CheckSpeed::Gentle, &mut |_, _, _| ()) {
        Ok(drill) if drill.trouble.is_empty() => {
            tracing::info!(backup = drill.backup, rows = drill.rows, "restore drill: the backup opens and is whole");
        }
        Ok(drill) => tracing::error!(backup = drill.backup, cause = drill.trouble, "restore drill failed"),
        Err(cause) => tracing::error!(cause, "no restore drill took place"),
    }
}

/// Restores a backup, records the outcome, and removes what was restored. The error: there was no backup, or the outcome
/// could not be written.
pub(crate) fn run(site: &Site, actor: &Actor, speed: CheckSpeed, progress: &mut Progress) -> Result<Drill, String> {
    let off_site = restore_off_site(site, speed, progress)?;
    let is_half = off_site.is_none() && site.config.backup.off_site.is_some() && !is_encrypted(site);
    let Trial { backup, moment, rows } = match off_site {
        Some(trial) => trial,
        None => restore_newest(site, speed, progress)?,
    };
    let before = last(&site.config.data).map(|drill| drill.proven).unwrap_or_default();
    let drill = Drill {
        at: site.now(),
        backup: backup.name(),
        proven: if rows.is_ok() { backup.name() } else { before },
        trouble: rows.as_ref().err().cloned().unwrap_or_default(),
        rows: rows.unwrap_or_else(|_| backup.manifest.rows.values().sum()),
        moment,
        is_half,
    };
    let kept =
        serde_json::to_vec(&drill).map_err(Into::into).and_then(|json| write(&record_file(&site.config.data), &json));
    kept.map_err(|e| write_error(site, &e))?;
    let detail = Detail::none().flag("sound", drill.trouble.is_empty());
    record(site, actor, "backup.drilled", &backup, detail);
    Ok(drill)
}

/// Restores the newest local backup.
fn restore_newest(site: &Site, speed: CheckSpeed, progress: &mut Progress) -> Result<Trial, String> {
    let backup_store = local_store(&site.config.data);
    let _lock = backup_store.lock_own()?;
    // A restore passes over backups that a wrong clock dated into the future, unless there are no others.
    let is_to_come = |backup: &Backup| backup.manifest.made_at > site.now();
    let backup = backup_store
        .list()
        .into_iter()
        .min_by_key(is_to_come)
        .ok_or("there is no backup yet: make one with `tunneldesk backup`")?;
    let [trial_dir, _] = restore::trial_dirs(&site.config.data);
    let request = restore::RestoreRequest {
        backup: &backup,
        keys: None,
        replay: None,
        purpose: restore::Purpose::Drill(speed),
        erased: None,
        trust: &Trust::Unsigned,
    };
    let tried = restore::restore_into(&trial_dir, &request, &site.config, progress, |_, _, _| Ok(()));
    let rows = tried.map(|()| backup.manifest.rows.values().sum());
    std::fs::remove_dir_all(&trial_dir).map_err(|e| write_error(site, &e))?;
    Ok(Trial { backup, moment: None, rows })
}

fn write_error(site: &Site, e: &std::io::Error) -> String {
    format!("cannot write to {}: {e}", local_store(&site.config.data).dir().display())
}

/// Whether off-site copies are encrypted: this machine does not have the key.
fn is_encrypted(site: &Site) -> bool {
    site.config.backup.recipient.is_some()
}

/// Restores the site at a random second of the last day, from the off-site target alone. `None`: the target does not answer, or
/// has no ticks of that time that this machine can read. The error: another drill is in progress. Backups do not wait for it.
fn restore_off_site(site: &Site, speed: CheckSpeed, progress: &mut Progress) -> Result<Option<Trial>, String> {
    let Some(off_site) = OffSite::of(site).filter(|_| !is_encrypted(site)) else { return Ok(None) };
    let listed = off_site.list().inspect_err(|cause| tracing::warn!(cause, "no drill of the off-site copy"));
    let random = u64::from_be_bytes(crate::keys::random());
    let drawn = draw(listed.unwrap_or_default().backups, &site.site_id, site.now(), random);
    let Some((backup, at)) = drawn else { return Ok(None) };
    let [_, trial_dir] = restore::trial_dirs(&site.config.data);
    let (base, config) = (backup.clone(), site.config.clone());
    let trust = off_site.trust().clone();
    let mut restoring = |done, all| progress("restoring what is off site", done, all);
    let tried = off_site.drill(&mut restoring, move |step| {
        let replay = Replay::of(&base, &base.at, Some(at), false, &trust)?.filter(|replay| !replay.is_encrypted());
        let request = restore::RestoreRequest {
            backup: &base,
            keys: None,
            replay: replay.as_ref(),
            purpose: restore::Purpose::Drill(speed),
            erased: None,
            trust: &trust,
        };
        let (mut outcome, mut progress) = (None, |_: &str, done, all| step(done, all));
        let tried = restore::restore_into(&trial_dir, &request, &config, &mut progress, |_, replayed, _| {
            outcome = replayed;
            Ok(())
        });
        _ = std::fs::remove_dir_all(&trial_dir);
        tried.map(|()| outcome)
    });
    let rows = match tried {
        Drilled::Done(Some(Replayed { trouble: Some(trouble), .. })) => Err(trouble),
        Drilled::Done(Some(replayed)) => Ok(replayed.rows),
        // The ticks of that time are encrypted.
        Drilled::Done(None) => return Ok(None),
        Drilled::Failed(cause) => Err(cause),
        Drilled::Busy => return Err("another restore drill is in progress: wait for it".to_owned()),
    };
    Ok(Some(Trial { backup, moment: Some(at), rows }))
}

/// A second of the last day from which on there is a chain, and the base that a restore to it begins with. `backups`: newest
/// first.
fn draw(backups: Vec<Backup>, site_id: &str, now: Moment, random: u64) -> Option<(Backup, Moment)> {
    let begin = |backup: &Backup| backup.manifest.chain.as_ref().map(|origin| origin.moment);
    let is_ours = |backup: &Backup| backup.manifest.site_id == site_id && !backup.is_encrypted();
    let chained: Vec<(Moment, Backup)> =
        backups.into_iter().filter(is_ours).filter_map(|backup| Some((begin(&backup)?, backup))).collect();
    let oldest = chained.iter().map(|(begin, _)| *begin).min()?;
    let from = oldest.max(now - DRAWN_SECONDS);
    let seconds = u64::try_from(now - from).ok()? + 1;
    let at = from + (random % seconds).cast_signed();
    chained.into_iter().find(|(begin, _)| *begin <= at).map(|(_, backup)| (backup, at))
}

fn record_file(site_dir: &Path) -> PathBuf {
    local_store(site_dir).dir().join("drill.json")
}

/// Replaces a file in one step.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("json.new");
    crate::files::write(&new, bytes)?;
    std::fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::backup::manifest::{ChainOrigin, Manifest};
    use crate::ops::replication::target::Target;

    fn backup(site_id: &str, made_at: Moment, chain: Option<Moment>) -> Backup {
        let origin = |moment| ChainOrigin {
            lineage: String::new(),
            moment,
            salt: String::new(),
            frame: 0,
            page_bytes: 4096,
            pages: 1,
            checksum: String::new(),
            tick_bytes_max: None,
        };
        let chain = chain.map(origin);
        let manifest = Manifest { site_id: site_id.to_owned(), chain, ..Manifest::blank(made_at) };
        Backup { at: Target::directory(PathBuf::from(made_at.to_string())), manifest }
    }

    #[test]
    fn the_drill_draws_a_second_of_the_last_day_and_the_base_before_it() {
        const NOW: Moment = Moment(1_800_000_000);
        let draw = |backups: &[Backup], random| {
            draw(backups.to_vec(), "ab", NOW, random).map(|(backup, at)| (backup.manifest.made_at, at))
        };
        assert_eq!(draw(&[], 0), None);
        assert_eq!(draw(&[backup("ab", NOW - 60, None), backup("cd", NOW - 50, Some(NOW - 50))], 0), None);
        assert_eq!(draw(&[backup("ab", NOW + 60, Some(NOW + 60))], 0), None, "of a clock that was wrong");
        let backups = [
            backup("ab", NOW - 10, Some(NOW - 20)),
            backup("cd", NOW - 30, Some(NOW - 30)),
            backup("ab", NOW - 40, None),
            backup("ab", NOW - 3_600, Some(NOW - 3_600)),
        ];
        let drawn: Vec<_> = (0..3_602).map(|random| draw(&backups, random).unwrap()).collect();
        assert_eq!(
            [drawn[0], drawn[3_579], drawn[3_580]],
            [(NOW - 3_600, NOW - 3_600), (NOW - 3_600, NOW - 21), (NOW - 10, NOW - 20)]
        );
        assert_eq!([drawn[3_600], drawn[3_601]], [(NOW - 10, NOW), drawn[0]]);
        let old = [backup("ab", NOW - 20 * 86_400, Some(NOW - 20 * 86_400))];
        assert_eq!(draw(&old, 0), Some((NOW - 20 * 86_400, NOW - DRAWN_SECONDS)));
    }
}
