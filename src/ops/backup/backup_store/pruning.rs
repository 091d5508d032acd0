//! Which backups need not be kept any more.

use super::Backup;
use crate::domain::retention;
use crate::moment::Moment;
use crate::ops::backup::manifest::Manifest;
use crate::ops::signature::Trust;

/// How long an upgrade can be rolled back: as long as any backup is kept.
const UPGRADE_BACKUP_KEPT_SECONDS: i64 = 35 * 86_400;

/// How long copies of earlier versions are kept off site, which are not signed: as long as any backup.
const UNSIGNED_KEPT_SECONDS: i64 = UPGRADE_BACKUP_KEPT_SECONDS;

/// The backups that pruning keeps whatever their age.
#[derive(Debug, Clone)]
pub(crate) struct PruneExceptions {
    /// The name of the last backup that a drill restored.
    pub proven: Option<String>,
    /// Backups made before this moment ([`crate::clock::Clock::judged_from`]).
    pub made_before: Moment,
}

/// The backups that need not be kept any more. `all`: newest first. Of those made before an upgrade the newest of each schema
/// is kept for a while, so that the upgrade can be rolled back.
pub(crate) fn outlived(all: Vec<Backup>, now: Moment, exceptions: &PruneExceptions) -> Vec<Backup> {
    let (upgrade_backups, backups): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|backup| backup.manifest.upgrade.is_some());
    let made: Vec<Moment> = backups.iter().map(|backup| backup.manifest.made_at).collect();
    let kept = retention::kept(&made, now, exceptions.made_before);
    let mut old: Vec<_> = backups.into_iter().zip(kept).filter(|(_, keep)| !keep).map(|(backup, _)| backup).collect();
    let is_over = |i: usize| {
        let (manifest, newer) = (&upgrade_backups[i].manifest, &upgrade_backups[..i]);
        (manifest.made_at < now - UPGRADE_BACKUP_KEPT_SECONDS && manifest.made_at >= exceptions.made_before)
            || newer.iter().any(|newer| newer.manifest.schema == manifest.schema)
    };
    old.extend((0..upgrade_backups.len()).filter(|i| is_over(*i)).map(|i| upgrade_backups[i].clone()));
    old.retain(|backup| exceptions.proven.as_deref() != Some(&*backup.name()));
    old
}

/// The backups off site of which one site need no longer keep any: those that it [`outlived`], and old ones of its that are not
/// signed. `all`: newest first.
pub(crate) fn outlived_off_site(
    all: &[Backup],
    newest: &Manifest,
    exceptions: &PruneExceptions,
    trust: &Trust,
) -> Vec<Backup> {
    let now = newest.made_at;
    let (ours, others): (Vec<Backup>, Vec<Backup>) =
        all.iter().cloned().partition(|backup| trust.believes(backup.manifest.signed_by()));
    let old = exceptions.made_before..now - UNSIGNED_KEPT_SECONDS;
    let is_old = |Backup { manifest, .. }: &Backup| {
        manifest.signature.is_none() && manifest.site_id == newest.site_id && old.contains(&manifest.made_at)
    };
    outlived(ours, now, exceptions).into_iter().chain(others.into_iter().filter(is_old)).collect()
}
