//! Accepts connections, as many as the limits say, in all and from one address.

use super::DRAIN_TIME_MAX;
use super::connection;
use super::front::{Door, Front};
use hyper_util::server::graceful::GracefulShutdown;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// After a failed accept (out of descriptors, most often): others get a chance to close theirs.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Open connections by address.
#[derive(Default)]
pub struct Guests {
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection's place among the guests, given back when it is dropped.
pub struct Place {
    front: Arc<Front>,
    address: IpAddr,
}

impl Guests {
    fn enter(front: &Arc<Front>, address: IpAddr) -> Option<Place> {
        let mut guests = front.guests.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let all: u64 = front.stats.connections_open.load(Ordering::Relaxed);
        let own = guests.entry(address).or_insert(0);
        if *own >= front.limits.connections_per_address_max || all >= front.limits.connections_max as u64 {
            return None;
        }
        *own += 1;
        front.stats.connections_open.fetch_add(1, Ordering::Relaxed);
        Some(Place { front: front.clone(), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut guests = self.front.guests.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        self.front.stats.connections_open.fetch_sub(1, Ordering::Relaxed);
        if let Some(own) = guests.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                guests.remove(&self.address);
            }
        }
    }
}

/// Accepts until told to stop, then waits for open requests to end, for as long as the limit says.
pub async fn accept(front: Arc<Front>, socket: TcpListener, door: Door, mut stopped: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        match accepted {
            Ok((stream, peer)) => welcome(&front, &graceful, stream, peer.ip(), door),
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
fn welcome(front: &Arc<Front>, graceful: &GracefulShutdown, stream: TcpStream, peer: IpAddr, door: Door) {
    let Some(place) = Guests::enter(front, peer) else {
        front.stats.connections_refused.fetch_add(1, Ordering::Relaxed);
        return;
    };
    _ = stream.set_nodelay(true);
    let connection = graceful.watch(connection::serve(front.clone(), stream, peer, door));
    let front = front.clone();
    tokio::spawn(async move {
        if connection.await.is_err() {
            front.stats.connections_broken.fetch_add(1, Ordering::Relaxed);
        }
        drop(place);
    });
}
