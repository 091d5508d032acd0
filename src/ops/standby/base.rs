//! The base of a standby's copy: a copy of the database that is made for the standby alone, and removed once the standby has it.

use super::copy::Meta;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::keys::hex;
use crate::moment::Moment;
use crate::ops::replication::sequence::Sequence;
use crate::ops::replication::tick::PageSums;
use crate::ops::signature::Signer;
use crate::ops::space::check_space;
use crate::site::Site;
use crate::store::copy_check::{self, CheckSpeed};
use crate::store::engine::capture::FollowerKind;
use crate::store::engine::copy;
use crate::store::engine::data_dir;
use crate::store::tables::audit;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes of one reply.
const PART_BYTES_MAX: u64 = 1024 * 1024;

/// A base or tick that is sent in parts: bytes in memory, then those of a file.
pub(crate) struct Payload {
    pub head: Vec<u8>,
    pub file: Option<File>,
    pub bytes: u64,
}

impl Payload {
    /// The bytes of one reply from an offset on.
    pub(crate) fn part(&self, offset: u64) -> io::Result<Vec<u8>> {
        let head = self.head.get(offset as usize..).unwrap_or_default();
        if !head.is_empty() || self.file.is_none() {
            return Ok(head[..head.len().min(PART_BYTES_MAX as usize)].to_vec());
        }
        let mut part = vec![0; (self.bytes.saturating_sub(offset)).min(PART_BYTES_MAX) as usize];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut part, offset - self.head.len() as u64)?;
        }
        Ok(part)
    }
}

/// A base, and the ticks behind it.
pub(crate) struct Base {
    pub ticks: Sequence,
    /// `None`: the standby has it.
    pub payload: Option<Payload>,
    dir: PathBuf,
}

impl Drop for Base {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The directory in which bases are made.
pub(crate) fn dir_in(data: &Path) -> PathBuf {
    data.join(".standby-base")
}

impl Base {
    pub(crate) fn make(site: &Site) -> Result<Base, String> {
        let data = &site.config.data;
        let dir = dir_in(data);
        let failed = |e: io::Error| format!("cannot write to {}: {e}", dir.display());
        _ = std::fs::remove_dir_all(&dir);
        crate::ops::backup::backup_store::make_dir(&dir).map_err(failed)?;
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        check_space(bytes(&data_dir::database(data)) + bytes(&data_dir::wal(data)), data)?;
        let (database, bytes_max) = (data_dir::database(&dir), site.config.backup.unconfirmed_bytes_max);
        let copied = copy::copy(&site.store, &database, Some((FollowerKind::Standby, bytes_max)), &mut |_, _| ())?;
        let followed = copied.followed.ok_or("the log cannot be followed")?;
        // It stops following the WAL when it is dropped.
        let ticks = Sequence::new(&site.store, followed, PageSums::default());
        let mut base = Base { ticks, payload: None, dir: dir.clone() };
        if copy_check::check(&database, CheckSpeed::Prompt)?.rows != copied.rows {
            return Err("the copy has other rows than the database".to_owned());
        }
        base.ticks.sums = PageSums::of_file(&database).map_err(failed)?;
        let moment = if followed.begin.moment == Moment(0) { site.now() } else { followed.begin.moment };
        let meta = Meta {
            site_id: site.site_id.to_string(),
            lineage: hex(&base.ticks.lineage),
            moment,
            checksum: format!("{:016x}", base.ticks.sums.whole()),
            pages: base.ticks.sums.pages(),
            key: hex(&crate::files::read(&data_dir::key(data)).map_err(failed)?),
            signing_key: Signer::ensure(data)?.text(),
        };
        let file = crate::files::open(&database).map_err(failed)?;
        let head = meta.to_bytes();
        let bytes = head.len() as u64 + file.metadata().map_err(failed)?.len();
        base.payload = Some(Payload { head, file: Some(file), bytes });
        record(site);
        Ok(base)
    }

    /// Removes the files: the standby has them.
    pub(crate) fn remove_files(&mut self) {
        if self.payload.take().is_some() {
            _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

/// Writes the audit row: a copy of the whole site leaves this machine. A read-only site is copied without the row.
fn record(site: &Site) {
    let actor = Actor::job("standby");
    let recorded = site
        .store
        .write(site.now(), |tx| Ok(audit::insert(tx, &actor, "standby.copied", &Subject::Site, &Detail::none())?));
    site.store.release();
    _ = recorded.inspect_err(|e| tracing::error!(cause = %e, "an action is missing in the audit log"));
}
