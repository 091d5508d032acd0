//! The HTTP server: the only async code, and the only use of hyper. Reads each request to its end, runs it on the pool, and sends the
//! answers.

mod body;
mod body_room;
mod connection;
mod cors;
mod departure;
mod events;
mod head_bytes;
mod hyper_refusal;
mod limiter;
mod listener;
mod live;
mod long_answer;
pub(crate) mod matcher;
mod pool;
mod queue;
mod service;
mod tls;
pub(crate) mod watchdog;

use crate::config::Config;
use crate::http::row;
use crate::routes::TABLE;
use crate::site::{ListeningPorts, Site};
use pool::Pool;
use service::sessions::end_streams_with_sessions;
use service::{HttpService, ListenerKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;

/// How long running requests may take once the server stops.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

/// A stopping server closes idle connections after this time without a request: by then an answer has told every busy client
/// that it was the connection's last.
const QUIET_TIME: Duration = Duration::from_millis(25);
const QUIET_WAIT_MAX: Duration = Duration::from_secs(1);
/// The time for idle threads to end: first those of the network, then those of requests.
const THREADS_END_TIME_MAX: Duration = Duration::from_secs(1);

/// Whether connections take further requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Connections serve requests.
    Open,
    /// The next answer is the connection's last, and says so.
    Last,
    /// Connections finish their running request and close.
    Close,
}

/// The sockets of a server, bound before anything else starts, so that a port in use is one clear error.
pub struct Sockets {
    public: Vec<TcpListener>,
    secure: Vec<TcpListener>,
    metrics: Option<TcpListener>,
}

/// A server that runs until it is stopped.
pub struct Running {
    /// Where plain HTTP is answered.
    pub addresses: Vec<SocketAddr>,
    /// Where https is answered.
    pub secure_addresses: Vec<SocketAddr>,
    /// Where metrics are answered.
    pub metrics_address: Option<SocketAddr>,
    phase: watch::Sender<Phase>,
    runtime: tokio::runtime::Runtime,
    service: Arc<HttpService>,
}

impl Sockets {
    /// Opens every address of the settings.
    pub fn bind(config: &Config) -> Result<Sockets, String> {
        Sockets::bind_or_take(config, Vec::new())
    }

    /// Binds as [`Sockets::bind`] does, except addresses for which the service manager passed a socket. Every passed socket must
    /// belong to an address of the settings.
    pub(crate) fn bind_or_take(config: &Config, mut passed: Vec<TcpListener>) -> Result<Sockets, String> {
        let mut open = |address: SocketAddr, setting| match take_passed(&mut passed, address) {
            Some(socket) => usable(socket).map_err(|e| format!("cannot use the passed socket for {address}: {e}")),
            None => bind(address, setting),
        };
        let public = config.listen.iter().map(|address| open(*address, "listen")).collect::<Result<_, _>>()?;
        let secure = config.tls.listen.iter().map(|address| open(*address, "tls.listen")).collect::<Result<_, _>>()?;
        let metrics = config.metrics_listen.map(|address| open(address, "metrics_listen")).transpose()?;
        match passed.first() {
            None => Ok(Sockets { public, secure, metrics }),
            Some(stranger) => {
                let address = stranger.local_addr().map_or_else(|_| "no TCP".to_owned(), |address| address.to_string());
                Err(format!(
                    "the service manager passed a socket ({address}) that no setting names: add it to listen or tls.listen"
                ))
            }
        }
    }

    /// Binds without the metrics port, for a demo beside another server.
    pub(crate) fn without_metrics(config: &Config) -> Result<Sockets, String> {
        Sockets::bind(&Config { metrics_listen: None, ..config.clone() })
    }

    /// Where plain HTTP will be answered.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.public)
    }
}

/// The passed socket for an address of the settings: the same port, and the same address or any on both sides (`[::]` also
/// takes what comes to 0.0.0.0).
fn take_passed(passed: &mut Vec<TcpListener>, address: SocketAddr) -> Option<TcpListener> {
    let fits = |own: SocketAddr| {
        let any = own.ip().is_unspecified() && address.ip().is_unspecified();
        own.port() == address.port() && (any || own.ip().to_canonical() == address.ip().to_canonical())
    };
    let found = passed.iter().position(|socket| socket.local_addr().is_ok_and(fits))?;
    Some(passed.remove(found))
}

fn addresses(sockets: &[TcpListener]) -> Vec<SocketAddr> {
    sockets.iter().filter_map(|socket| socket.local_addr().ok()).collect()
}

fn bind(address: SocketAddr, setting: &str) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(address).and_then(usable);
    bound.map_err(|e| {
        format!("cannot listen on {address}: {e}; stop what uses it or choose another address ({setting})")
    })
}

fn usable(socket: TcpListener) -> std::io::Result<TcpListener> {
    socket.set_nonblocking(true).map(|()| socket)
}

/// Starts answering on the sockets.
pub fn start(site: &Site, sockets: Sockets) -> Result<Running, String> {
    row::make_known(TABLE.iter().map(|route| &route.row));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_name("net")
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start the network threads: {e}"))?;
    let addresses = sockets.addresses();
    let secure_addresses = self::addresses(&sockets.secure);
    let ports = |addresses: &[SocketAddr]| addresses.iter().map(SocketAddr::port).collect();
    site.set_ports(ListeningPorts { http: ports(&addresses), https: ports(&secure_addresses) });
    let acceptor = tls::acceptor(site, &secure_addresses)?;
    let metrics_address = sockets.metrics.as_ref().and_then(|socket| socket.local_addr().ok());
    let service = Arc::new(HttpService::new(site, Pool::start(site)?));
    let (changes, events) = (service.hub.clone(), service.hub.clone());
    site.store.change_feed().subscribe(move || changes.change(), move || events.wake());
    runtime.spawn(service.hub.clone().run());
    runtime.spawn(keep_a_timer_near());
    runtime.spawn(end_streams_with_sessions(service.clone()));
    let (phase, phases) = watch::channel(Phase::Open);
    let listeners = sockets
        .public
        .into_iter()
        .map(|s| (s, ListenerKind::Public))
        .chain(sockets.secure.into_iter().map(|s| (s, ListenerKind::Secure)))
        .chain(sockets.metrics.map(|s| (s, ListenerKind::Metrics)));
    for (socket, kind) in listeners {
        let _context = runtime.enter();
        let socket = tokio::net::TcpListener::from_std(socket).map_err(|e| format!("cannot listen: {e}"))?;
        runtime.spawn(listener::accept(service.clone(), socket, kind, acceptor.clone(), phases.clone()));
    }
    Ok(Running { addresses, secure_addresses, metrics_address, phase, runtime, service })
}

/// Keeps a timer earlier than those of requests. Setting a timer that is earlier than all others costs a system call, and
/// each request sets one for its connection.
///
/// Measured by `strace -c` over 2,000 requests one after the other: 10.6 system calls a request, against 13.7 without.
async fn keep_a_timer_near() {
    let mut beat = tokio::time::interval(Duration::from_secs(1));
    loop {
        beat.tick().await;
    }
}

/// Tells whether the network threads of a running server respond.
pub(crate) struct NetworkProbe(tokio::runtime::Handle);

impl NetworkProbe {
    pub(crate) fn responds(&self, within: Duration) -> bool {
        let (done, response) = std::sync::mpsc::channel();
        self.0.spawn(async move { done.send(()) });
        response.recv_timeout(within).is_ok()
    }
}

impl Running {
    pub(crate) fn network_probe(&self) -> NetworkProbe {
        NetworkProbe(self.runtime.handle().clone())
    }

    /// Takes no new connections, answers what was begun, and returns when the last thread has ended.
    pub fn stop(self) {
        self.stop_within(DRAIN_TIME_MAX);
    }

    /// As [`Running::stop`], but breaks off requests that take longer than `drain_time_max`.
    pub(crate) fn stop_within(self, drain_time_max: Duration) {
        let Running { phase, runtime, service, .. } = self;
        runtime.block_on(async {
            let deadline = tokio::time::Instant::now() + drain_time_max;
            phase.send_replace(Phase::Last);
            service.streams.end();
            service.hub.stop();
            _ = tokio::time::timeout_at(deadline, quiet(&service)).await;
            phase.send_replace(Phase::Close);
            if tokio::time::timeout_at(deadline, phase.closed()).await.is_err() {
                tracing::warn!("some requests did not end in time and were cut off");
            }
        });
        runtime.shutdown_timeout(THREADS_END_TIME_MAX);
        service.pool.stop(THREADS_END_TIME_MAX);
    }
}

/// Waits until no connection is open or no request has come for [`QUIET_TIME`].
async fn quiet(service: &HttpService) {
    let since = tokio::time::Instant::now();
    let requests = || service.late_requests.load(Ordering::Relaxed);
    let mut before = requests();
    while service.stats.connections_open.load(Ordering::Relaxed) > 0 && since.elapsed() < QUIET_WAIT_MAX {
        tokio::time::sleep(QUIET_TIME).await;
        if requests() == before {
            return;
        }
        before = requests();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(address: &str) -> (TcpListener, SocketAddr) {
        let socket = TcpListener::bind(address).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[test]
    fn a_passed_socket_replaces_its_address_and_one_without_a_setting_is_refused() {
        let (socket, address) = passed("127.0.0.1:0");
        let config = Config { listen: vec![address], metrics_listen: None, ..Config::defaults() };
        // The port is taken, so only the passed socket can stand for it.
        assert!(Sockets::bind(&config).is_err());
        assert_eq!(Sockets::bind_or_take(&config, vec![socket]).unwrap().addresses(), [address]);
        let (socket, _) = passed("127.0.0.1:0");
        let (stranger, address) = passed("127.0.0.1:0");
        let config = Config { listen: vec![socket.local_addr().unwrap()], ..config };
        let refusal = Sockets::bind_or_take(&config, vec![socket, stranger]).err().unwrap();
        assert!(refusal.contains(&address.to_string()) && refusal.contains("tls.listen"), "{refusal}");
    }

    #[test]
    fn any_address_is_any_address_of_either_family_and_a_bare_one_is_itself() {
        let (socket, address) = passed("0.0.0.0:0");
        let mut sockets = vec![socket];
        assert!(take_passed(&mut sockets, SocketAddr::new([127, 0, 0, 1].into(), address.port())).is_none());
        assert!(take_passed(&mut sockets, SocketAddr::new([0; 16].into(), address.port() ^ 1)).is_none());
        assert!(take_passed(&mut sockets, SocketAddr::new([0; 16].into(), address.port())).is_some());
    }
}
