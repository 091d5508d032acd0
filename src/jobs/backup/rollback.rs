//! An upgrade taken back: the verified backup from before it takes the file's place, as it was, for the version that wrote it.

use super::shelf::Backup;
use super::{Progress, restore, shelf};
use crate::keys::Keys;
use crate::site;
use crate::store::migrate;
use crate::store::place::Place;
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
pub fn run(place: &Place, progress: &mut Progress) -> Result<RolledBack, Unmoved> {
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
    let replaced = put_back(place, &backup, progress).map_err(Unmoved::Failed)?;
    Ok(RolledBack { backup, replaced })
}

fn put_back(place: &Place, backup: &Backup, progress: &mut Progress) -> Result<Option<PathBuf>, String> {
    let tried = restore::tried_in(place);
    let (unpacked, sound) = restore::unpack(&tried, backup, progress)?;
    if !site::fits(&Keys::open(&unpacked.key())?, &sound.key_check) {
        return Err(format!("the key in {} is not that of its file", backup.dir.display()));
    }
    restore::take_over(place, &tried)
}
