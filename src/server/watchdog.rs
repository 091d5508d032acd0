//! The sign of life: given only by a server that has just read its file, whose writer has answered, and whose network
//! threads run. One that hangs falls silent, and the service manager starts it again.

use super::NetworkProbe;
use crate::http::failure::Failure;
use crate::ops::systemd::Listener;
use crate::site::Site;
use crate::store::tables::tunnels;
use http::StatusCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// So many signs in the time that the manager waits for one.
const SIGNS: u32 = 3;

/// Gives signs of life until the sender of `stop` is dropped.
pub(crate) fn feed_until_stopped(
    service: &Listener,
    patience: Duration,
    site: &Site,
    probe: &NetworkProbe,
    stop: &Receiver<()>,
) {
    let interval = patience / SIGNS;
    loop {
        match look(site, probe, interval) {
            Ok(()) => service.tell("WATCHDOG=1"),
            Err(cause) => {
                tracing::error!(
                    cause,
                    "the server does not work; unless that passes, the service manager starts it again"
                );
                service.tell(&format!("STATUS=does not work: {cause}"));
            }
        }
        if stop.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// Whether the server works. Where a part of it hangs, so does this.
fn look(site: &Site, probe: &NetworkProbe, patience: Duration) -> Result<(), String> {
    let known =
        site.store.read(|tx| Ok(tunnels::find_site(tx)?)).map_err(|e| format!("the file cannot be read: {e}"))?;
    site.store.release();
    known.ok_or("the file does not say whose it is")?;
    answer_of(site.store.write(site.now(), |_| Ok(()))).map_err(|e| format!("the writer fails: {e}"))?;
    if probe.responds(patience) { Ok(()) } else { Err("the network threads do not answer".to_owned()) }
}

/// A full disk is no reason to start again: reads go on, and writes do by themselves once there is room.
fn answer_of(written: Result<(), Failure>) -> Result<(), Failure> {
    match written {
        Err(failure) if failure.status() == StatusCode::INSUFFICIENT_STORAGE => Ok(()),
        // A read-only site still answers reads, and this state ends by itself once the disk takes writes.
        Err(failure) if failure.code() == Failure::read_only().code() => Ok(()),
        written => written,
    }
}
