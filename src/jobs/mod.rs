//! What runs by itself.

pub mod outbox;

use crate::failure::Failure;
use crate::gate::SIGNATURE_KEPT_SECONDS;
use crate::gate::passcode::LIFE_SECONDS;
use crate::site::Site;
use crate::store::{email_tokens, outbox as messages, partners, passcodes, passkeys, replays, sessions, throttles};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

const SWEEP_INTERVAL: Duration = Duration::from_secs(60);
/// Rows of each kind that one transaction removes, so that it stays short.
const SWEEP_ROWS_MAX: i64 = 500;

/// A message that nobody took by then is dead.
const MESSAGE_WAITS_SECONDS: i64 = 30 * 86_400;
/// What is known of a message goes then; events about a mail come within days.
const MESSAGE_KEPT_SECONDS: i64 = 90 * 86_400;

/// Removes what is out of date, every minute until the sender of `stop` is dropped.
pub fn sweep_until_stopped(site: &Site, stop: &Receiver<()>) {
    while stop.recv_timeout(SWEEP_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if let Err(failure) = sweep(site) {
            tracing::warn!(cause = %failure, "out-of-date rows were not removed; the next minute tries again");
        }
    }
}

/// One round: sessions and tokens that ended, kept answers, used signatures, forgotten misses,
/// messages of long ago.
pub fn sweep(site: &Site) -> Result<usize, Failure> {
    site.store.write(site.now(), |tx| {
        let mut removed = sessions::sweep(tx, SWEEP_ROWS_MAX)?;
        removed += replays::sweep(tx, SWEEP_ROWS_MAX)?;
        removed += partners::sweep_signatures(tx, tx.now() - SIGNATURE_KEPT_SECONDS, SWEEP_ROWS_MAX)?;
        removed += throttles::sweep(tx, SWEEP_ROWS_MAX)?;
        removed += passcodes::sweep(tx, SWEEP_ROWS_MAX)?;
        messages::end_passcodes(tx, tx.now() - LIFE_SECONDS)?;
        messages::end_waiting(tx, tx.now() - MESSAGE_WAITS_SECONDS)?;
        removed += messages::sweep(tx, tx.now() - MESSAGE_KEPT_SECONDS, SWEEP_ROWS_MAX)?;
        removed += passkeys::sweep(tx, SWEEP_ROWS_MAX)?;
        removed += email_tokens::sweep(tx, SWEEP_ROWS_MAX)?;
        Ok(removed)
    })
}
