//! A copy that is not sound: was it the file? Then that is an alarm from this moment on, and where indexes alone are
//! damaged, they are built anew.

use crate::domain::audit::{By, Detail, Whom};
use crate::site::Site;
use crate::store::engine::alarm;
use crate::store::engine::repair::{self, Finding};
use crate::store::tables::audit;
use std::collections::BTreeSet;

/// The outcome of a check of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Another copy may be tried.
    PutRight,
    Stands,
}

/// Looks at the live file because a copy of it was not sound (`cause`).
pub(crate) fn look_after(site: &Site, cause: &str) -> Outcome {
    let dir = &site.config.data;
    match repair::find_damage(&site.store) {
        // The copy was damaged on its way, and the next one may not be.
        Ok(Finding::Sound) => {
            tracing::error!(
                cause,
                "a copy of the file is not sound, and the file is: look after the disk and the memory"
            );
            Outcome::Stands
        }
        Ok(Finding::Indexes(names, line)) => match rebuild(site, &names, &line) {
            Ok(()) => Outcome::PutRight,
            Err(trouble) => {
                stands(site, &format!("{line}; {trouble}"));
                Outcome::Stands
            }
        },
        Ok(Finding::Inconsistent(line)) => {
            alarm::raise(dir, alarm::Kind::Damage, site.now(), &line);
            Outcome::Stands
        }
        Ok(Finding::Damaged(line)) => {
            stands(site, &line);
            Outcome::Stands
        }
        Err(e) => {
            alarm::raise(
                dir,
                alarm::Kind::Damage,
                site.now(),
                &format!("{cause}; the file could not be looked at: {e}"),
            );
            Outcome::Stands
        }
    }
}

/// Looks at the live file because a page of it or of its log is not what was written (`cause`). One that nobody uses is told
/// of too: the disk spoiled it.
pub(crate) fn look_after_page(site: &Site, cause: &str) {
    let rebuilt = match repair::find_damage(&site.store) {
        Ok(Finding::Indexes(names, line)) => rebuild(site, &names, &line),
        _ => Err(String::new()),
    };
    if let Err(trouble) = rebuilt {
        let joint = if trouble.is_empty() { "" } else { "; " };
        stands(site, &format!("{cause}{joint}{trouble}"));
    }
    site.forget_health();
}

/// Nothing is written from now on, until a backup takes the file's place: each write would carry the damage on.
fn stands(site: &Site, line: &str) {
    alarm::raise(&site.config.data, alarm::Kind::Damage, site.now(), line);
    site.store.mark_damaged(&line);
}

fn rebuild(site: &Site, names: &BTreeSet<String>, line: &str) -> Result<(), String> {
    let listed = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    tracing::error!(
        indexes = listed,
        cause = line,
        "indexes of the file are damaged and are built anew from their rows"
    );
    repair::rebuild_indexes(&site.store, names)?;
    let by = By::job("backup");
    let detail = Detail::none().number("indexes", names.len() as i64);
    let recorded = site
        .store
        .write(site.now(), |tx| Ok(audit::insert(tx, &by.who, "indexes.rebuilt", &Whom::Site, &by.origin, &detail)?));
    recorded.map_err(|e| format!("the indexes were built anew, and that could not be recorded: {e}"))?;
    tracing::warn!(
        indexes = listed,
        "the indexes are built anew and the file is sound; look after the disk and the memory"
    );
    Ok(())
}

/// A verified backup shows that the file is sound again.
pub(crate) fn put_right(site: &Site) {
    if alarm::clear(&site.config.data, alarm::Kind::Damage) {
        tracing::info!("a verified backup shows that the file is sound: the alarm is over");
    }
}
