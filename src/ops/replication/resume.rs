//! A chain that goes on after a start, so that the first seconds are off site like any others.
//!
//! After each confirmed tick its end is noted in a file beside the database. A start copies the log where it reaches behind
//! that end, before the log is emptied, and follows the new log from its begin on. The rest is the next tick, if the file
//! without it has the sums that it had after the last tick; where anything else has changed, a base begins another chain.

use super::chain::{Chain, list, ticks_of};
use super::sequence::Sequence;
use super::target::StoredFile;
use super::tick::{Lineage, PageSums, page_sum};
use super::{Replica, Replicator, TICK_TIME_MAX, lock};
use crate::config::Config;
use crate::moment::Moment;
use crate::ops::outside::object::{BackupName, Object};
use crate::ops::signature::PublicKey;
use crate::site::Site;
use crate::store::engine::capture::{End, FollowerKind, Position};
use crate::store::engine::copy::Followed;
use crate::store::engine::wal_read::{Changes, PAGE_BYTES, WalReader};
use crate::store::engine::{data_dir, scrub, wal_mark};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The name of the copy of the log, which is kept until all of it is off site.
const REST: &str = ".off-site-rest";

/// How far a chain has come: the content of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reached {
    /// The name of the base.
    pub base: String,
    /// The moment of the base (Unix seconds).
    pub since: Moment,
    pub key: PublicKey,
    pub lineage: Lineage,
    /// The number of the last tick; 0: there is none.
    pub number: u64,
    pub is_sealed: bool,
    /// The size of the last tick's file, or of the manifest of the base.
    pub bytes: u64,
    /// The sum of the whole file after it, and that of the first page: a base has another one than the file until that page is
    /// written, because SQLite's backup writes a number of its own there.
    pub sum: u64,
    pub first: u64,
    /// Where it ended in the log, and the moment of its commits (Unix seconds).
    pub salt: [u8; 8],
    pub frames: u32,
    pub moment: Moment,
}

/// What a start found behind the last tick.
pub(crate) struct Rest {
    reached: Reached,
    /// `None`: nothing is behind the tick.
    left: Option<Left>,
}

/// What is behind the tick, in a copy of the log.
struct Left {
    end: End,
    changes: Changes,
    /// Pages of the file after the tick, and the sums of those that have changed since.
    size: u32,
    before: BTreeMap<u32, u64>,
}

impl Reached {
    /// How far a chain has come.
    pub(super) fn of(chain: &Chain) -> Reached {
        let End { position: Position { salt, frames }, moment } = chain.ticks.end;
        Reached {
            base: chain.base.name(),
            since: chain.ticks.followed.begin.moment,
            key: chain.key(),
            lineage: chain.ticks.lineage,
            number: chain.ticks.number,
            is_sealed: matches!(chain.last.object, Object::Tick { is_sealed: true, .. }),
            bytes: chain.last.bytes,
            sum: chain.ticks.sums.whole(),
            first: chain.ticks.sums.first(),
            salt,
            frames,
            moment,
        }
    }

    /// Writes this to the file. Not flushed: after a power cut an older one is seen as such, because the off-site target has more ticks.
    pub(super) fn note(&self, data: &Path) {
        let written = serde_json::to_vec(self).map_err(std::io::Error::other);
        let written = written.and_then(|text| crate::files::write(&data_dir::off_site_end(data), text));
        _ = written.inspect_err(|cause| tracing::debug!(%cause, "a start will begin the off-site copy anew"));
    }

    fn read(data: &Path) -> Option<Reached> {
        serde_json::from_slice(&crate::files::read(&data_dir::off_site_end(data)).ok()?).ok()
    }

    fn end(&self) -> Position {
        Position { salt: self.salt, frames: self.frames }
    }
}

/// Forgets how far an abandoned chain had come.
pub(super) fn forget(data: &Path) {
    _ = std::fs::remove_file(data_dir::off_site_end(data));
}

fn path_of_rest(data: &Path) -> PathBuf {
    data.join(REST)
}

impl Rest {
    /// Copies what is behind the last tick. Only for a database that no process has open, before its log is emptied. `None`: there
    /// is no chain to go on with.
    pub(crate) fn keep(config: &Config) -> Option<Rest> {
        let kept = path_of_rest(&config.data);
        _ = std::fs::remove_file(&kept);
        config.backup.off_site.as_ref()?;
        let (reached, database) = (Reached::read(&config.data)?, data_dir::database(&config.data));
        let end = wal_mark::last_commit(&database).filter(|end| *end != reached.end());
        let left = match end {
            Some(end) => {
                let left = Left::keep(&config.data, &reached, end);
                if left.is_none() {
                    // A full disk has room for a part of it, and needs that room.
                    _ = std::fs::remove_file(&kept);
                }
                Some(left?)
            }
            None => None,
        };
        Some(Rest { reached, left })
    }

    /// Hands it to the thread of the off-site copy.
    pub(crate) fn lay(self, site: &Site) {
        *lock(&site.state::<Replica>().rest) = Some(self);
    }
}

impl Left {
    /// Copies the log up to its end, and reads what is behind the tick.
    fn keep(data: &Path, reached: &Reached, end: Position) -> Option<Left> {
        let (kept, database) = (path_of_rest(data), data_dir::database(data));
        crate::files::copy(&data_dir::wal(data), &kept).ok()?;
        let (wal, file) = (WalReader::open_file(&kept).ok()?, crate::files::open(&database).ok()?);
        let changes = wal.changes(reached.end(), end, page_sum).ok()?;
        // The part of the log that the last tick had is not in the file yet.
        let had = match reached.salt == end.salt && reached.frames > 0 {
            true => wal.changes(Position::default(), reached.end(), page_sum).ok()?,
            false => {
                let size = (file.metadata().ok()?.len() / PAGE_BYTES as u64) as u32;
                Changes { size, ..Changes::default() }
            }
        };
        let mut page = [0; PAGE_BYTES];
        let mut sum_before = |number: u32| {
            had.pages.get(&number).map(|(_, sum)| *sum).or_else(|| {
                file.read_exact_at(&mut page, u64::from(number - 1) * PAGE_BYTES as u64).ok()?;
                Some(page_sum(number, &page))
            })
        };
        let changed = changes.pages.keys().copied().chain(changes.size + 1..=had.size);
        let before: Option<BTreeMap<u32, u64>> =
            changed.filter(|number| *number <= had.size).map(|number| Some((number, sum_before(number)?))).collect();
        let moment = wal_mark::last_moment(&database).unwrap_or(reached.moment).max(reached.moment);
        Some(Left { end: End { position: end, moment }, changes, size: had.size, before: before? })
    }
}

impl Replicator<'_> {
    /// Goes on with the chain of the last process, where the off-site target and the file are as that left them.
    pub(super) fn resume(&mut self, rest: Rest) {
        let (data, number) = (self.site.config.data.clone(), rest.reached.number);
        match self.try_to_resume(rest) {
            Ok(()) => tracing::info!(tick = number, "the off-site copy goes on where it ended"),
            Err(cause) => {
                forget(&data);
                tracing::info!(cause, "the off-site copy begins anew with a base");
            }
        }
        _ = std::fs::remove_file(path_of_rest(&data));
    }

    fn try_to_resume(&mut self, rest: Rest) -> Result<(), String> {
        let (reached, data) = (rest.reached, &self.site.config.data);
        let capture = &self.site.store.writer().capture;
        // From here on nothing of the log goes into the file before it is off site.
        let (number, begin) =
            capture.follow_from_begin(FollowerKind::OffSite, self.site.config.backup.unconfirmed_bytes_max);
        let since = End { moment: reached.since, ..begin };
        let mut ticks = Sequence::new(&self.site.store, Followed { number, begin: since }, PageSums::default());
        let signer = self.off_site.signer()?;
        if signer.public() != reached.key {
            return Err("the site has another key by now".to_owned());
        }
        let mut sums = PageSums::default();
        scrub::read_pages(&self.site.store, |number, page| sums.push(page_sum(number, page)))?;
        let left = rest.left.map(|left| {
            sums.change(left.size, left.before.into_iter());
            (left.end, left.changes)
        });
        let pages = sums.pages();
        sums.change(pages, std::iter::once((1, reached.first)));
        if sums.whole() != reached.sum {
            return Err("the file is not as the last tick left it".to_owned());
        }
        (ticks.sums, ticks.lineage, ticks.number) = (sums, reached.lineage, reached.number);
        ticks.end = End { position: reached.end(), moment: reached.moment };
        let base = BackupName::parse(&reached.base).ok_or("the noted base has no name")?;
        let base = self.off_site.target().backup(&base);
        let last = match reached.number {
            0 => StoredFile { at: base.clone(), object: Object::Manifest, bytes: reached.bytes },
            number => {
                let object = Object::Tick { number, is_sealed: reached.is_sealed };
                StoredFile { at: ticks_of(&base), object, bytes: reached.bytes }
            }
        };
        let (there, at) = (last.clone(), ticks_of(&base));
        let look =
            move || Ok::<_, std::io::Error>((there.is_complete()?, list(&at).unwrap_or_default().last().copied()));
        let looked = self.off_site.send(TICK_TIME_MAX, look).ok_or_else(|| self.off_site.no_answer())?;
        let (is_there, newest) = looked.map_err(|e| e.to_string())?;
        let newest = newest.map_or(0, |(number, _)| number);
        if newest > reached.number {
            tracing::warn!(
                newest,
                known = reached.number,
                "the off-site copy has ticks that this site does not know of: after a power cut nothing is missing; if an older \
                 copy of the site was put here, `tunneldesk restore --at` brings back what came after it"
            );
        }
        if !is_there || newest != reached.number {
            return Err(format!("the off-site target has another last tick than {}", reached.number));
        }
        let mut chain = Chain::behind(ticks, base, last, signer);
        if let Some((end, changes)) = left {
            let wal = std::sync::Arc::new(WalReader::open_file(&path_of_rest(data)).map_err(|e| e.to_string())?);
            let tick = chain.ticks.tick_of(&end, changes);
            let tick = chain.pending(tick);
            let recipient = self.site.config.backup.recipient.clone();
            let sent = self.off_site.send(TICK_TIME_MAX, move || tick.put(&wal, recipient.as_ref()));
            let sent = sent.ok_or_else(|| self.off_site.no_answer())?;
            chain.confirm_rest(sent.map_err(|e| format!("the rest of the log cannot be copied: {e:?}"))?);
        }
        chain.ticks.read_from_begin();
        if begin.position == Position::default() {
            capture.confirm(number);
        }
        Reached::of(&chain).note(data);
        (self.chain, self.chain_since) = (Some(chain), reached.since);
        self.looks.begin_soon();
        self.report(None);
        Ok(())
    }
}
