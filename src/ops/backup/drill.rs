//! The drill: once a week the newest backup is restored beside the site, opened and compared, so that the first restore
//! is not the one that matters.

use super::shelf::Backup;
use super::{Progress, restore, shelf};
use crate::domain::audit::{By, Detail};
use crate::site::Site;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const INTERVAL_SECONDS: i64 = 7 * 86_400;
/// After a failed one: a day, so that the log does not fill with it.
const RETRY_SECONDS: i64 = 86_400;

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
}

pub(crate) fn last(site_dir: &Path) -> Option<Drill> {
    serde_json::from_slice(&std::fs::read(record(site_dir)).ok()?).ok()
}

pub(crate) fn is_due(site: &Site) -> bool {
    let wait = |drill: Drill| drill.at + if drill.trouble.is_empty() { INTERVAL_SECONDS } else { RETRY_SECONDS };
    let due = last(&site.config.data).is_none_or(|drill| site.now() >= wait(drill));
    due && !shelf(&site.config.data).list().is_empty()
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

/// Restores the newest backup beside the site and throws it away again. The error: there was nothing to try, or its
/// result could not be kept.
pub(crate) fn run(site: &Site, by: &By, progress: &mut Progress) -> Result<Drill, String> {
    let shelf = shelf(&site.config.data);
    let _hold = shelf.hold()?;
    // One that a wrong clock put into the future is not the one that would be restored.
    let is_to_come = |backup: &Backup| backup.manifest.made_at > site.now();
    // The first of the list that is not, or else the first.
    let backup = shelf
        .list()
        .into_iter()
        .min_by_key(is_to_come)
        .ok_or("there is no backup yet: make one with `tunneldesk backup`")?;
    let beside = tried_in(&site.config.data);
    let wanted = restore::Wanted { backup: &backup, keys: None, replay: None };
    let tried = restore::try_in(&beside, &wanted, &site.config, progress, |_, _, _| Ok(()));
    let removed = std::fs::remove_dir_all(&beside);
    let before = last(&site.config.data).map(|drill| drill.proven).unwrap_or_default();
    let drill = Drill {
        at: site.now(),
        backup: backup.name(),
        proven: if tried.is_ok() { backup.name() } else { before },
        trouble: tried.err().unwrap_or_default(),
        rows: backup.manifest.rows.values().sum(),
    };
    let kept = serde_json::to_vec(&drill).map_err(Into::into).and_then(|json| write(&record(&site.config.data), &json));
    removed.and(kept).map_err(|e| format!("cannot write to {}: {e}", shelf.dir().display()))?;
    let detail = Detail::none().flag("sound", drill.trouble.is_empty());
    super::record(site, by, "backup.drilled", &backup, detail);
    Ok(drill)
}

/// Where a drill tries a backup.
pub(crate) fn tried_in(site_dir: &Path) -> PathBuf {
    shelf(site_dir).dir().join(".drill")
}

fn record(site_dir: &Path) -> PathBuf {
    shelf(site_dir).dir().join("drill.json")
}

/// Whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("json.new");
    std::fs::write(&beside, bytes)?;
    std::fs::rename(beside, path)
}
