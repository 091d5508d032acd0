//! Verification of the audit log: walks the hash chain from its first row to its end, and compares it with its witnesses: the
//! site's own row with its mark, the key file, the file with the log's end, and the manifests of the backups.

use super::backup::backup_store::{Backup, local_store};
use super::{Progress, audit_end, on_demand};
use crate::domain::audit::{self, Actor, ChainKey, Detail, Hash, Head, Subject};
use crate::domain::audit_break::Break;
use crate::http::failure::Failure;
use crate::keys::hex;
use crate::ops::backup::off_site::OffSite;
use crate::site::Site;
use crate::store::tables::audit::{HashedRow, head, insert, is_end_marked, list_after, list_returns};
use serde::Serialize;

/// Rows that one read takes, so that it stays short.
const PAGE_ROWS: i64 = 2_000;

/// The outcome of a check of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Walk {
    /// Intact rows, from the first on.
    pub rows: i64,
    /// The hash of the last intact row (hex).
    pub head: String,
    /// Backups whose manifests agree with the chain.
    pub witnesses: usize,
    /// The first fault; `None`: the log is intact.
    pub broken: Option<Break>,
}

/// The action of an audit row that records a verification.
pub(crate) const VERIFIED: &str = "audit.verified";

/// A verification, as work that is started at the desk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verify;

/// Starts a verification, whose outcome is written to the log. `false`: one that was started so is still running.
pub(crate) fn begin_verifying(site: &Site, actor: &Actor) -> bool {
    let actor = actor.clone();
    on_demand::begin(site, Verify, move |site| verify(site, &actor).map(|()| String::new()).map_err(|e| e.to_string()))
}

fn verify(site: &Site, actor: &Actor) -> Result<(), Failure> {
    let found = walk(site, &mut |_, _, _| ())?;
    let detail = Detail::none().number("rows", found.rows).number("backups", found.witnesses as i64);
    let detail = match &found.broken {
        None => detail.flag("sound", true),
        Some(broken) => detail.flag("sound", false).word("what", broken.word()).number("row", broken.row()),
    };
    site.store.write(site.now(), |tx| {
        insert(tx, actor, VERIFIED, &Subject::Site, &detail)?;
        Ok(())
    })
}

/// Verifies the whole log. `progress` gets rows done and in all.
pub fn walk(site: &Site, progress: &mut Progress) -> Result<Walk, Failure> {
    let (end, is_marked) = read(site, |tx| Ok((head(tx)?, is_end_marked(tx)?)))?;
    let mut witnesses = Witnesses::gather(site)?;
    let key = site.store.chain_key();
    let mut chain = Chain { key, seq: 0, hash: audit::genesis(&site.site_id) };
    let mut broken = witnesses.disagree(&chain).or_else(|| chain.cut_before_its_key(end.seq));
    while broken.is_none() && chain.seq < end.seq {
        progress("reading the audit log", chain.seq.unsigned_abs(), end.seq.unsigned_abs());
        let page = read(site, |tx| Ok(list_after(tx, chain.seq, PAGE_ROWS)?))?;
        if page.is_empty() {
            broken = Some(Break::Missing { row: chain.seq + 1, to: end.seq });
        }
        for kept in &page {
            // Rows that were added since the end was read are not verified.
            if broken.is_some() || chain.seq >= end.seq {
                break;
            }
            broken = chain.step(kept, end.seq).or_else(|| witnesses.disagree(&chain));
        }
    }
    let broken = broken.or_else(|| (chain.hash != end.hash).then_some(Break::EndDiffers { row: end.seq }));
    let broken = match broken {
        None => beyond(site, end)?.or_else(|| witnesses.left_over(end.seq)),
        broken => broken,
    };
    let broken = match broken {
        None if !is_marked => Some(Break::EndDiffers { row: end.seq }),
        None => read(site, |tx| audit_end::judge(tx, &site.config.data))?,
        broken => broken,
    };
    Ok(Walk { rows: chain.seq, head: hex(&chain.hash), witnesses: witnesses.agreed, broken })
}

/// One snapshot for each page: a long one would keep the WAL from being checkpointed.
fn read<T>(site: &Site, question: impl FnOnce(&crate::store::Read) -> Result<T, Failure>) -> Result<T, Failure> {
    let answer = site.store.read(question);
    site.store.release();
    answer
}

/// Checks for rows behind the end. The end is read again: rows that were added since have moved it.
fn beyond(site: &Site, end: Head) -> Result<Option<Break>, Failure> {
    read(site, |tx| {
        let now = head(tx)?;
        let last = list_after(tx, now.seq, 1)?;
        let moved = now.seq >= end.seq;
        Ok(match last.first() {
            Some(kept) => Some(Break::Beyond { row: kept.row.seq }),
            None if !moved => Some(Break::Missing { row: now.seq + 1, to: end.seq }),
            None => None,
        })
    })
}

/// The verified part of the chain.
struct Chain<'k> {
    key: Option<&'k ChainKey>,
    seq: i64,
    hash: Hash,
}

impl Chain<'_> {
    /// Whether rows from before the chain had a key are missing: the key file has the number of the last of them.
    fn cut_before_its_key(&self, end: i64) -> Option<Break> {
        let plain_end = self.key?.plain_end?.seq;
        (end < plain_end).then_some(Break::Missing { row: end + 1, to: plain_end })
    }

    /// Verifies the next row.
    fn step(&mut self, kept: &HashedRow, end: i64) -> Option<Break> {
        let next = self.seq + 1;
        if kept.row.seq != next {
            return Some(Break::Missing { row: next, to: (kept.row.seq - 1).min(end) });
        }
        let hash = audit::hash_of_kept(self.key, &self.hash, &kept.row);
        if kept.hash != hash {
            return Some(Break::Changed { row: next });
        }
        let plain_end = self.key.and_then(|key| key.plain_end).filter(|end| end.seq == next);
        if plain_end.is_some_and(|end| end.hash != hash) {
            return Some(Break::EndDiffers { row: next });
        }
        (self.seq, self.hash) = (next, hash);
        None
    }
}

/// The ends of the audit log that backups recorded, the earliest row first.
struct Witnesses {
    /// Row, hash in hex, the backup's name.
    waiting: Vec<(i64, String, String)>,
    agreed: usize,
}

impl Witnesses {
    /// Reads the manifests of all backups. A restore is recorded in the log: backups from between the restored one and the
    /// restore have rows that the database lacks, and are left out.
    fn gather(site: &Site) -> Result<Witnesses, Failure> {
        let returns = read(site, |tx| Ok(list_returns(tx)?))?;
        let off_site = OffSite::of(site).and_then(|off_site| off_site.list().ok()).unwrap_or_default();
        let backups = local_store(&site.config.data).list().into_iter().chain(off_site.backups);
        let ours = |backup: &Backup| backup.manifest.site_id == *site.site_id;
        let mut waiting: Vec<_> = backups
            .filter(ours)
            .filter_map(|backup| {
                let name = backup.name();
                let (made_at, anchor) = (backup.manifest.made_at, backup.manifest.audit?);
                let left = returns.iter().any(|(seq, at)| *seq <= anchor.seq && made_at <= *at);
                (!left).then_some((anchor.seq, anchor.hash, name))
            })
            .collect();
        waiting.sort();
        waiting.dedup();
        waiting.reverse();
        Ok(Witnesses { waiting, agreed: 0 })
    }

    /// The first witness of this row that has another hash.
    fn disagree(&mut self, chain: &Chain) -> Option<Break> {
        while let Some((seq, hash, name)) = self.waiting.last()
            && *seq == chain.seq
        {
            if *hash != hex(&chain.hash) {
                return Some(Break::WitnessDiffers { row: *seq, backup: name.clone() });
            }
            self.waiting.pop();
            self.agreed += 1;
        }
        None
    }

    /// A witness of a row behind the end.
    fn left_over(&self, end: i64) -> Option<Break> {
        let (row, _, backup) = self.waiting.iter().rev().find(|(seq, ..)| *seq > end)?;
        Some(Break::WitnessDiffers { row: *row, backup: backup.clone() })
    }
}
