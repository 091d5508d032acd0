//! The chain of the standby: its base, and the ticks behind it, packed to be sent.

use super::base::{Base, Payload};
use super::protocol::{Reply, Request};
use crate::keys::hex;
use crate::moment::Moment;
use crate::ops::replication::tick::Tick;
use crate::ops::signature::Signer;
use crate::site::Site;
use crate::store::engine::wal_read::WalReader;
use std::fs::File;
use std::io::Write;

/// A larger tick is packed in a file.
const MEMORY_BYTES_MAX: u64 = 1024 * 1024;
/// A standby that asks nothing for so long has gone, and another one may follow: it asks more often than it waits for a commit.
const GONE_SECONDS_MIN: i64 = 30;
const SPOOL: &str = ".standby-tick";

/// The chain of the standby.
pub(super) struct StandbyChain {
    pub(super) base: Base,
    pub(super) lineage: String,
    wal: WalReader,
    signer: Signer,
    pub(super) is_attached: bool,
    /// When the standby last requested the base or a tick (Unix seconds).
    pub(super) requested_at: Moment,
    /// The standby that has requested the base: see [`super::protocol::Request::follower`].
    pub(super) follower: String,
    /// The tick on its way, which is sent again until it is confirmed.
    pub(super) pending: Option<Payload>,
}

/// The part of a payload from an offset on.
pub(super) fn part(payload: &Payload, offset: u64) -> Reply {
    match payload.part(offset) {
        Ok(bytes) => Reply::Part { bytes, total: payload.bytes },
        Err(cause) => {
            tracing::error!(%cause, "cannot read a base or tick for the standby");
            Reply::BaseNeeded
        }
    }
}

impl StandbyChain {
    pub(super) fn new(site: &Site) -> Result<StandbyChain, String> {
        let base = Base::make(site)?;
        let wal = WalReader::open(&site.config.data).map_err(|e| format!("cannot read the write-ahead log: {e}"))?;
        let lineage = hex(&base.ticks.lineage);
        Ok(StandbyChain {
            base,
            lineage,
            wal,
            signer: Signer::ensure(&site.config.data)?,
            is_attached: false,
            requested_at: site.now(),
            follower: String::new(),
            pending: None,
        })
    }

    /// Whether another standby than that of the request has requested something a moment ago.
    pub(super) fn is_of_another(&self, site: &Site, request: &Request) -> bool {
        let is_other = !self.follower.is_empty() && self.follower != request.follower;
        is_other && site.now() - self.requested_at < GONE_SECONDS_MIN
    }

    pub(super) fn note_request(&mut self, site: &Site, request: &Request) {
        self.requested_at = site.now();
        request.follower.clone_into(&mut self.follower);
    }

    pub(super) fn is_followed(&self, site: &Site) -> bool {
        site.store.writer().capture.follows(self.base.ticks.follower())
    }

    /// Notes that the standby has everything up to this tick on its disk. Whether the number fits the chain.
    pub(super) fn acknowledge(&mut self, site: &Site, number: u64) -> bool {
        let capture = &site.store.writer().capture;
        if !self.is_attached && number == 0 {
            self.is_attached = true;
            self.base.remove_files();
            capture.attach(self.base.ticks.follower());
        }
        if self.is_attached && number == self.base.ticks.number + 1 {
            self.pending = None;
            self.base.ticks.confirm();
        }
        self.is_attached && number == self.base.ticks.number
    }

    /// The next tick, or the one that is not confirmed yet.
    pub(super) fn next(&mut self, site: &Site) -> Result<Reply, String> {
        if self.pending.is_none() {
            let Some(end) = site.store.writer().capture.next_end(self.base.ticks.follower())? else {
                return Ok(Reply::Nothing);
            };
            let tick = self.base.ticks.next(&end, &self.wal)?;
            self.pending = Some(self.pack(site, &tick).map_err(|e| format!("cannot pack a tick: {e}"))?);
        }
        Ok(self.pending.as_ref().map_or(Reply::Nothing, |payload| part(payload, 0)))
    }

    /// Packs a tick in memory, or in an unnamed file where it is large.
    fn pack(&self, site: &Site, tick: &Tick) -> std::io::Result<Payload> {
        let bytes = tick.bytes();
        if bytes <= MEMORY_BYTES_MAX {
            let mut head = Vec::with_capacity(bytes as usize);
            tick.write(&self.wal, &self.signer, &mut head)?;
            return Ok(Payload { bytes: head.len() as u64, head, file: None });
        }
        let path = site.config.data.join(SPOOL);
        let file = crate::files::open_with(File::options().read(true).write(true).create(true).truncate(true), &path)?;
        std::fs::remove_file(&path)?;
        let mut to = std::io::BufWriter::with_capacity(256 * 1024, &file);
        tick.write(&self.wal, &self.signer, &mut to)?;
        to.flush()?;
        drop(to);
        let bytes = file.metadata()?.len();
        Ok(Payload { head: Vec::new(), file: Some(file), bytes })
    }
}
