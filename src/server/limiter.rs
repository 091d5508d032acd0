//! The connection limiter: limits on connections in all and from one network, and the choice of the connection to drop.

use crate::http::call::Network as Source;
use crate::stats::Stats;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// The connections of one kind of listener.
pub(super) struct Limiter {
    connections_max: usize,
    /// See [`Source`].
    connections_per_network_max: usize,
    handshakes_per_network_max: usize,
    /// Our own proxies: each brings the connections of everybody.
    proxies: Vec<IpNet>,
    stats: Arc<Stats>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    count: usize,
    by_network: HashMap<Source, Network>,
}

struct Network {
    /// The newest last.
    connections: Vec<Arc<Progress>>,
    handshakes: Arc<Semaphore>,
}

/// A connection's slot within the limits, released on drop.
pub(super) struct Slot {
    limiter: Arc<Limiter>,
    network: Source,
    pub progress: Arc<Progress>,
    /// Limits the network's simultaneous TLS handshakes.
    pub handshakes: Arc<Semaphore>,
}

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ConnectionState {
    /// The first byte of a request.
    Idle,
    /// The rest of a request or of a TLS handshake.
    Receiving,
    /// The answer of this server.
    Processing,
    /// The client, which receives the answer.
    Sending,
}

const ALL: [ConnectionState; 4] =
    [ConnectionState::Idle, ConnectionState::Receiving, ConnectionState::Processing, ConnectionState::Sending];

/// A connection's state and the orders to it, shared by its task, its stream and the limiter.
#[derive(Default)]
pub(super) struct Progress {
    state: AtomicU8,
    /// The next answer is the connection's last.
    last: AtomicBool,
    /// The connection closes between two requests.
    closing: AtomicBool,
    evicted: AtomicBool,
    /// The head of the next request has not been looked at as its bytes arrived: it came in one read with a request before it.
    head_unseen: AtomicBool,
    /// The connection's task.
    task: OnceLock<AbortHandle>,
    /// The descriptor under the connection's stream.
    socket: OnceLock<RawFd>,
}

impl Progress {
    pub(super) fn state(&self) -> ConnectionState {
        ALL[usize::from(self.state.load(Ordering::Relaxed))]
    }

    pub(super) fn set(&self, state: ConnectionState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Sets the descriptor under the stream, once.
    pub(super) fn stands_on(&self, socket: RawFd) {
        _ = self.socket.set(socket);
    }

    /// The descriptor under the stream, for as long as the connection is served.
    pub(super) fn socket(&self) -> Option<RawFd> {
        self.socket.get().copied()
    }

    pub(super) fn is_last(&self) -> bool {
        self.last.load(Ordering::Relaxed)
    }

    pub(super) fn make_last(&self) {
        self.last.store(true, Ordering::Relaxed);
    }

    /// Notes whether the next head is looked at as its bytes arrive.
    pub(super) fn see_head(&self, seen: bool) {
        self.head_unseen.store(!seen, Ordering::Relaxed);
    }

    pub(super) fn has_seen_head(&self) -> bool {
        !self.head_unseen.load(Ordering::Relaxed)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Sets the connection's task, after its start.
    pub(super) fn belongs_to(&self, task: AbortHandle) {
        let task = self.task.get_or_init(|| task);
        if self.evicted.load(Ordering::SeqCst) {
            task.abort();
        }
    }

    /// Drops the connection by aborting its task, so that running requests need not check anything.
    fn evict(&self) {
        self.evicted.store(true, Ordering::SeqCst);
        self.task.get().inspect(|task| task.abort());
    }

    pub(super) fn close(&self) {
        self.make_last();
        self.closing.store(true, Ordering::Relaxed);
    }
}

impl Limiter {
    pub(super) fn new(
        connections_max: usize,
        connections_per_network_max: usize,
        handshakes_per_network_max: usize,
        proxies: &[IpNet],
        stats: &Arc<Stats>,
    ) -> Limiter {
        Limiter {
            connections_max,
            connections_per_network_max,
            handshakes_per_network_max,
            proxies: proxies.to_owned(),
            stats: stats.clone(),
            open: Mutex::default(),
        }
    }

    /// A slot for a connection from this address; `None`: close the connection immediately. When all slots are taken, one
    /// connection that waits for its client is dropped: of the network with the most connections, if it has more than this one.
    pub(super) fn enter(self: &Arc<Limiter>, address: IpAddr) -> Option<Slot> {
        let network = Source::from(address);
        let mut open = self.open();
        let own = open.by_network.get(&network).map_or(0, |own| own.connections.len());
        let full = open.count >= self.connections_max;
        let is_proxy = self.proxies.iter().any(|proxy| proxy.contains(&address.to_canonical()));
        if own >= self.connections_per_network_max && !is_proxy || full && !open.evict(own) {
            self.stats.connections_refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if full {
            self.stats.connections_refused.fetch_add(1, Ordering::Relaxed);
        }
        open.count += 1;
        let own = open.by_network.entry(network).or_insert_with(|| Network {
            connections: Vec::new(),
            handshakes: Arc::new(Semaphore::new(self.handshakes_per_network_max)),
        });
        let progress = Arc::new(Progress::default());
        own.connections.push(progress.clone());
        self.stats.connections_open.fetch_add(1, Ordering::Relaxed);
        Some(Slot { limiter: self.clone(), network, progress, handshakes: own.handshakes.clone() })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Drops one connection that waits for its client, in a network with more than `own` connections; `false`: there is none.
    fn evict(&mut self, own: usize) -> bool {
        let larger = self.by_network.iter().filter(|(_, one)| one.connections.len() > own);
        let candidates = larger.filter_map(|(network, one)| Some((one.connections.len(), *network, one.newest()?)));
        let Some((_, network, index)) = candidates.max_by_key(|(count, ..)| *count) else { return false };
        let progress = self.remove(network, index);
        progress.evict();
        true
    }

    fn remove(&mut self, network: Source, index: usize) -> Arc<Progress> {
        let own = self.by_network.get_mut(&network).expect("the network has connections");
        let progress = own.connections.remove(index);
        if own.connections.is_empty() {
            self.by_network.remove(&network);
        }
        self.count -= 1;
        progress
    }
}

impl Network {
    /// The index of the newest idle connection, else of the newest that waits for its client.
    fn newest(&self) -> Option<usize> {
        let newest = |fits: fn(ConnectionState) -> bool| self.connections.iter().rposition(|one| fits(one.state()));
        newest(|state| state == ConnectionState::Idle).or_else(|| newest(|state| state != ConnectionState::Processing))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.limiter.stats.connections_open.fetch_sub(1, Ordering::Relaxed);
        let mut open = self.limiter.open();
        let own = open.by_network.get(&self.network);
        // An evicted connection has released its slot already.
        let index = own.and_then(|own| own.connections.iter().position(|one| Arc::ptr_eq(one, &self.progress)));
        if let Some(index) = index {
            open.remove(self.network, index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(connections_max: usize, per_network_max: usize) -> Arc<Limiter> {
        let proxies = ["10.9.0.0/16".parse().unwrap()];
        Arc::new(Limiter::new(connections_max, per_network_max, 1, &proxies, &Arc::default()))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn a_proxy_brings_the_connections_of_everybody() {
        let limiter = limiter(7, 4);
        let held: Vec<Slot> = (0..6).map(|_| limiter.enter(address("10.9.0.1")).unwrap()).collect();
        assert!(limiter.enter(address("10.0.0.1")).is_some(), "{} are held", held.len());
    }

    fn is_evicted(slot: &Slot) -> bool {
        slot.progress.evicted.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn evicting_a_connection_aborts_its_task_also_when_the_task_is_set_later() {
        for is_known in [true, false] {
            let progress = Progress::default();
            let task = tokio::spawn(std::future::pending::<()>());
            if is_known {
                progress.belongs_to(task.abort_handle());
            }
            progress.evict();
            if !is_known {
                progress.belongs_to(task.abort_handle());
            }
            let ended = tokio::time::timeout(std::time::Duration::from_secs(60), task).await;
            assert!(ended.expect("it ends").unwrap_err().is_cancelled());
        }
    }

    #[test]
    fn when_all_slots_are_taken_the_newest_idle_connection_of_the_largest_network_is_dropped() {
        let limiter = limiter(7, 4);
        let enter = |from: &str| limiter.enter(address(from));
        let fullest: Vec<Slot> = (0..4).map(|_| enter("10.0.0.1").unwrap()).collect();
        let other: Vec<Slot> = (0..3).map(|_| enter("10.0.0.2").unwrap()).collect();
        assert!(enter("10.0.0.1").is_none(), "it has its share");
        fullest[3].progress.set(ConnectionState::Processing);
        fullest[2].progress.set(ConnectionState::Receiving);
        let newcomer = enter("10.0.0.3").expect("there is an idle one");
        assert!(is_evicted(&fullest[1]));
        for kept in [&fullest[0], &fullest[2], &fullest[3]] {
            assert!(!is_evicted(kept));
        }
        // Now both have three: the other network has the one that came to it last.
        let mut newcomers = vec![newcomer];
        newcomers.extend((0..2).map_while(|_| enter("10.0.0.3")));
        assert_eq!(newcomers.len(), 3, "each network has its part of the places");
        assert!(enter("10.0.0.3").is_none(), "no network has more than the newcomer's");
        drop((fullest, other, newcomers));
        assert_eq!(limiter.open().count, 0);
        assert_eq!(limiter.open().by_network.len(), 0);
        assert_eq!(limiter.stats.connections_open.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_connection_that_waits_for_the_server_is_never_dropped() {
        for state in ALL {
            let limiter = limiter(2, 2);
            let held: Vec<Slot> = (0..2).map(|_| limiter.enter(address("10.0.0.1")).unwrap()).collect();
            held.iter().for_each(|slot| slot.progress.set(state));
            let entered = limiter.enter(address("10.0.0.2"));
            assert_eq!(entered.is_some(), state != ConnectionState::Processing, "{state:?}");
            assert_eq!(is_evicted(&held[1]), state != ConnectionState::Processing, "{state:?}");
        }
    }

    #[test]
    fn a_network_of_the_sixth_version_counts_as_one_address() {
        let limiter = limiter(10, 2);
        let first = limiter.enter(address("2001:db8:1:2::1")).unwrap();
        let second = limiter.enter(address("2001:db8:1:2:ffff::9")).unwrap();
        assert!(limiter.enter(address("2001:db8:1:2::3")).is_none());
        assert!(limiter.enter(address("2001:db8:1:3::3")).is_some());
        assert!(Arc::ptr_eq(&first.handshakes, &second.handshakes));
    }
}
