//! The latest calls of partners that were refused, with the reason in words, for the desk.
//!
//! They are kept in memory alone: whoever has no secret must not be able to make the file grow or the disk work. A restart
//! forgets them; the log has them all.

use crate::http::call::Call;
use crate::http::failure::{Failure, Problem};
use crate::i18n::language::Text;
use http::Method;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Kept of each partner, and as many of callers that are nobody's.
const KEPT_EACH: usize = 40;
const PATH_CHARS_MAX: usize = 120;

/// A call that was refused, and those after it that were the same.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// Whose it was, as far as that is known.
    pub partner_id: Option<i64>,
    /// The latest, in Unix seconds.
    pub at: i64,
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
    rings: Mutex<BTreeMap<Option<i64>, VecDeque<Refusal>>>,
}

impl Refusals {
    /// `why` says more than the caller is told.
    pub(crate) fn note(&self, call: &Call, now: i64, partner_id: Option<i64>, failure: &Failure, why: Text) {
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

    /// Of one partner, or with `None` of callers that are nobody's; newest first.
    pub(crate) fn list(&self, partner_id: Option<i64>) -> Vec<Refusal> {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        rings.get(&partner_id).map_or_else(Vec::new, |ring| ring.iter().cloned().collect())
    }

    /// Of everybody, newest first.
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
