//! The watchdog of the service manager: fed while the server can read its database, the writer answers, and the network threads
//! run. The service manager restarts a server that hangs.

use super::NetworkProbe;
use crate::http::failure::Failure;
use crate::ops::systemd::Notifier;
use crate::site::Site;
use crate::store::tables::tunnels;
use http::StatusCode;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Signals in the manager's time-out.
const SIGNALS: u32 = 3;

/// Feeds the watchdog until the sender of `stop` is dropped.
pub(crate) fn feed_until_stopped(
    service: &Notifier,
    time_out: Duration,
    site: &Site,
    probe: &NetworkProbe,
    stop: &Receiver<()>,
) {
    let interval = time_out / SIGNALS;
    loop {
        match check(site, probe, interval) {
            Ok(()) => service.notify("WATCHDOG=1"),
            Err(cause) => {
                tracing::error!(cause, "the server does not work; unless it recovers, the service manager restarts it");
                service.notify(&format!("STATUS=does not work: {cause}"));
            }
        }
        if !site.rest(stop, interval) {
            return;
        }
    }
}

/// Checks that the server works. Hangs where a part of the server hangs.
fn check(site: &Site, probe: &NetworkProbe, time_max: Duration) -> Result<(), String> {
    let known =
        site.store.read(|tx| Ok(tunnels::find_site(tx)?)).map_err(|e| format!("the database cannot be read: {e}"))?;
    site.store.release();
    known.ok_or("the database has no site")?;
    answer_of(site.store.write(site.now(), |_| Ok(()))).map_err(|e| format!("the writer fails: {e}"))?;
    if probe.responds(time_max) { Ok(()) } else { Err("the network threads do not answer".to_owned()) }
}

/// A full disk is no reason for a restart: reads go on, and writes resume once there is room.
fn answer_of(written: Result<(), Failure>) -> Result<(), Failure> {
    match written {
        Err(failure) if failure.status() == StatusCode::INSUFFICIENT_STORAGE => Ok(()),
        // A read-only site answers reads, and recovers by itself once the disk accepts writes.
        Err(failure) if failure.is(Failure::read_only) => Ok(()),
        written => written,
    }
}
