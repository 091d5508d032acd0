//! The way back: ticks are written over a base that was unpacked, one behind the other, up to a moment.

use super::chain::{list, ticks_of};
use super::target::Target;
use super::tick::{Lineage, PageSums, Whole};
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::encrypted::{Identities, SUFFIX};
use crate::ops::backup::manifest::ChainOrigin;
use crate::store::engine::wal_read::PAGE_BYTES;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The ticks that a restore goes on with behind its base.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    link: ChainOrigin,
    at: Target,
    /// Their numbers and names, in order.
    ticks: Vec<(u64, String)>,
    /// Up to the end of that second; `None`: all there are.
    until: Option<i64>,
    /// The base that another chain began with later.
    next: Option<ChainOrigin>,
}

/// How far a replay came.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Replayed {
    pub ticks: u64,
    /// The second of the last commit in the file (Unix seconds).
    pub moment: i64,
    /// Rows in the file, once it is checked.
    pub rows: i64,
    /// Why it went no farther although there is more; `None`: there is not.
    pub trouble: Option<String>,
    /// The second (Unix seconds) from which on another chain has what was written after `moment`, which nothing off site has
    /// second by second; `None`: nothing was.
    pub gap_until: Option<i64>,
}

impl Replay {
    /// Behind a base, where its copy in the second place (`there`) has ticks. `None`: it is none that a chain began with. The
    /// error is one line: the second place does not say which ticks it has.
    pub(crate) fn of(base: &Backup, there: &Target, until: Option<i64>) -> Result<Option<Replay>, String> {
        let Some(link) = base.manifest.chain.clone() else { return Ok(None) };
        let at = ticks_of(there);
        let ticks = match list(&at) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(|e| format!("cannot read {at}: {e}"))?,
        };
        Ok(Some(Replay { link, at, ticks, until, next: None }))
    }

    /// The replay, which knows of the base that another chain began with later.
    pub(crate) fn before(self, next: Option<ChainOrigin>) -> Replay {
        Replay { next, ..self }
    }

    /// Whether its ticks are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.ticks.iter().any(|(_, name)| name.ends_with(SUFFIX))
    }

    /// Writes the ticks over the unpacked base, and flushes it. The error is one line, and leaves a file that must not be
    /// used; a tick that is damaged or missing ends the replay before it.
    pub(crate) fn run(
        &self,
        database: &Path,
        keys: Option<&Identities>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Replayed, String> {
        let failed = |e: io::Error| format!("cannot write {}: {e}", database.display());
        let mut sums = PageSums::of_file(database).map_err(failed)?;
        if sums.whole() != self.link.checksum() || sums.pages() != self.link.pages {
            return Err(format!("{} is not the base that its ticks go on from", database.display()));
        }
        let file = File::options().read(true).write(true).open(database).map_err(failed)?;
        let mut done = Replayed { moment: self.link.moment, ..Replayed::default() };
        let mut is_whole = true;
        for (number, name) in &self.ticks {
            let tick = match self.open(*number, done.ticks + 1, name, keys, &sums) {
                Ok(tick) => tick,
                Err(trouble) => {
                    done.trouble = Some(trouble);
                    break;
                }
            };
            if self.until.is_some_and(|until| tick.head.moment > until) {
                is_whole = false;
                break;
            }
            write(&file, &tick).map_err(failed)?;
            tick.apply_to(&mut sums);
            if sums.whole() != tick.head.after {
                return Err(format!("{} does not lead to the file that it speaks of", self.at.within(name)));
            }
            (done.ticks, done.moment) = (*number, tick.head.moment);
            progress(done.ticks, self.ticks.len() as u64);
        }
        // A chain that was given up, and one that ended with its server, may lack what came before the next one.
        let is_other = |next: &&ChainOrigin| is_whole && done.trouble.is_none() && next.checksum() != sums.whole();
        done.gap_until = self.next.as_ref().filter(is_other).map(|next| next.moment);
        file.sync_all().map_err(failed)?;
        // The disk took what was written.
        match PageSums::of_file(database).map_err(failed)? == sums {
            true => Ok(done),
            false => Err(format!("{} is not what was written: the disk is failing", database.display())),
        }
    }

    /// The tick that goes on from the file with these sums. The error: there is none, or it is damaged.
    fn open(
        &self,
        number: u64,
        wanted: u64,
        name: &str,
        keys: Option<&Identities>,
        sums: &PageSums,
    ) -> Result<Whole, String> {
        let shown = self.at.within(name);
        if number != wanted {
            return Err(format!("tick {wanted} is missing"));
        }
        let mut bytes = Vec::new();
        match (name.ends_with(SUFFIX), keys) {
            (false, _) => {
                let read = self.at.open(name).and_then(|mut file| file.read_to_end(&mut bytes));
                read.map_err(|e| format!("cannot read {shown}: {e}"))?;
            }
            (true, Some(keys)) => _ = keys.decrypt(&self.at, name, &mut bytes, &mut |_| ())?,
            (true, None) => return Err(format!("{shown} is encrypted: give --identity FILE")),
        }
        let tick = Whole::parse(bytes).ok_or_else(|| format!("{shown} is damaged"))?;
        let goes_on =
            tick.head.lineage == self.link.lineage() && tick.head.number == number && tick.head.before == sums.whole();
        goes_on.then_some(tick).ok_or_else(|| format!("{shown} does not go on from the one before"))
    }
}

/// Writes the pages of a tick over a file, which has the size that the tick speaks of then.
pub(crate) fn write(file: &File, tick: &Whole) -> io::Result<()> {
    file.set_len(u64::from(tick.head.size) * PAGE_BYTES as u64)?;
    tick.pages().try_for_each(|(page, bytes)| file.write_all_at(bytes, u64::from(page - 1) * PAGE_BYTES as u64))
}

impl ChainOrigin {
    pub(crate) fn of(
        lineage: &Lineage,
        moment: i64,
        end: &crate::store::engine::capture::Position,
        sums: &PageSums,
    ) -> ChainOrigin {
        ChainOrigin {
            lineage: crate::keys::hex(lineage),
            moment,
            salt: crate::keys::hex(&end.salt),
            frame: end.frames,
            page_bytes: PAGE_BYTES as u32,
            pages: sums.pages(),
            checksum: format!("{:016x}", sums.whole()),
        }
    }

    /// Zeros where it is none, which no tick goes on from.
    fn lineage(&self) -> Lineage {
        u128::from_str_radix(&self.lineage, 16).unwrap_or_default().to_be_bytes()
    }

    fn checksum(&self) -> u64 {
        u64::from_str_radix(&self.checksum, 16).unwrap_or_default()
    }
}
