//! Jobs that run without being asked.

pub mod outbox;
pub mod reminders;
pub(crate) mod scrub;
pub mod standby;
pub mod sync;

use crate::app::accounts;
use crate::auth::SIGNATURE_KEPT_SECONDS;
use crate::auth::kiosk;
use crate::auth::passcode::LIFE_SECONDS;
use crate::domain::mail_event;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::site::priority;
use crate::store::engine::integrity::{self, Verdict};
use crate::store::tables::callbacks::{self, Sender};
use crate::store::tables::{
    account_claims, contact, devices, email_tokens, failed_attempts, invitations, kiosks, outbox as messages, partners,
    passcodes, passkeys, payments, reminders as given, replays, sessions, sign_in_steps, signing_links, throttles,
    undos, waivers,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// Before a job begins anew that a fault of ours has ended.
pub(crate) const FAULT_PAUSE: Duration = Duration::from_secs(60);
const PURGE_INTERVAL: Duration = Duration::from_secs(60);
/// Rows of each kind that one transaction removes, so that it stays short.
const PURGE_ROWS_MAX: i64 = 500;
/// In a minute; between two rounds others write.
const PURGE_ROUNDS_MAX: usize = 1_000;

/// A message that nobody took by then is dead.
const MESSAGE_WAITS_SECONDS: i64 = 30 * 86_400;
/// How long a message is kept after it was sent; events about a mail come within days.
const MESSAGE_KEPT_SECONDS: i64 = 90 * 86_400;
/// How long a message of the contact form is kept after the desk was done with it.
const CONTACT_KEPT_SECONDS: i64 = 365 * 86_400;
/// Longer than a clock may be set back.
const REMINDER_KEPT_SECONDS: i64 = 90 * 86_400;

/// Events about money are wanted when the year's books are closed; what they did stays for good.
const PAYMENT_EVENTS_KEPT_SECONDS: i64 = 400 * 86_400;
const EVENTS_KEPT_SECONDS: [(Sender, i64); 4] = [
    (Sender::Processor, PAYMENT_EVENTS_KEPT_SECONDS),
    (Sender::App, PAYMENT_EVENTS_KEPT_SECONDS),
    (Sender::Mail, mail_event::KEPT_SECONDS),
    (Sender::Social, mail_event::KEPT_SECONDS),
];
/// A payment that an app spoke of and its processor never did.
const CLAIM_KEPT_SECONDS: i64 = 30 * 86_400;

/// Does a job until the sender of `stop` is dropped. One that panics begins anew after the pause: a fault that one row
/// brings out must not be the end of all backups.
pub(crate) fn keep_at(site: &Site, stop: &Receiver<()>, pause: Duration, job: impl Fn(&Site, &Receiver<()>)) {
    while is_faulty(site, || job(site, stop)) {
        if stop.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// Whether it panicked; the log and the figures tell of that.
fn is_faulty(site: &Site, work: impl FnOnce()) -> bool {
    let faulty = catch_unwind(AssertUnwindSafe(work)).is_err();
    if faulty {
        site.store.release();
        site.stats.panics.fetch_add(1, Ordering::Relaxed);
    }
    faulty
}

/// Removes what is out of date and looks after the certificate, every minute until the sender of `stop` is dropped.
pub(crate) fn purge_until_stopped(site: &Site, stop: &Receiver<()>) {
    while stop.recv_timeout(PURGE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if let Err(failure) = purge_all_expired(site) {
            tracing::warn!(cause = %failure, "out-of-date rows were not removed; the next minute tries again");
        }
        if let Err(cause) = crate::ops::tls::refresh(site) {
            tracing::error!(cause, "the certificate stays as it is; the next minute tries again");
        }
    }
}

/// Looks through the file, once: the start of a server reads no more of it than it must.
pub(crate) fn look_at_the_file(site: &Site, stop: &Receiver<()>) {
    priority::lower();
    let looked = integrity::check_store(&site.store, || stop.try_recv() == Err(TryRecvError::Disconnected));
    match looked {
        Ok(Verdict::Damaged(what)) => _ = crate::ops::backup::damage::look_after(site, &what),
        Ok(_) => {}
        Err(e) => tracing::warn!(cause = %e, "the file could not be looked through"),
    }
}

/// Lifts bans whose end has come; then rounds until nothing is left that is out of date: rows may come faster than one round a minute removes them.
pub fn purge_all_expired(site: &Site) -> Result<usize, Failure> {
    let mut removed = accounts::lift_ended_bans(site)?;
    for _ in 0..PURGE_ROUNDS_MAX {
        let now_removed = purge_expired(site)?;
        removed += now_removed;
        if now_removed < PURGE_ROWS_MAX as usize {
            break;
        }
    }
    Ok(removed)
}

/// One round: sessions and tokens that ended, kept answers, used signatures, forgotten misses and devices,
/// messages of long ago.
pub fn purge_expired(site: &Site) -> Result<usize, Failure> {
    site.store.write(site.now(), |tx| {
        let mut removed = sessions::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += replays::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += partners::purge_signatures(tx, tx.now() - SIGNATURE_KEPT_SECONDS, PURGE_ROWS_MAX)?;
        removed += throttles::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += passcodes::purge_expired(tx, PURGE_ROWS_MAX)?;
        messages::end_passcodes(tx, tx.now() - LIFE_SECONDS)?;
        messages::end_waiting(tx, tx.now() - MESSAGE_WAITS_SECONDS)?;
        removed += messages::purge_expired(tx, tx.now() - MESSAGE_KEPT_SECONDS, PURGE_ROWS_MAX)?;
        removed += passkeys::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += email_tokens::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += undos::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += account_claims::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += waivers::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += signing_links::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += invitations::purge_expired(tx, PURGE_ROWS_MAX)?;
        for (sender, kept) in EVENTS_KEPT_SECONDS {
            removed += callbacks::purge_expired(tx, sender, tx.now() - kept, PURGE_ROWS_MAX)?;
        }
        removed += payments::purge_expired_claims(tx, tx.now() - CLAIM_KEPT_SECONDS, PURGE_ROWS_MAX)?;
        removed += contact::purge_expired(tx, tx.now() - CONTACT_KEPT_SECONDS, PURGE_ROWS_MAX)?;
        removed += given::purge_expired(tx, tx.now() - REMINDER_KEPT_SECONDS, PURGE_ROWS_MAX)?;
        removed += devices::purge_expired(tx, PURGE_ROWS_MAX)?;
        removed += sign_in_steps::purge_expired(tx)?;
        removed += failed_attempts::purge_expired(tx)?;
        removed += kiosks::purge_expired(tx, kiosk::guests_gone_before(tx.now()))?;
        Ok(removed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::Config;
    use crate::ops::audit::Verify;
    use crate::ops::lifecycle::Identity;
    use crate::ops::on_demand;
    use crate::store::engine::data_dir::DataDir;
    use std::cell::Cell;
    use std::sync::mpsc;

    fn site(dir: &std::path::Path) -> Site {
        let data_dir = DataDir::lock(dir).unwrap();
        let identity = Identity { tunnel_id: 1, name: "Here".into(), city: String::new(), country: "CH".into() };
        Site::create(&data_dir, Config::defaults(), Clock::frozen(1_800_000_000), &identity).unwrap()
    }

    #[test]
    fn a_job_that_panics_begins_anew_unless_it_is_to_stop() {
        let dir = tempfile::tempdir().unwrap();
        let (site, begun) = (site(dir.path()), Cell::new(0));
        let job = |site: &Site, _: &Receiver<()>| {
            begun.set(begun.get() + 1);
            let faulty = begun.get() < 3;
            _ = site.store.read(|_| if faulty { panic!("a fault") } else { Ok(()) });
        };
        let (stop, stopped) = mpsc::channel();
        keep_at(&site, &stopped, Duration::ZERO, job);
        assert_eq!((begun.get(), site.stats.panics.load(Ordering::Relaxed)), (3, 2));
        begun.set(0);
        drop(stop);
        keep_at(&site, &stopped, FAULT_PAUSE, job);
        assert_eq!(begun.get(), 1);
    }

    #[test]
    fn work_that_panics_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let site = site(dir.path());
        let begin = |fault: bool| {
            let work = move |_: &Site| if fault { panic!("a fault") } else { Ok(String::new()) };
            on_demand::begin(&site, Verify, work)
        };
        for (fault, wanted) in [(true, false), (false, true)] {
            assert!(begin(fault), "what failed before is not under way any more");
            while on_demand::last::<Verify>(&site).unwrap().outcome.is_none() {
                std::thread::yield_now();
            }
            assert_eq!(on_demand::last::<Verify>(&site).unwrap().outcome.unwrap().is_ok(), wanted);
        }
    }
}
