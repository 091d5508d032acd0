//! What follows a corrupt copy or page: the live database is checked. Damaged indexes are rebuilt; any other damage raises an
//! alarm and stops all writes.

use crate::domain::audit::{Actor, Detail, Subject};
use crate::site::Site;
use crate::store::engine::alarm;
use crate::store::engine::repair::{self, Finding};
use crate::store::engine::scrub::flips;
use crate::store::tables::audit;
use std::collections::BTreeSet;

/// The outcome of a check of the database.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Another copy may be tried.
    Repaired,
    Unrepaired,
}

/// Checks the live database because a copy of it was corrupt (`cause`).
pub(crate) fn check_database(site: &Site, cause: &str) -> Outcome {
    let dir = &site.config.data;
    let is_corrected = flips::correct_served(&site.store);
    match repair::find_damage(&site.store) {
        Ok(Finding::Sound) if is_corrected => Outcome::Repaired,
        // The copy was damaged on its way.
        Ok(Finding::Sound) => {
            tracing::error!(
                cause,
                "a copy of the database is corrupt, and the database is intact: check the disk and the memory"
            );
            Outcome::Unrepaired
        }
        Ok(Finding::Indexes(names, line)) => match rebuild(site, &names, &line) {
            Ok(()) => Outcome::Repaired,
            Err(trouble) => {
                stop_writes(site, &format!("{line}; {trouble}"));
                Outcome::Unrepaired
            }
        },
        Ok(Finding::Inconsistent(line)) => {
            alarm::raise(dir, alarm::Kind::Damage, site.now(), &line);
            Outcome::Unrepaired
        }
        Ok(Finding::Damaged(line)) => {
            stop_writes(site, &line);
            Outcome::Unrepaired
        }
        Err(e) => {
            alarm::raise(
                dir,
                alarm::Kind::Damage,
                site.now(),
                &format!("{cause}; the database could not be checked: {e}"),
            );
            Outcome::Unrepaired
        }
    }
}

/// Checks the live database because a page of it or of its WAL is not what was written (`cause`). A damaged page raises the
/// alarm also where it is unused: the disk spoiled it.
pub(crate) fn check_after_bad_page(site: &Site, cause: &str) {
    let rebuilt = match repair::find_damage(&site.store) {
        Ok(Finding::Indexes(names, line)) => rebuild(site, &names, &line),
        _ => Err(String::new()),
    };
    if let Err(trouble) = rebuilt {
        let joint = if trouble.is_empty() { "" } else { "; " };
        stop_writes(site, &format!("{cause}{joint}{trouble}"));
    }
    site.forget_health();
}

/// Raises the alarm and refuses all writes, which would spread the damage, until a backup is restored.
fn stop_writes(site: &Site, line: &str) {
    alarm::raise(&site.config.data, alarm::Kind::Damage, site.now(), line);
    site.store.mark_damaged(&line);
}

fn rebuild(site: &Site, names: &BTreeSet<String>, line: &str) -> Result<(), String> {
    let listed = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    tracing::error!(
        indexes = listed,
        cause = line,
        "indexes of the database are damaged and are rebuilt from their rows"
    );
    repair::rebuild_indexes(&site.store, names)?;
    let actor = Actor::job("backup");
    let detail = Detail::none().number("indexes", names.len() as i64);
    let recorded =
        site.store.write(site.now(), |tx| Ok(audit::insert(tx, &actor, "indexes.rebuilt", &Subject::Site, &detail)?));
    recorded.map_err(|e| format!("the indexes were rebuilt, and that could not be recorded: {e}"))?;
    tracing::warn!(
        indexes = listed,
        "the indexes are rebuilt and the database is intact; check the disk and the memory"
    );
    Ok(())
}

/// Clears the alarm: a verified backup shows that the database is intact.
pub(crate) fn clear_alarm(site: &Site) {
    if alarm::clear(&site.config.data, alarm::Kind::Damage) {
        tracing::info!("a verified backup shows that the database is intact: the alarm is over");
    }
}
