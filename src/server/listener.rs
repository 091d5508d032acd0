//! Accepts connections, as many as the limits say, in all and from one address.

use super::DRAIN_TIME_MAX;
use super::connection;
use super::front::{Door, Front};
use super::tls::{Acceptor, HANDSHAKES_MAX};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// After a failed accept (out of descriptors, most often): others get a chance to close theirs.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Handshakes of one address at once: half of those that there are, so that nobody keeps everybody from https.
const HANDSHAKES_PER_ADDRESS_MAX: usize = HANDSHAKES_MAX / 2;

/// Open connections by address.
#[derive(Default)]
pub struct Guests {
    by_address: Mutex<HashMap<IpAddr, Address>>,
}

/// What one address has.
struct Address {
    connections: usize,
    handshakes: Arc<Semaphore>,
}

/// One connection's place among the guests, given back when it is dropped.
pub struct Place {
    front: Arc<Front>,
    address: IpAddr,
    handshakes: Arc<Semaphore>,
}

impl Default for Address {
    fn default() -> Address {
        Address { connections: 0, handshakes: Arc::new(Semaphore::new(HANDSHAKES_PER_ADDRESS_MAX)) }
    }
}

impl Guests {
    fn enter(front: &Arc<Front>, address: IpAddr) -> Option<Place> {
        let mut guests = front.guests.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let all: u64 = front.stats.connections_open.load(Ordering::Relaxed);
        let own = guests.get(&address).map_or(0, |own| own.connections);
        if own >= front.limits.connections_per_address_max || all >= front.limits.connections_max as u64 {
            return None;
        }
        let own = guests.entry(address).or_default();
        own.connections += 1;
        front.stats.connections_open.fetch_add(1, Ordering::Relaxed);
        Some(Place { front: front.clone(), address, handshakes: own.handshakes.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut guests = self.front.guests.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        self.front.stats.connections_open.fetch_sub(1, Ordering::Relaxed);
        if let Some(own) = guests.get_mut(&self.address) {
            own.connections -= 1;
            if own.connections == 0 {
                guests.remove(&self.address);
            }
        }
    }
}

/// Accepts until told to stop, then waits for open requests to end, for as long as the limit says.
pub async fn accept(
    front: Arc<Front>,
    socket: TcpListener,
    door: Door,
    acceptor: Option<Acceptor>,
    mut stopped: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        match accepted {
            Ok((stream, peer)) => welcome(&front, graceful.watcher(), stream, peer.ip(), door, &acceptor),
            Err(e) => {
                tracing::warn!(cause = %e, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(socket);
    if tokio::time::timeout(DRAIN_TIME_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
}

/// One guest too many is turned away by closing: an answer would cost what the limit saves.
fn welcome(
    front: &Arc<Front>,
    watcher: Watcher,
    stream: TcpStream,
    peer: IpAddr,
    door: Door,
    acceptor: &Option<Acceptor>,
) {
    let Some(place) = Guests::enter(front, peer) else {
        front.stats.connections_refused.fetch_add(1, Ordering::Relaxed);
        return;
    };
    _ = stream.set_nodelay(true);
    match acceptor {
        Some(acceptor) if door == Door::Secure => {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Some(stream) = acceptor.shake(&place.front, &place.handshakes, stream).await {
                    entertain(place, watcher, stream, peer, door).await;
                }
            });
        }
        acceptor => {
            let own = stream.local_addr().map(|own| own.ip());
            let trusted = front.is_proxy(peer);
            let clear = !trusted && own.is_ok_and(|own| is_clear(door, own, acceptor.is_some()));
            let door = if clear { Door::Clear } else { door };
            tokio::spawn(entertain(place, watcher, stream, peer, door));
        }
    }
}

/// Whether a plain connection to this address of ours is only sent over to https. Whoever came to loopback is on this
/// machine, and cannot be overheard; a proxy of ours is asked over https itself.
fn is_clear(door: Door, own: IpAddr, secured: bool) -> bool {
    secured && door == Door::Public && !own.to_canonical().is_loopback()
}

async fn entertain<S>(place: Place, watcher: Watcher, stream: S, peer: IpAddr, door: Door)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = watcher.watch(connection::serve(place.front.clone(), stream, peer, door));
    if connection.await.is_err() {
        place.front.stats.connections_broken.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_connections_from_the_network_are_sent_over_where_there_is_https() {
        let at = |own: &str, door, secured| is_clear(door, own.parse().unwrap(), secured);
        assert!(at("10.0.0.5", Door::Public, true));
        assert!(at("fd00::5", Door::Public, true));
        for loopback in ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"] {
            assert!(!at(loopback, Door::Public, true), "{loopback}");
        }
        assert!(!at("10.0.0.5", Door::Public, false));
        assert!(!at("10.0.0.5", Door::Metrics, true));
    }
}
