//! An upgrade taken back: the verified backup from before it takes the file's place, as it was, for the version that wrote it.

use super::shelf::Backup;
use super::{Progress, restore, shelf};
use crate::clock::Clock;
use crate::domain::audit::{By, Detail, Whom};
use crate::keys::Keys;
use crate::site;
use crate::store::place::Place;
use crate::store::{Store, audit, migrate};
use std::path::PathBuf;

/// What [`run`] did.
#[derive(Debug)]
pub struct RolledBack {
    pub backup: Backup,
    /// Where the upgraded file lies now; `None`: the upgrade was taken back before.
    pub replaced: Option<PathBuf>,
}

/// Why nothing was taken back, in one line.
pub enum Unmoved {
    /// There is nothing to take back.
    Nothing(String),
    Failed(String),
}

/// Takes back the last upgrade of the held directory's file. To do it twice is to do it once.
pub fn run(place: &Place, by: &By, progress: &mut Progress) -> Result<RolledBack, Unmoved> {
    let dir = place.dir().display();
    restore::complete(place).map_err(|e| Unmoved::Failed(format!("an earlier restore cannot be finished: {e}")))?;
    if !place.database().exists() {
        return Err(Unmoved::Nothing(format!("there is no site in {dir}")));
    }
    let schema = migrate::schema(place).map_err(Unmoved::Failed)?;
    let ways_back = shelf(place.dir()).before_upgrades();
    if let Some(backup) = ways_back.iter().find(|backup| backup.manifest.schema == schema && schema < migrate::latest())
    {
        return Ok(RolledBack { backup: backup.clone(), replaced: None });
    }
    let backup = ways_back.into_iter().find(|backup| backup.manifest.schema < schema).ok_or_else(|| {
        let shelf = shelf(place.dir());
        Unmoved::Nothing(format!(
            "no backup in {} is from before an upgrade: there is nothing to take back; `tunneldesk restore` brings back \
             any backup, for this version",
            shelf.dir().display()
        ))
    })?;
    let replaced = put_back(place, &backup, by, progress).map_err(Unmoved::Failed)?;
    Ok(RolledBack { backup, replaced })
}

fn put_back(place: &Place, backup: &Backup, by: &By, progress: &mut Progress) -> Result<Option<PathBuf>, String> {
    let tried = restore::tried_in(place);
    let (unpacked, sound) = restore::unpack(&tried, backup, None, progress)?;
    if !site::fits(&Keys::open(&unpacked.key())?, &sound.key_check) {
        return Err(format!("the key in {} is not that of its file", backup.dir.display()));
    }
    // A file from before there was an audit log takes no record, and is as it was to the last row.
    if sound.audit.is_some() {
        record(&unpacked, backup, by)?;
    }
    restore::take_over(place, &tried)
}

/// The record goes into the file that takes the place, so that it cannot come without.
fn record(unpacked: &Place, backup: &Backup, by: &By) -> Result<(), String> {
    let failed = |e: String| format!("{} takes no record: {e}", unpacked.database().display());
    let store = Store::open(&unpacked.database(), true)?;
    let (now, made_at) = (Clock::machine(backup.manifest.made_at).now(), backup.manifest.made_at);
    let (whom, detail) = (Whom::Backup(backup.name()), Detail::none().number("made_at", made_at));
    let written =
        store.write(now, |tx| Ok(audit::insert(tx, &by.who, "site.rolled_back", &whom, &by.origin, &detail)?));
    written.map_err(|e| failed(e.to_string()))?;
    store.rest();
    store.empty_log().map_err(|e| failed(e.to_string()))
}
