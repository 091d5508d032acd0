//! What a standby asks of this site, and what it is told: a base first, then tick after tick, each once the one before is on its
//! disk. One standby at a time: a newer request ends the wait of the one before.

use super::base::{Base, Parcel};
use super::{Status, epoch};
use crate::keys::hex;
use crate::ops::replication::tick::Tick;
use crate::site::{Site, pace};
use crate::store::Condition;
use crate::store::engine::capture::{Behind, End, Position, Whose};
use crate::store::engine::log_read::LogReader;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a request waits for something to tell.
const NEWS_WAIT_MAX: Duration = Duration::from_secs(20);
/// Where no answer waits for the standby, commits are gathered for so long.
const GATHER_TIME: Duration = Duration::from_millis(250);
/// A tick of more bytes goes through a file.
const HELD_BYTES_MAX: u64 = 1024 * 1024;
const SPOOL: &str = ".standby-tick";

/// What a standby asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The base, from an offset on.
    Base,
    /// The tick behind the one that it has, from an offset on.
    Tick,
    /// Nothing: it says that it was promoted.
    Promoted,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub wish: Wish,
    /// In hex; empty: none.
    pub lineage: String,
    /// Of the last tick that is on the standby's disk.
    pub number: u64,
    pub offset: u64,
    /// The highest epoch that it knows.
    pub epoch: u64,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    /// This machine was replaced.
    Replaced,
    /// Its copy is none that this process goes on from.
    BaseNeeded,
    /// The base is being made.
    BaseUnderWay,
    /// Nothing was committed meanwhile.
    Nothing,
    /// Some bytes, of so many in all.
    Part(Vec<u8>, u64),
}

/// The state of the standby that all threads share.
#[derive(Default)]
pub(crate) struct Feed {
    pub(super) is_on: AtomicBool,
    is_ending: AtomicBool,
    turns: AtomicU64,
    stage: Mutex<Stage>,
    /// Since when no standby has a copy that goes on (Unix seconds); 0: one has.
    away_since: AtomicI64,
}

#[derive(Default)]
enum Stage {
    #[default]
    Nothing,
    BaseUnderWay,
    Line(Box<Line>),
}

/// The chain of the standby.
struct Line {
    base: Base,
    lineage: String,
    log: LogReader,
    is_attached: bool,
    /// Of the last tick that the standby has.
    number: u64,
    read: Position,
    /// On its way: the same is sent again until it is confirmed.
    pending: Option<(End, Arc<Tick>, Parcel)>,
}

impl Feed {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, site: &Site) {
        // What a process left that was cut off.
        _ = std::fs::remove_dir_all(super::base::dir_in(&site.config.data));
        self.away_since.store(site.now(), Ordering::Release);
        self.is_on.store(true, Ordering::Release);
        site.store.writer().capture.set_wait(site.config.replica.wait);
    }

    pub(super) fn end(&self, site: &Site) {
        self.is_ending.store(true, Ordering::Release);
        site.store.writer().capture.wake();
    }

    pub(super) fn status(&self, site: &Site) -> Status {
        let Behind { bytes, since } = site.store.writer().capture.behind(Whose::Standby);
        let away = Some(self.away_since.load(Ordering::Acquire)).filter(|since| *since > 0);
        let since = away.or(since.filter(|since| *since > 0));
        Status {
            is_attached: away.is_none(),
            is_in_step: site.store.writer().capture.is_in_step(),
            behind_seconds: since.map_or(0, |since| (site.now() - since).max(0)),
            behind_bytes: bytes,
        }
    }

    /// The answer to a request whose token was right.
    pub(crate) fn answer(&self, site: &Site, request: &Request) -> Said {
        let is_known = site.store.writer().condition() == Condition::Replaced;
        if is_known || request.epoch > 0 && epoch::fence_if_higher(site, request.epoch, "the standby") {
            return Said::Replaced;
        }
        match request.wish {
            Wish::Promoted => Said::Nothing,
            Wish::Base => self.base(site, request),
            Wish::Tick => self.tick(site, request),
        }
    }

    fn base(&self, site: &Site, request: &Request) -> Said {
        let mut stage = self.stage();
        match &*stage {
            Stage::BaseUnderWay => return Said::BaseUnderWay,
            Stage::Line(line) if line.is_followed(site) => {
                let asks_for_it = request.offset == 0 || request.lineage == line.lineage;
                if let Some(parcel) = line.base.parcel.as_ref().filter(|_| asks_for_it) {
                    return part(parcel, request.offset);
                }
                if request.offset > 0 {
                    return Said::BaseNeeded;
                }
            }
            _ if request.offset > 0 => return Said::BaseNeeded,
            _ => {}
        }
        // The line before is let go of first: the base of the next one lies where its base did.
        *stage = Stage::Nothing;
        self.note_away(site);
        *stage = Stage::BaseUnderWay;
        drop(stage);
        let for_base = site.for_another_thread();
        let begun = std::thread::Builder::new().name("standby base".to_owned()).spawn(move || {
            pace::give_way();
            for_base.kept::<Feed>().make_base(&for_base);
        });
        if begun.is_err() {
            *self.stage() = Stage::Nothing;
        }
        Said::BaseUnderWay
    }

    fn make_base(&self, site: &Site) {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Line::new(site)));
        site.store.rest();
        let made = made.unwrap_or_else(|_| {
            site.stats.panics.fetch_add(1, Ordering::Relaxed);
            Err("a fault; the line before says where".to_owned())
        });
        *self.stage() = match made {
            Ok(line) => Stage::Line(Box::new(line)),
            Err(cause) => {
                tracing::error!(cause, "no base was made for the standby; its next request tries again");
                Stage::Nothing
            }
        };
    }

    fn note_away(&self, site: &Site) {
        _ = self.away_since.compare_exchange(0, site.now(), Ordering::AcqRel, Ordering::Relaxed);
    }

    fn tick(&self, site: &Site, request: &Request) -> Said {
        let capture = &site.store.writer().capture;
        let turn = self.turns.fetch_add(1, Ordering::AcqRel) + 1;
        capture.wake();
        let follower = {
            let mut stage = self.stage();
            let Some(line) = line_of(&mut stage, site, request) else {
                return self.base_needed(site, stage);
            };
            if request.offset > 0 {
                let pending = line.pending.as_ref().filter(|_| request.number == line.number);
                return pending.map_or(Said::BaseNeeded, |(_, _, parcel)| part(parcel, request.offset));
            }
            if !line.acknowledge(site, request.number) {
                return self.base_needed(site, stage);
            }
            line.base.follower
        };
        self.away_since.store(0, Ordering::Release);
        let is_over = || self.turns.load(Ordering::Acquire) != turn || self.is_ending.load(Ordering::Acquire);
        capture.wait_for_news(follower, NEWS_WAIT_MAX, GATHER_TIME, is_over);
        if self.turns.load(Ordering::Acquire) != turn {
            return Said::Nothing;
        }
        let mut stage = self.stage();
        let next = line_of(&mut stage, site, request).map(|line| line.next(site));
        match next {
            Some(Ok(said)) => said,
            None => self.base_needed(site, stage),
            Some(Err(cause)) => {
                tracing::error!(cause, "the standby needs a new base");
                self.base_needed(site, stage)
            }
        }
    }

    /// The line has ended, and with it the wish that checkpoints wait.
    fn base_needed(&self, site: &Site, mut stage: MutexGuard<'_, Stage>) -> Said {
        if matches!(&*stage, Stage::Line(line) if line.is_attached || !line.is_followed(site)) {
            *stage = Stage::Nothing;
        }
        drop(stage);
        self.note_away(site);
        Said::BaseNeeded
    }
}

/// The line that a request goes on with.
fn line_of<'s>(stage: &'s mut Stage, site: &Site, request: &Request) -> Option<&'s mut Line> {
    match stage {
        Stage::Line(line) if line.lineage == request.lineage && line.is_followed(site) => Some(line),
        _ => None,
    }
}

fn part(parcel: &Parcel, offset: u64) -> Said {
    match parcel.part(offset) {
        Ok(bytes) => Said::Part(bytes, parcel.bytes),
        Err(cause) => {
            tracing::error!(%cause, "cannot read what the standby asks for");
            Said::BaseNeeded
        }
    }
}

impl Line {
    fn new(site: &Site) -> Result<Line, String> {
        let base = Base::make(site)?;
        let log = LogReader::open(&site.config.data).map_err(|e| format!("cannot read the write-ahead log: {e}"))?;
        let (lineage, read) = (hex(&base.lineage), base.begin);
        Ok(Line { base, lineage, log, is_attached: false, number: 0, read, pending: None })
    }

    fn is_followed(&self, site: &Site) -> bool {
        site.store.writer().capture.follows(self.base.follower)
    }

    /// The standby has everything up to this tick on its disk. Whether that can be.
    fn acknowledge(&mut self, site: &Site, number: u64) -> bool {
        let capture = &site.store.writer().capture;
        if !self.is_attached && number == 0 {
            self.is_attached = true;
            self.base.forget_file();
            capture.attach(self.base.follower);
        }
        if self.is_attached && number == self.number + 1 {
            let Some((end, tick, _)) = self.pending.take() else { return false };
            tick.apply_to(&mut self.base.sums);
            (self.number, self.read) = (number, end.position);
            capture.confirm(self.base.follower);
        }
        self.is_attached && number == self.number
    }

    /// The next tick, or the one that is not confirmed yet.
    fn next(&mut self, site: &Site) -> Result<Said, String> {
        if self.pending.is_none() {
            let Some(end) = site.store.writer().capture.next_end(self.base.follower)? else { return Ok(Said::Nothing) };
            let changes = self.log.changes(self.read, end.position, crate::ops::replication::tick::page_sum)?;
            let tick = Tick::next(self.base.lineage, self.number + 1, &end, changes, &self.base.sums);
            let parcel = self.pack(site, &tick).map_err(|e| format!("cannot pack a tick: {e}"))?;
            self.pending = Some((end, Arc::new(tick), parcel));
        }
        Ok(self.pending.as_ref().map_or(Said::Nothing, |(_, _, parcel)| part(parcel, 0)))
    }

    /// A long tick goes through a file without a name, so that it needs no memory.
    fn pack(&self, site: &Site, tick: &Tick) -> std::io::Result<Parcel> {
        let bytes = tick.bytes();
        if bytes <= HELD_BYTES_MAX {
            let mut head = Vec::with_capacity(bytes as usize);
            tick.write(&self.log, &mut head)?;
            return Ok(Parcel { bytes: head.len() as u64, head, file: None });
        }
        let path = site.config.data.join(SPOOL);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        std::fs::remove_file(&path)?;
        let mut to = std::io::BufWriter::with_capacity(256 * 1024, &file);
        tick.write(&self.log, &mut to)?;
        to.flush()?;
        drop(to);
        let bytes = file.metadata()?.len();
        Ok(Parcel { head: Vec::new(), file: Some(file), bytes })
    }
}
