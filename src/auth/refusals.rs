//! The latest calls of partners that were refused, with the reason in words, for the desk.
//!
//! The list is in memory alone, because a caller without a secret must not make the database grow or the disk work. A
//! restart forgets the list; the log has every refusal.

use crate::domain::ids::PartnerId;
use crate::http::call::Call;
use crate::http::failure::{Failure, Problem};
use crate::i18n::language::Text;
use crate::moment::Moment;
use http::Method;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Refusals that are kept of each partner, and of all unknown callers together.
const KEPT_EACH: usize = 40;
const PATH_CHARS_MAX: usize = 120;

/// A refused call, and the same calls that followed it.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// `None`: no partner could be identified.
    pub partner_id: Option<PartnerId>,
    /// The moment of the latest, in Unix seconds.
    pub at: Moment,
    pub times: u64,
    pub peer: IpAddr,
    pub method: Method,
    pub path: String,
    pub status: u16,
    pub why: Text,
    /// The fields at fault.
    pub problems: Vec<Problem>,
}

#[derive(Default)]
pub(crate) struct Refusals {
    rings: Mutex<BTreeMap<Option<PartnerId>, VecDeque<Refusal>>>,
}

impl Refusals {
    /// `why`: the reason for the desk, which says more than the caller is told.
    pub(crate) fn note(&self, call: &Call, now: Moment, partner_id: Option<PartnerId>, failure: &Failure, why: Text) {
        let refusal = Refusal {
            partner_id,
            at: now,
            times: 1,
            peer: call.peer,
            method: call.method.clone(),
            path: call.path.chars().take(PATH_CHARS_MAX).collect(),
            status: failure.status().as_u16(),
            why,
            problems: failure.problems().to_vec(),
        };
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        let ring = rings.entry(partner_id).or_default();
        match ring.front_mut() {
            Some(last) if last.is_same(&refusal) => {
                last.at = now;
                last.times += 1;
            }
            _ => {
                ring.push_front(refusal);
                ring.truncate(KEPT_EACH);
            }
        }
    }

    /// The refusals of one partner, or with `None` of unknown callers; newest first.
    pub(crate) fn list(&self, partner_id: Option<PartnerId>) -> Vec<Refusal> {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        rings.get(&partner_id).map_or_else(Vec::new, |ring| ring.iter().cloned().collect())
    }

    /// The newest refusals of all callers.
    pub(crate) fn latest(&self, rows: usize) -> Vec<Refusal> {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Refusal> = rings.values().flatten().cloned().collect();
        all.sort_by_key(|refusal| std::cmp::Reverse(refusal.at));
        all.truncate(rows);
        all
    }
}

impl Refusal {
    fn is_same(&self, other: &Refusal) -> bool {
        let call = |one: &Refusal| (one.peer, one.method.clone(), one.path.clone(), one.status);
        call(self) == call(other) && self.why == other.why && self.problems.len() == other.problems.len()
    }
}
