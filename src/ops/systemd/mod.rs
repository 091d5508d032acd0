//! The service manager that started this process: its passed sockets, its watchdog, and notifications to it. The protocol
//! (`sd_notify(3)`, `sd_listen_fds(3)`) is a datagram of text and three variables.

use std::net::TcpListener;
use std::os::fd::{FromRawFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The first passed descriptor.
const FIRST_DESCRIPTOR: RawFd = 3;
const DESCRIPTORS_MAX: RawFd = 64;
/// The time for one step of a start, such as checking a large database.
const STEP_TIME_MAX: Duration = Duration::from_secs(30 * 60);

/// The service manager of this process. Without its variables there is none, and nothing is sent.
#[derive(Debug, Default)]
pub(crate) struct Service {
    notifier: Notifier,
    /// The interval of the watchdog.
    pub watchdog: Option<Duration>,
    sockets: Vec<TcpListener>,
}

impl Service {
    /// Reads the environment. Takes the passed descriptors, so it may be called only once.
    pub(crate) fn from_environment() -> Service {
        let var = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let meant_for_us = |name| var(name).is_none_or(|pid| pid == std::process::id().to_string());
        let interval = var("WATCHDOG_USEC").filter(|_| meant_for_us("WATCHDOG_PID"));
        let passed = var("LISTEN_FDS").filter(|_| var("LISTEN_PID").is_some() && meant_for_us("LISTEN_PID"));
        Service {
            notifier: Notifier(var("NOTIFY_SOCKET").and_then(|name| address(&name))),
            watchdog: interval.and_then(|text| text.parse().ok()).filter(|us| *us > 0).map(Duration::from_micros),
            sockets: passed.and_then(|text| text.parse().ok()).map_or_else(Vec::new, take_sockets),
        }
    }

    /// The passed listening sockets.
    pub(crate) fn take_sockets(&mut self) -> Vec<TcpListener> {
        std::mem::take(&mut self.sockets)
    }

    /// See [`Notifier::notify`].
    pub(crate) fn notify(&self, state: &str) {
        self.notifier.notify(state);
    }

    /// A notifier for another thread.
    pub(crate) fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    /// Reports the progress of a long start, and asks for more time.
    pub(crate) fn notify_progress(&self, step: &str, done: u64, total: u64) {
        let percent = done.saturating_mul(100) / total.max(1);
        let extension = STEP_TIME_MAX.as_micros();
        self.notify(&format!("STATUS=upgrading the file: {step}, {percent} %\nEXTEND_TIMEOUT_USEC={extension}"));
    }
}

/// Sends notifications to the service manager, if there is one.
#[derive(Debug, Default, Clone)]
pub(crate) struct Notifier(Option<SocketAddr>);

impl Notifier {
    /// Sends a state (`READY=1`). Errors are ignored: a service manager that does not listen must not stop the server.
    pub(crate) fn notify(&self, state: &str) {
        if let Some(address) = &self.0 {
            _ = UnixDatagram::unbound().and_then(|socket| socket.send_to_addr(state.as_bytes(), address));
        }
    }
}

/// A path, or a name in the abstract namespace after `@`.
fn address(name: &str) -> Option<SocketAddr> {
    match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name).ok(),
        None => SocketAddr::from_pathname(name).ok(),
    }
}

fn take_sockets(count: RawFd) -> Vec<TcpListener> {
    let ours = FIRST_DESCRIPTOR..FIRST_DESCRIPTOR + count.clamp(0, DESCRIPTORS_MAX);
    // SAFETY: the service manager passed these descriptors to this process, and nothing else took them: called once.
    ours.map(|descriptor| unsafe {
        libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        TcpListener::from_raw_fd(descriptor)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_arrive_by_path_and_by_abstract_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let abstract_name = format!("tunneldesk-test-{}", std::process::id());
        let heard = [
            (UnixDatagram::bind(&path).unwrap(), path.to_str().unwrap().to_owned()),
            (
                UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap()).unwrap(),
                format!("@{abstract_name}"),
            ),
        ];
        for (socket, name) in heard {
            let service = Service { notifier: Notifier(address(&name)), ..Service::default() };
            service.notify("READY=1");
            let mut bytes = [0; 64];
            let length = socket.recv(&mut bytes).unwrap();
            assert_eq!(&bytes[..length], b"READY=1", "{name}");
        }
    }

    #[test]
    fn without_a_listening_service_manager_notifications_are_ignored() {
        Notifier::default().notify("READY=1");
        Notifier(address("/nowhere/at/all")).notify("READY=1");
    }
}
