//! Counts of the members by level and currency. Currency is derived from each logbook, so every member is read, a few hundred
//! a snapshot. On large sites this takes seconds, so a background thread counts, and pages show the last counts.

use crate::domain::catalogue::Catalogue;
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::site::priority;
use crate::store::Read;
use crate::store::queries::{holdings, reports, standing};
use crate::web::badge::{DAY_SECONDS, PROGRAMMES, SOON_DAYS};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Members that are read in one snapshot. With no more members than that, the request counts them itself.
const MEMBERS_AT_ONCE: i64 = 500;
const KEPT_SECONDS: i64 = 600;

/// The counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Time of counting, in Unix seconds.
    pub at: Moment,
    pub members: i64,
    /// Members without a level.
    pub beginners: i64,
    /// Holders of each level, in the catalogue's order.
    pub levels: Vec<i64>,
    /// For each programme: members who are current, current for less than [`SOON_DAYS`], and lapsed.
    pub programmes: [[i64; 3]; PROGRAMMES.len()],
}

/// The last counts, shared by all requests.
#[derive(Default)]
pub(crate) struct Census(Mutex<State>);

#[derive(Default)]
struct State {
    last: Option<Counts>,
    under_way: bool,
}

/// The last counts and whether newer ones are being made.
pub(crate) struct Snapshot {
    /// `None` before the first count is complete.
    pub counts: Option<Counts>,
    /// Whether a count is in progress.
    pub under_way: bool,
}

impl Census {
    /// The last counts. Where these are old, a new count begins.
    pub(crate) fn take(&self, site: &Site) -> Result<Snapshot, Failure> {
        let mut state = self.lock();
        let now = site.now();
        let fresh = state.last.as_ref().is_some_and(|counts| (0..KEPT_SECONDS).contains(&(now - counts.at)));
        if !fresh && are_few(site)? {
            state.last = Some(count(site, now)?);
        } else if !fresh && !state.under_way {
            state.under_way = begin(site);
        }
        Ok(Snapshot { counts: state.last.clone(), under_way: state.under_way })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, counted: Result<Counts, Failure>) {
        let mut state = self.lock();
        state.under_way = false;
        match counted {
            Ok(counts) => state.last = Some(counts),
            Err(failure) => {
                tracing::warn!(cause = %failure, "the members were not counted; the next request tries again")
            }
        }
    }
}

fn are_few(site: &Site) -> Result<bool, Failure> {
    let some = site.store.read(|tx| Ok(reports::list_member_ids(tx, MemberId(0), MEMBERS_AT_ONCE + 1)?))?;
    Ok(some.len() as i64 <= MEMBERS_AT_ONCE)
}

/// Starts a thread that counts; whether it started.
fn begin(site: &Site) -> bool {
    let inside = site.for_another_thread();
    let begun = std::thread::Builder::new().name("census".to_owned()).spawn(move || {
        priority::lower();
        let counted = count(&inside, inside.now());
        inside.store.release();
        inside.state::<Census>().end(counted);
    });
    begun.inspect_err(|e| tracing::warn!(cause = %e, "no thread to count the members on")).is_ok()
}

fn count(site: &Site, now: Moment) -> Result<Counts, Failure> {
    let mut counts = Counts { at: now, levels: vec![0; site.catalogue.levels().count()], ..Counts::default() };
    let mut after = MemberId(0);
    loop {
        let last = site.store.read(|tx| {
            let ids = reports::list_member_ids(tx, after, MEMBERS_AT_ONCE)?;
            ids.iter().try_for_each(|id| counts.add(tx, site.catalogue, *id, now))?;
            Ok(ids.last().copied())
        })?;
        site.store.release();
        match last {
            Some(last) => after = last,
            None => return Ok(counts),
        }
    }
}

impl Counts {
    fn add(&mut self, tx: &Read, catalogue: &Catalogue, member_id: MemberId, now: Moment) -> Result<(), Failure> {
        let held = holdings::list(tx, member_id)?;
        self.members += 1;
        self.beginners += i64::from(held.is_empty());
        if held.is_empty() {
            return Ok(());
        }
        for (place, level) in catalogue.levels().enumerate() {
            self.levels[place] += i64::from(held.iter().any(|one| one.key() == level.key()));
        }
        let standing = standing::read(tx, member_id, now)?;
        for (place, (cat_group, _)) in PROGRAMMES.iter().enumerate() {
            let holds = held.iter().any(|one| one.cat_group == *cat_group);
            let Some(currency) = standing.currency.find(cat_group).filter(|_| holds) else { continue };
            let left = currency.renewal.map_or(0, |renewal| (renewal - now).div_euclid(DAY_SECONDS));
            let state = match (currency.current, left >= SOON_DAYS) {
                (true, true) => 0,
                (true, false) => 1,
                (false, _) => 2,
            };
            self.programmes[place][state] += 1;
        }
        Ok(())
    }
}
