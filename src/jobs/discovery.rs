//! Discovery: where the settings name one, this machine answers to `NAME.local` on its own network by multicast DNS, and shows the site
//! among the network's web pages, so that a tablet finds it without anybody setting up a name server.

use crate::site::Site;
use mdns_sd::{DaemonEvent, IfKind, ServiceDaemon, ServiceInfo};
use std::net::SocketAddr;
use std::sync::mpsc::Receiver;
use std::time::Duration;

const WEB_PAGES: &str = "_http._tcp.local.";
const INTERVAL: Duration = Duration::from_secs(1);
/// How long a shutdown waits until the network was told that the name is gone.
const FAREWELL_TIME_MAX: Duration = Duration::from_millis(500);
/// The longest name of a page: one label of DNS.
const LABEL_BYTES_MAX: usize = 63;

/// Answers until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    let Some(name) = &site.config.local_name else { return };
    let is_reached = |at: &SocketAddr| !at.ip().is_loopback();
    if !site.config.listen.iter().chain(&site.config.tls.listen).any(is_reached) {
        tracing::warn!(name, "no other machine reaches an address of loopback, so the name is not announced");
        _ = stop.recv();
        return;
    }
    if let Err(cause) = answer(site, name, stop) {
        tracing::error!(%cause, name, "the site is not found by its name on this network");
        // Nothing mends itself here, and the thread's end would be a job that was lost.
        _ = stop.recv();
    }
}

fn answer(site: &Site, name: &str, stop: &Receiver<()>) -> mdns_sd::Result<()> {
    let daemon = ServiceDaemon::new()?;
    // Nobody else is on the loopback interface.
    daemon.disable_interface(vec![IfKind::LoopbackV4, IfKind::LoopbackV6])?;
    let events = daemon.monitor()?;
    daemon.register(page(site, name)?)?;
    tracing::info!(name, "answers to its name on this network");
    while site.rest(stop, INTERVAL) {
        for event in events.try_iter() {
            match event {
                DaemonEvent::NameChange(change) => tracing::warn!(
                    name = change.original,
                    "another machine on this network has this name; choose another local_name"
                ),
                DaemonEvent::Error(cause) => tracing::debug!(%cause, "multicast DNS"),
                _ => {}
            }
        }
    }
    if let Ok(ended) = daemon.shutdown() {
        _ = ended.recv_timeout(FAREWELL_TIME_MAX);
    }
    Ok(())
}

/// The site as a web page: its name, its host name, and the port of plain HTTP, which leads on to https where there is that.
fn page(site: &Site, name: &str) -> mdns_sd::Result<ServiceInfo> {
    let port = site.ports().http.first().or(site.ports().https.first()).copied().unwrap_or_default();
    let mut title = site.name().unwrap_or_else(|_| name.to_owned());
    title.truncate(title.floor_char_boundary(LABEL_BYTES_MAX));
    let host = format!("{name}.");
    // The addresses are those of the machine, and follow them.
    Ok(ServiceInfo::new(WEB_PAGES, &title, &host, "", port, &[("path", "/")][..])?.enable_addr_auto())
}
