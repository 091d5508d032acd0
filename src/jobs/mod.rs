//! Background jobs, and the loop that restarts a job after a panic.

pub(crate) mod discovery;
pub mod hooks;
pub mod outbox;
pub mod reminders;
pub(crate) mod scrub;
pub mod standby;
pub(crate) mod status;
pub mod sync;

use crate::app::{accounts, joining, leaving};
use crate::auth::passcode::LIFE_SECONDS;
use crate::http::failure::Failure;
use crate::ops::lifecycle;
use crate::site::Site;
use crate::site::priority;
use crate::store::integrity::{self, Verdict};
use crate::store::tables::{self, joins, outbox as messages, waivers};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

/// The pause before a job that panicked is started again.
pub(crate) const FAULT_PAUSE: Duration = Duration::from_secs(60);
const PURGE_INTERVAL: Duration = Duration::from_secs(60);
/// Rows of each table that one transaction removes, so that transactions stay short.
const PURGE_ROWS_MAX: i64 = 500;
/// The greatest number of rounds in a minute; other writes run between rounds.
const PURGE_ROUNDS_MAX: usize = 1_000;

/// A message that was not sent within this time is dead.
const MESSAGE_WAITS_SECONDS: i64 = 30 * 86_400;

/// Runs a job until the sender of `stop` is dropped. A job that panics is started again after the pause, so that a
/// fault in one row does not end all backups.
pub(crate) fn restart_on_panic(site: &Site, stop: &Receiver<()>, pause: Duration, job: impl Fn(&Site, &Receiver<()>)) {
    while panics(site, || job(site, stop)) {
        if !site.rest(stop, pause) {
            return;
        }
    }
}

/// Runs `work`, and returns whether it panicked. A panic is logged and counted.
fn panics(site: &Site, work: impl FnOnce()) -> bool {
    let faulty = catch_unwind(AssertUnwindSafe(work)).is_err();
    if faulty {
        site.store.release();
        site.stats.panics.fetch_add(1, Ordering::Relaxed);
    }
    faulty
}

/// Removes expired rows and renews the certificate, every minute until the sender of `stop` is dropped.
pub(crate) fn purge_until_stopped(site: &Site, stop: &Receiver<()>) {
    while site.rest(stop, PURGE_INTERVAL) {
        lifecycle::follow_jump(site);
        if let Err(failure) = purge_all_expired(site) {
            tracing::warn!(cause = %failure, "expired rows were not removed; the next minute tries again");
        }
        if let Err(cause) = crate::ops::tls::refresh(site) {
            tracing::error!(cause, "the certificate stays as it is; the next minute tries again");
        }
    }
}

/// Checks the whole database once, while the server runs, so that the server starts fast.
pub(crate) fn check_database(site: &Site, stop: &Receiver<()>) {
    priority::lower();
    let looked = integrity::check_store(&site.store, || stop.try_recv() == Err(TryRecvError::Disconnected));
    match looked {
        Ok(Verdict::Damaged(what)) => _ = crate::ops::backup::damage::check_database(site, &what),
        Ok(_) => {}
        Err(e) => tracing::warn!(cause = %e, "the database could not be checked"),
    }
}

/// Lifts ended bans, then removes expired rows in rounds until none are left.
pub fn purge_all_expired(site: &Site) -> Result<usize, Failure> {
    let mut removed = accounts::lift_ended_bans(site)?;
    for _ in 0..PURGE_ROUNDS_MAX {
        let now_removed = purge_expired(site)?;
        removed += now_removed;
        if now_removed < PURGE_ROWS_MAX as usize {
            break;
        }
    }
    Ok(removed + leaving::carry_out_due(site)?)
}

/// One round: removes expired rows of each table. What a clock that may be wrong counts as expired is kept.
pub fn purge_expired(site: &Site) -> Result<usize, Failure> {
    site.store.write(site.clock.earliest(), |tx| {
        messages::end_passcodes(tx, tx.now() - LIFE_SECONDS)?;
        messages::end_waiting(tx, tx.now() - MESSAGE_WAITS_SECONDS)?;
        let removed = tables::purge_expired(tx, PURGE_ROWS_MAX)?;
        let removed = removed + waivers::purge_expired(tx, PURGE_ROWS_MAX)?;
        Ok(removed + joins::purge_expired(tx, tx.now() - joining::UNDO_SECONDS)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ops::audit::Verify;
    use crate::ops::on_demand;
    use crate::ops::tests::new_site;
    use crate::store::data_dir::DataDir;
    use std::cell::Cell;
    use std::sync::mpsc;

    fn site(dir: &std::path::Path) -> Site {
        let data_dir = DataDir::lock(dir).unwrap();
        new_site(&data_dir, Config::defaults())
    }

    #[test]
    fn a_job_that_panics_is_restarted_unless_it_is_to_stop() {
        let dir = tempfile::tempdir().unwrap();
        let (site, begun) = (site(dir.path()), Cell::new(0));
        let job = |site: &Site, _: &Receiver<()>| {
            begun.set(begun.get() + 1);
            let faulty = begun.get() < 3;
            _ = site.store.read(|_| if faulty { panic!("a fault") } else { Ok(()) });
        };
        let (stop, stopped) = mpsc::channel();
        restart_on_panic(&site, &stopped, Duration::ZERO, job);
        assert_eq!((begun.get(), site.stats.panics.load(Ordering::Relaxed)), (3, 2));
        begun.set(0);
        drop(stop);
        restart_on_panic(&site, &stopped, FAULT_PAUSE, job);
        assert_eq!(begun.get(), 1);
    }

    #[test]
    fn a_clock_that_jumps_a_year_ahead_and_back_removes_nothing_and_lifts_no_ban() {
        const DAY: i64 = 86_400;
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir, Config { data: dir.path().to_owned(), ..Config::defaults() });
        let began = site.now();
        let rows = [
            "INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at, banned_at, banned_until)
             VALUES ('jane', 'jane', '', '', ?1, ?1, ?1, ?1 + 864000)",
            "INSERT INTO replays (replay_key, body_digest, outcome, kept_at) VALUES (x'01', x'02', x'', ?1)",
        ];
        site.store.write(began, |tx| Ok(rows.iter().try_for_each(|row| tx.run(*row, [began]).map(drop))?)).unwrap();
        let left = || {
            let count = "SELECT (SELECT count(*) FROM replays) + (SELECT count(*) FROM members WHERE banned_at > 0)";
            let left = site.store.read(|tx| Ok(tx.get::<i64>(count, [])?)).unwrap();
            site.store.release();
            left
        };
        for moment in [began + 365 * DAY, began + 365 * DAY - DAY, began + 100, began + 365 * DAY, began + 200] {
            site.clock.set(moment);
            lifecycle::follow_jump(&site);
            purge_all_expired(&site).unwrap();
            assert_eq!(left(), 2, "at {moment}");
        }
        // Time that ran counts, also by a clock that is behind.
        site.clock.advance(Duration::from_secs(11 * DAY as u64));
        purge_all_expired(&site).unwrap();
        assert_eq!(left(), 0);
    }

    #[test]
    fn work_that_panics_counts_as_ended() {
        let dir = tempfile::tempdir().unwrap();
        let site = site(dir.path());
        let begin = |fault: bool| {
            let work = move |_: &Site| if fault { panic!("a fault") } else { Ok(String::new()) };
            on_demand::begin(&site, Verify, work)
        };
        for (fault, wanted) in [(true, false), (false, true)] {
            assert!(begin(fault), "failed work has ended");
            while on_demand::last::<Verify>(&site).unwrap().outcome.is_none() {
                std::thread::yield_now();
            }
            assert_eq!(on_demand::last::<Verify>(&site).unwrap().outcome.unwrap().is_ok(), wanted);
        }
    }
}
