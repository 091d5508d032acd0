//! Accepts connections, as many as the limits say, and has them end when the server does.

use super::Phase;
use super::connection;
use super::front::{Door, Front};
use super::limiter::{Progress, Slot, Waits};
use super::tls::{Acceptor, Shaken};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// After a failed accept (out of descriptors, most often): others get a chance to close theirs.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What every connection of a listener has in common.
#[derive(Clone)]
struct Listener {
    front: Arc<Front>,
    door: Door,
    acceptor: Option<Acceptor>,
    phase: watch::Receiver<Phase>,
}

/// Accepts until the server is to stop. The connections go on by themselves.
pub(super) async fn accept(
    front: Arc<Front>,
    socket: TcpListener,
    door: Door,
    acceptor: Option<Acceptor>,
    phase: watch::Receiver<Phase>,
) {
    let mut stopped = phase.clone();
    let listener = Listener { front, door, acceptor, phase };
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stopped.wait_for(|phase| *phase != Phase::Open) => break,
        };
        match accepted {
            Ok((stream, peer)) => listener.welcome(stream, peer.ip()),
            Err(e) => {
                tracing::warn!(cause = %e, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // Those that the system has let in already would be reset.
    let Ok(socket) = socket.into_std() else { return };
    while let Ok((stream, peer)) = socket.accept() {
        let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
        stream.into_iter().for_each(|stream| listener.welcome(stream, peer.ip()));
    }
}

impl Listener {
    /// One connection too many is closed: an answer would cost what the limit saves.
    fn welcome(&self, stream: TcpStream, peer: IpAddr) {
        let limiter = match self.door {
            Door::Metrics => &self.front.metrics_limiter,
            Door::Public | Door::Secure | Door::Clear => &self.front.limiter,
        };
        let Some(slot) = limiter.enter(peer) else { return };
        _ = stream.set_nodelay(true);
        let (this, socket) = (self.clone(), stream.as_raw_fd());
        match self.acceptor.clone() {
            Some(acceptor) if self.door == Door::Secure => {
                tokio::spawn(async move {
                    slot.progress.set(Waits::Rest);
                    if let Some(stream) = this.shake(&acceptor, &slot, stream).await {
                        slot.progress.set(Waits::Idle);
                        this.serve(slot, stream, socket, peer, Door::Secure).await;
                    }
                });
            }
            acceptor => {
                let own = stream.local_addr().map(|own| own.ip());
                let trusted = self.front.is_proxy(peer);
                let clear = !trusted && own.is_ok_and(|own| is_clear(self.door, own, acceptor.is_some()));
                let door = if clear { Door::Clear } else { self.door };
                tokio::spawn(async move { this.serve(slot, stream, socket, peer, door).await });
            }
        }
    }

    /// The handshake; `None` where none came of it, or the connection has to go before.
    async fn shake(&self, acceptor: &Acceptor, slot: &Slot, stream: TcpStream) -> Option<Shaken> {
        let mut phase = self.phase.clone();
        tokio::select! {
            shaken = acceptor.shake(&self.front, &slot.handshakes, stream) => shaken,
            () = slot.progress.evicted.notified() => None,
            _ = phase.wait_for(|phase| *phase == Phase::Close) => None,
        }
    }

    async fn serve<S>(mut self, slot: Slot, stream: S, socket: RawFd, peer: IpAddr, door: Door)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let progress = &slot.progress;
        let mut connection = pin!(connection::serve(self.front.clone(), stream, socket, peer, door, progress.clone()));
        // The first look is at the phase in which the connection came.
        self.phase.mark_changed();
        let outcome = loop {
            tokio::select! {
                biased;
                outcome = &mut connection => break outcome,
                () = progress.evicted.notified() => return,
                Ok(()) = self.phase.changed() => follow(*self.phase.borrow_and_update(), progress),
            }
        };
        if outcome.is_err() && !progress.is_closing() {
            self.front.stats.connections_broken.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn follow(phase: Phase, progress: &Progress) {
    match phase {
        Phase::Open => {}
        Phase::Last => progress.make_last(),
        Phase::Close => progress.close(),
    }
}

/// Whether a plain connection to this address of ours is only sent over to https. Whoever came to loopback is on this
/// machine, and cannot be overheard; a proxy of ours is asked over https itself.
fn is_clear(door: Door, own: IpAddr, secured: bool) -> bool {
    secured && door == Door::Public && !own.to_canonical().is_loopback()
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
