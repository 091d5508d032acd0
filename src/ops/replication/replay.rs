//! Replay: a restore writes ticks over an unpacked base, in order, up to a moment.

use super::chain::{list, ticks_of};
use super::target::Target;
use super::tick::{Lineage, NoTick, PageSums, ReadTick};
use crate::moment::Moment;
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::encrypted::Identities;
use crate::ops::backup::manifest::ChainOrigin;
use crate::ops::outside::object::Object;
use crate::ops::signature::Trust;
use crate::store::engine::wal_read::PAGE_BYTES;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What a tick may have beside pages of the log: its own head, its digest, and its encryption.
const SPARE_BYTES: u64 = 1024 * 1024;

/// The ticks behind a base that a restore replays.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    origin: ChainOrigin,
    at: Target,
    /// The numbers of the ticks, in order, and whether they are encrypted.
    ticks: Vec<(u64, bool)>,
    /// Who signed them.
    trust: Trust,
    /// The last second to replay; `None`: all ticks.
    until: Option<Moment>,
    /// The origin of the next chain.
    next: Option<ChainOrigin>,
}

/// The outcome of a replay.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Replayed {
    pub ticks: u64,
    /// The second of the last commit in the database (Unix seconds).
    pub moment: Moment,
    /// Rows in the database, once it is checked.
    pub rows: i64,
    /// Why the replay ended before the last tick; `None`: it did not.
    pub trouble: Option<String>,
    /// The newest tick, where its file ends too early.
    pub cut: Option<String>,
    /// Writes between `moment` and this second (Unix seconds), with which the next chain begins, are in no tick. `None`: there
    /// are no such writes.
    pub gap_until: Option<Moment>,
}

impl Replay {
    /// The ticks behind the off-site copy of a base. `None`: the backup is the base of no chain. The error is one line: the
    /// ticks cannot be listed. `is_sealed`: only encrypted ticks count, because the site encrypts what is off site. `trust`: for a
    /// base that is not signed.
    pub(crate) fn of(
        base: &Backup,
        copy: &Target,
        until: Option<Moment>,
        is_sealed: bool,
        trust: &Trust,
    ) -> Result<Option<Replay>, String> {
        let Some(origin) = base.manifest.chain.clone() else { return Ok(None) };
        let at = ticks_of(copy);
        let mut ticks = match list(&at) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(|e| format!("cannot read {at}: {e}"))?,
        };
        let only_sealed = is_sealed || base.is_encrypted();
        ticks.retain(|(_, is_sealed)| *is_sealed || !only_sealed);
        // A chain has one key: that of its base.
        let trust = base.manifest.signed_by().map_or(trust.clone(), |key| Trust::Keys(vec![*key]));
        Ok(Some(Replay { origin, at, ticks, trust, until, next: None }))
    }

    /// With the origin of the next chain, for [`Replayed::gap_until`].
    pub(crate) fn before(self, next: Option<ChainOrigin>) -> Replay {
        Replay { next, ..self }
    }

    /// Whether ticks are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.ticks.iter().any(|(_, is_sealed)| *is_sealed)
    }

    /// Writes the ticks over the unpacked base, and flushes it. A damaged or missing tick ends the replay before it. The error is
    /// one line, and leaves a database that must not be used.
    pub(crate) fn run(
        &self,
        database: &Path,
        keys: Option<&Identities>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Replayed, String> {
        let failed = |e: io::Error| format!("cannot write {}: {e}", database.display());
        let mut sums = PageSums::of_file(database).map_err(failed)?;
        if sums.whole() != self.origin.checksum() || sums.pages() != self.origin.pages {
            return Err(format!("{} is not the base of its ticks", database.display()));
        }
        let file = File::options().read(true).write(true).open(database).map_err(failed)?;
        let mut done = Replayed { moment: self.origin.moment, ..Replayed::default() };
        let mut is_whole = true;
        for (nth, (number, is_sealed)) in self.ticks.iter().enumerate() {
            let tick = match self.open(*number, done.ticks + 1, *is_sealed, keys, &sums) {
                Ok(tick) => tick,
                // A writer that was interrupted leaves that, and nothing in it was confirmed then. So does whoever cuts it.
                Err(OpenError::Cut(shown)) if nth + 1 == self.ticks.len() => {
                    done.cut = Some(shown);
                    break;
                }
                Err(OpenError::Cut(shown)) => {
                    done.trouble = Some(format!("{shown} is damaged"));
                    break;
                }
                Err(OpenError::Damaged(trouble)) => {
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
                let object = Object::Tick { number: *number, is_sealed: *is_sealed };
                return Err(format!("{} does not lead to the checksum in its head", self.at.shown(object)));
            }
            (done.ticks, done.moment) = (*number, tick.head.moment);
            progress(done.ticks, self.ticks.len() as u64);
        }
        // A chain that was abandoned, or ended with its server, may lack the last commits before the next one.
        let is_other = |next: &&ChainOrigin| is_whole && done.trouble.is_none() && next.checksum() != sums.whole();
        done.gap_until = self.next.as_ref().filter(is_other).map(|next| next.moment);
        file.sync_all().map_err(failed)?;
        // Read back what was written.
        match PageSums::of_file(database).map_err(failed)? == sums {
            true => Ok(done),
            false => Err(format!("{} is not what was written: the disk is failing", database.display())),
        }
    }

    /// Reads the tick that continues from a database with these sums. The error: it is missing or damaged.
    fn open(
        &self,
        number: u64,
        wanted: u64,
        is_sealed: bool,
        keys: Option<&Identities>,
        sums: &PageSums,
    ) -> Result<ReadTick, OpenError> {
        let object = Object::Tick { number, is_sealed };
        let shown = self.at.shown(object);
        if number != wanted {
            return Err(OpenError::Damaged(format!("tick {wanted} is missing")));
        }
        let bytes = match (is_sealed, keys) {
            (false, _) => self.read(object).map_err(|e| OpenError::Damaged(format!("cannot read {shown}: {e}")))?,
            (true, Some(keys)) => {
                let (mut bytes, bytes_max) = (Vec::new(), self.origin.tick_bytes_max());
                let decrypted = keys.decrypt(&self.at, object, bytes_max, &mut bytes, &mut |_| ());
                decrypted.map_err(OpenError::Damaged)?;
                bytes
            }
            (true, None) => return Err(OpenError::Damaged(format!("{shown} is encrypted: give --identity FILE"))),
        };
        let tick = ReadTick::parse(bytes).map_err(|why| match why {
            NoTick::Cut => OpenError::Cut(shown.clone()),
            NoTick::Damaged => OpenError::Damaged(format!("{shown} is damaged")),
        })?;
        if !tick.is_believed(&self.trust) {
            return Err(OpenError::Damaged(format!(
                "{shown} is not signed by the machine that made the backup before it"
            )));
        }
        let continues = tick.head.lineage == self.origin.lineage()
            && tick.head.number == number
            && tick.head.before == sums.whole()
            && tick.head.fits(sums.pages());
        let unfit = || OpenError::Damaged(format!("{shown} does not continue from the one before"));
        continues.then_some(tick).ok_or_else(unfit)
    }

    fn read(&self, object: Object) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.at.open(object, self.origin.tick_bytes_max())?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Why a tick is not replayed.
enum OpenError {
    /// The file, which ends before its end. Of an encrypted one that is not known.
    Cut(String),
    /// In one line.
    Damaged(String),
}

/// Writes the pages of a tick over a database, and sets its size.
pub(crate) fn write(file: &File, tick: &ReadTick) -> io::Result<()> {
    file.set_len(u64::from(tick.head.size) * PAGE_BYTES as u64)?;
    tick.pages().try_for_each(|(page, bytes)| file.write_all_at(bytes, u64::from(page - 1) * PAGE_BYTES as u64))
}

impl ChainOrigin {
    pub(crate) fn of(
        lineage: &Lineage,
        moment: Moment,
        end: &crate::store::engine::capture::Position,
        sums: &PageSums,
        unconfirmed_bytes_max: u64,
    ) -> ChainOrigin {
        ChainOrigin {
            tick_bytes_max: Some(SPARE_BYTES + 2 * unconfirmed_bytes_max),
            lineage: crate::keys::hex(lineage),
            moment,
            salt: crate::keys::hex(&end.salt),
            frame: end.frames,
            page_bytes: PAGE_BYTES as u32,
            pages: sums.pages(),
            checksum: format!("{:016x}", sums.whole()),
        }
    }

    pub(super) fn tick_bytes_max(&self) -> u64 {
        self.tick_bytes_max.unwrap_or(u64::MAX)
    }

    /// Zeros if it is not hex, which no tick bears.
    fn lineage(&self) -> Lineage {
        u128::from_str_radix(&self.lineage, 16).unwrap_or_default().to_be_bytes()
    }

    fn checksum(&self) -> u64 {
        u64::from_str_radix(&self.checksum, 16).unwrap_or_default()
    }
}
