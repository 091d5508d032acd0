//! The service manager that started this process, where there is one: the sockets and the watchdog that it gave, and what
//! it wants to hear. Its protocol (`sd_notify(3)`, `sd_listen_fds(3)`) is a datagram of text and three variables.

use std::net::TcpListener;
use std::os::fd::{FromRawFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The first descriptor that it passes.
const FIRST_DESCRIPTOR: RawFd = 3;
const DESCRIPTORS_MAX: RawFd = 64;
/// One step of a start, such as checking a large file, may take so long before it counts as hung.
const STEP_TIME_MAX: Duration = Duration::from_secs(30 * 60);

/// The service manager of this process; none where no variable names one.
#[derive(Debug, Default)]
pub(crate) struct Service {
    listens: Option<SocketAddr>,
    /// How long it waits for a sign of life.
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
            listens: var("NOTIFY_SOCKET").and_then(|name| address(&name)),
            watchdog: interval.and_then(|text| text.parse().ok()).filter(|us| *us > 0).map(Duration::from_micros),
            sockets: passed.and_then(|text| text.parse().ok()).map_or_else(Vec::new, take_sockets),
        }
    }

    /// The listening sockets that it opened for us.
    pub(crate) fn take_sockets(&mut self) -> Vec<TcpListener> {
        std::mem::take(&mut self.sockets)
    }

    /// Tells the service manager something (`READY=1`). A manager that does not listen must not stop the server, so
    /// errors are passed over.
    pub(crate) fn tell(&self, state: &str) {
        self.listener().tell(state);
    }

    /// Whom to tell, for another thread.
    pub(crate) fn listener(&self) -> Listener {
        Listener(self.listens.clone())
    }

    /// Says how far a long start is, and that it is none that hangs.
    pub(crate) fn tell_step(&self, step: &str, done: u64, total: u64) {
        let percent = done.saturating_mul(100) / total.max(1);
        let patience = STEP_TIME_MAX.as_micros();
        self.tell(&format!("STATUS=upgrading the file: {step}, {percent} %\nEXTEND_TIMEOUT_USEC={patience}"));
    }
}

/// The service manager's ear; nobody's, where no variable speaks of one.
#[derive(Debug, Clone)]
pub(crate) struct Listener(Option<SocketAddr>);

impl Listener {
    /// See [`Service::tell`].
    pub(crate) fn tell(&self, state: &str) {
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
    // SAFETY: whoever set the variables passed these descriptors to this process, and nothing else took them: called once.
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
    fn what_is_told_arrives_by_path_and_by_abstract_name() {
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
            let service = Service { listens: address(&name), ..Service::default() };
            service.tell("READY=1");
            let mut bytes = [0; 64];
            let length = socket.recv(&mut bytes).unwrap();
            assert_eq!(&bytes[..length], b"READY=1", "{name}");
        }
    }

    #[test]
    fn nobody_to_tell_is_no_trouble() {
        Service::default().tell("READY=1");
        Service { listens: address("/nowhere/at/all"), ..Service::default() }.tell("READY=1");
    }
}
