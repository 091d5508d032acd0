//! The protocol of the writer under thousands of schedules: in each, other threads run between any two steps. A caller that waits
//! for ever is a deadlock, which the scheduler finds; no caller may be told that a change is on the disk that is not.
//!
//! The lines are the product's own, with the scheduler's locks in place of the system's. The scheduler has no clock, so a limit
//! is a caller that leaves at any moment. `tests/schedules` runs a million; `TUNNELDESK_SCHEDULES` sets the number.

#![allow(unreachable_pub, reason = "nothing imports from here")]

mod disk;
mod old;
#[allow(dead_code, reason = "the product asks for more")]
#[path = "../../src/store/engine/writer/turns.rs"]
mod turns;

/// What the protocol is built from.
mod sync {
    pub use shuttle::sync::*;
}

use disk::{Disk, Failure, Fault, Seen, Standby};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tunneldesk::moment::{self, Moment};
use turns::{Pending, Terms, Turns};

const SCHEDULES: usize = 20_000;
/// The preemptions that a schedule of the second kind places on purpose.
const PREEMPTIONS: usize = 3;
/// The scheduler never reaches it.
const NEVER: Duration = Duration::from_secs(3600);

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Succeeds,
    Fails,
    Panics,
    /// The disk is full, and SQLite rolls back the transaction; `true`: the change does not notice.
    FillsDisk(bool),
    /// Fails, and cannot be undone alone.
    CannotBeUndone,
}

/// How a caller waits for its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    Waits,
    /// Waits for the standby too.
    AndForStandby,
    /// Its time is up before the outcome.
    Leaves,
    /// Drops the change without ever waiting.
    Forgets,
}

const PLAIN: Terms = Terms { alone: false, defers: false };
const DEFERRED: Terms = Terms { alone: false, defers: true };
const ALONE: Terms = Terms { alone: true, defers: false };

struct Site {
    turns: Arc<Turns<Disk>>,
    seen: Arc<Seen>,
    standby: Arc<Standby>,
}

impl Site {
    fn new() -> Site {
        let (seen, standby) = <(Arc<Seen>, Arc<Standby>)>::default();
        Site { turns: Arc::new(Turns::new(Disk::new(seen.clone(), standby.clone()))), seen, standby }
    }

    /// Makes the change `id`. What fails by itself must never be on the disk.
    fn write(&self, id: u32, terms: Terms, deed: Deed) -> Option<Pending<Disk>> {
        let change = |disk: &mut Disk| {
            disk.insert(id);
            thread::yield_now();
            match deed {
                Deed::Succeeds => return Ok(()),
                Deed::Fails => {}
                Deed::Panics => std::panic::resume_unwind(Box::new(Fault)),
                Deed::FillsDisk(unnoticed) => {
                    disk.is_full();
                    if unnoticed {
                        return Ok(());
                    }
                }
                Deed::CannotBeUndone => disk.undo_fails(),
            }
            Err(Failure)
        };
        let written = catch_unwind(AssertUnwindSafe(|| self.turns.write(Moment(0), terms, change, thread::yield_now)));
        match written {
            Ok(Ok(((), pending))) => Some(pending),
            Ok(Err(Failure)) => self.seen.note_failed(id),
            Err(panic) => {
                assert!(panic.is::<Fault>(), "a fault of the protocol itself");
                self.seen.note_failed(id)
            }
        }
    }

    fn wait(&self, id: u32, mut pending: Pending<Disk>, patience: Patience) {
        match patience {
            Patience::Forgets => return,
            Patience::Leaves => return pending.claim(),
            Patience::Waits | Patience::AndForStandby => {}
        }
        match pending.wait(NEVER).expect("there is no clock") {
            Ok(commit) => {
                assert!(self.seen.is_durable(id), "{id} was acknowledged and is not on the disk");
                if patience == Patience::AndForStandby {
                    self.standby.wait(commit);
                }
            }
            Err(Failure) => _ = self.seen.note_failed::<()>(id),
        }
    }
}

/// One schedule: callers of every kind, the rest as the dice fall.
fn all_callers() {
    let site = Arc::new(Site::new());
    let mut callers = Vec::new();
    let mut calls = |caller: Box<dyn FnOnce(&Site) + Send>| {
        let site = site.clone();
        callers.push(thread::spawn(move || caller(&site)));
    };
    let mut random = thread_rng();
    if random.gen_range(0..2) == 0 {
        site.standby.join();
        calls(Box::new(|site| site.standby.follow()));
    }
    for number in 0..4 {
        let (terms, deed) = ([PLAIN, PLAIN, DEFERRED, ALONE][random.gen_range(0..4)], any_deed(&mut random));
        let patience = any_patience(&mut random);
        calls(Box::new(move |site| {
            for id in [10 * number, 10 * number + 1] {
                if let Some(pending) = site.write(id, terms, deed) {
                    site.wait(id, pending, patience);
                }
            }
        }));
    }
    // As the thread that answers many calls after one flush.
    calls(Box::new(|site| {
        let left: Vec<_> = (100..103).filter_map(|id| Some((id, site.write(id, DEFERRED, Deed::Succeeds)?))).collect();
        left.into_iter().for_each(|(id, pending)| site.wait(id, pending, Patience::Waits));
    }));
    calls(Box::new(|site| {
        if let Some(pending) = site.write(110, PLAIN, Deed::Succeeds) {
            site.wait(110, pending, Patience::Waits);
        }
    }));
    calls(Box::new(|site| _ = site.write(120, PLAIN, Deed::Fails)));
    let leaves_a_transaction = random.gen_range(0..2) == 0;
    calls(Box::new(move |site| site.turns.exclusive(|disk| disk.work_alone(leaves_a_transaction))));
    if random.gen_range(0..3) == 0 {
        calls(Box::new(|site| site.seen.refuse_for_a_while()));
    }
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    site.seen.audit();
}

fn any_deed(random: &mut impl Rng) -> Deed {
    use Deed::*;
    [Succeeds, Succeeds, Succeeds, Fails, Panics, FillsDisk(false), FillsDisk(true), CannotBeUndone]
        [random.gen_range(0..8)]
}

fn any_patience(random: &mut impl Rng) -> Patience {
    use Patience::*;
    [Waits, Waits, AndForStandby, Leaves, Forgets][random.gen_range(0..5)]
}

fn schedules() -> usize {
    std::env::var("TUNNELDESK_SCHEDULES").map_or(SCHEDULES, |number| number.parse().expect("a number of schedules"))
}

fn run(scheduler: impl Scheduler + 'static, on_failure: FailurePersistence, callers: fn()) {
    let mut config = Config::new();
    config.failure_persistence = on_failure;
    Runner::new(scheduler, config).run(callers);
}

#[test]
fn no_random_schedule_stalls_a_caller_or_acknowledges_what_is_not_on_the_disk() {
    run(RandomScheduler::new(schedules() / 2), FailurePersistence::Print, all_callers);
}

#[test]
fn no_schedule_with_preemptions_stalls_a_caller_or_acknowledges_what_is_not_on_the_disk() {
    run(PctScheduler::new(PREEMPTIONS, schedules() / 2), FailurePersistence::Print, all_callers);
}

/// The control: a protocol that lets a caller wait until somebody else writes is found out.
#[test]
fn the_protocol_without_the_rule_stalls() {
    let found = catch_unwind(|| {
        run(RandomScheduler::new(schedules()), FailurePersistence::None, old::callers);
    });
    let panic = found.expect_err("no caller of the old protocol waits for ever");
    let said = panic.downcast_ref::<String>().expect("a message");
    assert!(said.contains("deadlock"), "{said}");
}
