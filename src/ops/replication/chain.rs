//! A chain: a base on the off-site target, and the ticks behind it, in `ticks/` in the base's own directory.

use super::sequence::Sequence;
use super::target::{StoredFile, Target, Written};
use super::tick::Tick;
use crate::config::recipient::Recipient;
use crate::ops::backup::backup_store::Backup;
use crate::ops::outside::object::{FolderName, Object};
use crate::ops::signature::{PublicKey, Signer};
use crate::store::engine::wal_read::WalReader;
use std::io;
use std::sync::{Arc, Mutex};

/// How long ticks are kept: any second of that time can be restored.
pub(crate) const TICKS_KEPT_SECONDS: i64 = 86_400;

/// The directory of the ticks behind a base.
pub(crate) fn ticks_of(base: &Target) -> Target {
    base.within(FolderName::Ticks)
}

/// The number of each tick, and whether it is encrypted, in order.
pub(crate) fn list(ticks: &Target) -> io::Result<Vec<(u64, bool)>> {
    let tick = |object| match object {
        Object::Tick { number, is_sealed } => Some((number, is_sealed)),
        _ => None,
    };
    let mut ticks: Vec<_> = ticks.list()?.into_iter().filter_map(tick).collect();
    ticks.sort_unstable();
    Ok(ticks)
}

/// A chain whose base is on the off-site target.
pub(crate) struct Chain {
    pub(super) ticks: Sequence,
    pub(super) base: Target,
    /// The file of the last confirmed tick, or the manifest of the base.
    pub(super) last: StoredFile,
    /// The key by which the base and its ticks are signed.
    signer: Arc<Signer>,
    /// What was written of the tick on its way, by its number.
    written: (u64, Arc<Mutex<Written>>),
}

/// A tick on its way to the off-site target.
pub(crate) struct PendingTick {
    tick: Arc<Tick>,
    written: Arc<Mutex<Written>>,
    base: Target,
    signer: Arc<Signer>,
    last: StoredFile,
}

/// Why a tick is not confirmed.
#[derive(Debug, PartialEq)]
pub(crate) enum Unconfirmed {
    /// The off-site target has lost a confirmed file: the chain has a gap.
    Lost(String),
    /// Another machine has written a file of this name.
    Foreign(String),
    /// The next round tries again.
    Failed(String),
}

impl Chain {
    /// `base`: the off-site copy of the base.
    pub(crate) fn new(ticks: Sequence, base: &Backup, signer: Arc<Signer>) -> Chain {
        let at = base.at.clone();
        let bytes = base.manifest.text().len() as u64;
        let last = StoredFile { at: at.clone(), object: Object::Manifest, bytes };
        Chain::behind(ticks, at, last, signer)
    }

    /// The chain that has come to `last`.
    pub(super) fn behind(ticks: Sequence, base: Target, last: StoredFile, signer: Arc<Signer>) -> Chain {
        Chain { ticks, base, last, signer, written: Default::default() }
    }

    /// The key by which the base and its ticks are signed.
    pub(super) fn key(&self) -> PublicKey {
        self.signer.public()
    }

    /// A tick on its way, which is written again until it is confirmed.
    pub(super) fn pending(&mut self, tick: Arc<Tick>) -> PendingTick {
        if self.written.0 != tick.head.number {
            self.written = (tick.head.number, Arc::default());
        }
        let (base, signer, last) = (self.base.clone(), self.signer.clone(), self.last.clone());
        PendingTick { tick, written: self.written.1.clone(), base, signer, last }
    }

    /// Notes that the tick on its way was flushed to this file.
    pub(crate) fn confirm(&mut self, file: StoredFile) {
        if self.ticks.confirm() {
            self.last = file;
        }
    }

    /// As [`Chain::confirm`], for what this process has not written.
    pub(super) fn confirm_rest(&mut self, file: StoredFile) {
        if self.ticks.apply() {
            self.last = file;
        }
    }

    /// The file of the last confirmed tick, or the manifest of the base.
    pub(crate) fn last(&self) -> StoredFile {
        self.last.clone()
    }
}

/// Checks that a confirmed file is still there.
pub(crate) fn check_there(file: &StoredFile) -> Result<(), Unconfirmed> {
    match file.is_complete() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unconfirmed::Lost(format!("{file} is not there any more"))),
        Err(e) => Err(Unconfirmed::Failed(e.to_string())),
    }
}

impl PendingTick {
    /// The file of the tick before, or the manifest of the base.
    pub(crate) fn last(&self) -> StoredFile {
        self.last.clone()
    }

    /// Writes and flushes the tick, and checks that it and the one before are there then. Returns its file.
    pub(crate) fn put(&self, wal: &WalReader, recipient: Option<&Recipient>) -> Result<StoredFile, Unconfirmed> {
        check_there(&self.last)?;
        let file = self.write(wal, recipient).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                Unconfirmed::Foreign(format!("another machine writes there as this site: {e}"))
            }
            _ => Unconfirmed::Failed(e.to_string()),
        })?;
        check_there(&self.last)?;
        check_there(&file)?;
        Ok(file)
    }

    fn write(&self, wal: &WalReader, recipient: Option<&Recipient>) -> io::Result<StoredFile> {
        let object = Object::Tick { number: self.tick.head.number, is_sealed: recipient.is_some() };
        ticks_of(&self.base).put(object, &self.written, &mut |to| match recipient {
            Some(recipient) => recipient.seal(to, &mut |to| self.tick.write(wal, &self.signer, to)),
            None => self.tick.write(wal, &self.signer, to),
        })
    }
}
