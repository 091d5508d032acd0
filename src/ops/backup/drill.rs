//! The drill: once a week the site is restored beside itself, opened and compared, so that the first restore is not the one
//! that matters. Where ticks lie in the second place, that is the site at a random second of the last day, from that place
//! alone; otherwise the newest backup beside the site.

use super::backup_store::Backup;
use super::off_site::OffSite;
use super::{Progress, local_store, restore};
use crate::domain::audit::{By, Detail};
use crate::ops::replication::chain::TICKS_KEPT_SECONDS;
use crate::ops::replication::replay::{Replay, Replayed};
use crate::site::Site;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const INTERVAL_SECONDS: i64 = 7 * 86_400;
/// After a failed one: a day, so that the log does not fill with it.
const RETRY_SECONDS: i64 = 86_400;
/// How far back a second is drawn: its ticks are not removed while the drill reads them.
const DRAWN_SECONDS: i64 = TICKS_KEPT_SECONDS - 600;

/// How the last drill went, kept beside the backups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drill {
    pub at: i64,
    /// The name of the backup.
    pub backup: String,
    /// Why it could not be restored; empty: it could.
    pub trouble: String,
    /// Rows that were counted in what was restored.
    pub rows: i64,
    /// The backup that opened last, in this drill or one before: it is kept.
    #[serde(default)]
    pub proven: String,
    /// The second as of which the site was restored from the second place (Unix seconds); `None`: the backup was the one beside
    /// the site.
    #[serde(default)]
    pub moment: Option<i64>,
    /// The second place has ticks by the settings, and none were tried.
    #[serde(default)]
    pub is_half: bool,
}

/// What a drill tried.
struct Tried {
    backup: Backup,
    moment: Option<i64>,
    /// How many rows what was restored has, or why it could not be.
    rows: Result<i64, String>,
}

pub(crate) fn last(site_dir: &Path) -> Option<Drill> {
    serde_json::from_slice(&std::fs::read(record(site_dir)).ok()?).ok()
}

pub(crate) fn is_due(site: &Site) -> bool {
    let is_done = |drill: &Drill| drill.trouble.is_empty() && !drill.is_half;
    let wait = |drill: Drill| drill.at + if is_done(&drill) { INTERVAL_SECONDS } else { RETRY_SECONDS };
    let due = last(&site.config.data).is_none_or(|drill| site.now() >= wait(drill));
    due && !local_store(&site.config.data).list().is_empty()
}

pub(crate) fn run_and_log(site: &Site) {
    match run(site, &By::job("drill"), &mut |_, _, _| ()) {
        Ok(drill) if drill.trouble.is_empty() => {
            tracing::info!(backup = drill.backup, rows = drill.rows, "restore drill: the backup opens and is whole");
        }
        Ok(drill) => tracing::error!(backup = drill.backup, cause = drill.trouble, "restore drill failed"),
        Err(cause) => tracing::error!(cause, "no restore drill took place"),
    }
}

/// Restores beside the site, and throws away what was restored. The error: there was nothing to try, or its result could not
/// be kept.
pub(crate) fn run(site: &Site, by: &By, progress: &mut Progress) -> Result<Drill, String> {
    let off_site = try_off_site(site, progress)?;
    let is_half = off_site.is_none() && site.config.backup.off_site.is_some() && !is_sealed(site);
    let Tried { backup, moment, rows } = match off_site {
        Some(tried) => tried,
        None => try_newest(site, progress)?,
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
    let kept = serde_json::to_vec(&drill).map_err(Into::into).and_then(|json| write(&record(&site.config.data), &json));
    kept.map_err(|e| unwritten(site, &e))?;
    let detail = Detail::none().flag("sound", drill.trouble.is_empty());
    super::record(site, by, "backup.drilled", &backup, detail);
    Ok(drill)
}

/// The newest backup beside the site.
fn try_newest(site: &Site, progress: &mut Progress) -> Result<Tried, String> {
    let backup_store = local_store(&site.config.data);
    let _lock = backup_store.lock()?;
    // One that a wrong clock put into the future is not the one that would be restored.
    let is_to_come = |backup: &Backup| backup.manifest.made_at > site.now();
    // The first of the list that is not, or else the first.
    let backup = backup_store
        .list()
        .into_iter()
        .min_by_key(is_to_come)
        .ok_or("there is no backup yet: make one with `tunneldesk backup`")?;
    let [beside, _] = tried_in(&site.config.data);
    let wanted = restore::Wanted { backup: &backup, keys: None, replay: None };
    let tried = restore::try_in(&beside, &wanted, &site.config, progress, |_, _, _| Ok(()));
    let rows = tried.map(|()| backup.manifest.rows.values().sum());
    std::fs::remove_dir_all(&beside).map_err(|e| unwritten(site, &e))?;
    Ok(Tried { backup, moment: None, rows })
}

fn unwritten(site: &Site, e: &std::io::Error) -> String {
    format!("cannot write to {}: {e}", local_store(&site.config.data).dir().display())
}

/// Whether nobody here can read what lies off site.
fn is_sealed(site: &Site) -> bool {
    site.config.backup.recipient.is_some()
}

/// The site at a random second of the last day, from the second place alone. `None`: that place does not answer, or has no
/// ticks of that time that can be read here. The error: another drill is in progress. Backups do not wait for it.
fn try_off_site(site: &Site, progress: &mut Progress) -> Result<Option<Tried>, String> {
    let Some(second) = OffSite::target_of(site).filter(|_| !is_sealed(site)) else { return Ok(None) };
    let off_site = site.state::<OffSite>();
    let listed = off_site.list(&second).inspect_err(|cause| tracing::warn!(cause, "no drill of the off-site copy"));
    let random = u64::from_be_bytes(crate::keys::random());
    let drawn = draw(listed.unwrap_or_default(), &site.site_id, site.now(), random);
    let Some((backup, at)) = drawn else { return Ok(None) };
    let [_, beside] = tried_in(&site.config.data);
    let (base, config) = (backup.clone(), site.config.clone());
    let mut tell = |done, all| progress("restoring what is off site", done, all);
    let tried = off_site.try_out(&second, &mut tell, move |step| {
        let replay = Replay::of(&base, &base.at, Some(at))?.filter(|replay| !replay.is_encrypted());
        let wanted = restore::Wanted { backup: &base, keys: None, replay: replay.as_ref() };
        let (mut led_to, mut tell) = (None, |_: &str, done, all| step(done, all));
        let tried = restore::try_in(&beside, &wanted, &config, &mut tell, |_, replayed, _| {
            led_to = replayed;
            Ok(())
        });
        _ = std::fs::remove_dir_all(&beside);
        tried.map(|()| led_to)
    })?;
    let rows = match tried {
        Ok(Some(Replayed { trouble: Some(trouble), .. })) => Err(trouble),
        Ok(Some(replayed)) => Ok(replayed.rows),
        // Encrypted in the days before.
        Ok(None) => return Ok(None),
        Err(cause) => Err(cause),
    };
    Ok(Some(Tried { backup, moment: Some(at), rows }))
}

/// A second of the last day from which on there is a chain, and the base that a restore to it begins with. `backups`: newest
/// first.
fn draw(backups: Vec<Backup>, site_id: &str, now: i64, random: u64) -> Option<(Backup, i64)> {
    let begin = |backup: &Backup| backup.manifest.chain.as_ref().map(|link| link.moment);
    let is_ours = |backup: &Backup| backup.manifest.site_id == site_id && !backup.is_encrypted();
    let chained: Vec<(i64, Backup)> =
        backups.into_iter().filter(is_ours).filter_map(|backup| Some((begin(&backup)?, backup))).collect();
    let oldest = chained.iter().map(|(begin, _)| *begin).min()?;
    let from = oldest.max(now - DRAWN_SECONDS);
    let seconds = u64::try_from(now - from).ok()? + 1;
    let at = from + (random % seconds).cast_signed();
    chained.into_iter().find(|(begin, _)| *begin <= at).map(|(_, backup)| (backup, at))
}

/// Where a drill tries the backup beside the site, and the one in the second place, whose thread may hang there.
pub(crate) fn tried_in(site_dir: &Path) -> [PathBuf; 2] {
    [".drill", ".drill-off-site"].map(|name| local_store(site_dir).dir().join(name))
}

fn record(site_dir: &Path) -> PathBuf {
    local_store(site_dir).dir().join("drill.json")
}

/// Whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("json.new");
    std::fs::write(&beside, bytes)?;
    std::fs::rename(beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::backup::manifest::{ChainOrigin, Manifest};
    use crate::ops::replication::target::Target;

    fn backup(site_id: &str, made_at: i64, chain: Option<i64>) -> Backup {
        let link = |moment| ChainOrigin {
            lineage: String::new(),
            moment,
            salt: String::new(),
            frame: 0,
            page_bytes: 4096,
            pages: 1,
            checksum: String::new(),
        };
        let chain = chain.map(link);
        let manifest = Manifest { site_id: site_id.to_owned(), chain, ..Manifest::blank(made_at) };
        Backup { at: Target::Directory(PathBuf::from(made_at.to_string())), manifest }
    }

    #[test]
    fn a_second_is_drawn_from_the_last_day_and_begins_with_the_base_before_it() {
        const NOW: i64 = 1_800_000_000;
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
