//! Accepts connections within the limits, and ends them with the server.

use super::Phase;
use super::connection;
use super::limiter::{ConnectionState, Progress, Slot};
use super::service::{HttpService, ListenerKind};
use super::tls::{Acceptor, TlsConnection};
use crate::log;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The pause after a failed accept (most often for want of descriptors), in which other connections may close.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The state that all connections of one listener share.
#[derive(Clone)]
struct Listener {
    service: Arc<HttpService>,
    kind: ListenerKind,
    acceptor: Option<Acceptor>,
    phase: watch::Receiver<Phase>,
}

/// Accepts connections until the server stops. Each connection runs in a task of its own.
pub(super) async fn accept(
    service: Arc<HttpService>,
    socket: TcpListener,
    kind: ListenerKind,
    acceptor: Option<Acceptor>,
    phase: watch::Receiver<Phase>,
) {
    let mut stopped = phase.clone();
    let listener = Listener { service, kind, acceptor, phase };
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stopped.wait_for(|phase| *phase != Phase::Open) => break,
        };
        match accepted {
            Ok((stream, peer)) => listener.start(stream, peer.ip()),
            Err(e) => {
                if let Some(left_out) = log::due(("connection not accepted", e.kind())) {
                    tracing::warn!(cause = %e, left_out, "a connection could not be accepted");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // Dropping the socket would reset connections that the system has accepted already.
    let Ok(socket) = socket.into_std() else { return };
    while let Ok((stream, peer)) = socket.accept() {
        let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
        stream.into_iter().for_each(|stream| listener.start(stream, peer.ip()));
    }
}

impl Listener {
    /// Starts the task of a connection. A connection over the limit is closed without an answer, which would cost what the
    /// limit saves.
    fn start(&self, stream: TcpStream, peer: IpAddr) {
        let limiter = match self.kind {
            ListenerKind::Metrics => &self.service.metrics_limiter,
            ListenerKind::Public | ListenerKind::Secure | ListenerKind::Clear => &self.service.limiter,
        };
        let Some(slot) = limiter.enter(peer) else { return };
        _ = stream.set_nodelay(true);
        let (this, socket, progress) = (self.clone(), stream.as_raw_fd(), slot.progress.clone());
        let task = match self.acceptor.clone() {
            Some(acceptor) if self.kind == ListenerKind::Secure => tokio::spawn(async move {
                slot.progress.set(ConnectionState::Receiving);
                if let Some(stream) = this.handshake(&acceptor, &slot, stream).await {
                    slot.progress.set(ConnectionState::Idle);
                    this.serve(slot, stream, socket, peer, ListenerKind::Secure).await;
                }
            }),
            acceptor => {
                let own = stream.local_addr().map(|own| own.ip());
                let trusted = self.service.is_proxy(peer);
                let clear = !trusted && own.is_ok_and(|own| is_clear(self.kind, own, acceptor.is_some()));
                let kind = if clear { ListenerKind::Clear } else { self.kind };
                tokio::spawn(async move { this.serve(slot, stream, socket, peer, kind).await })
            }
        };
        progress.belongs_to(task.abort_handle());
    }

    /// The TLS handshake; `None` where it fails or the server closes.
    async fn handshake(&self, acceptor: &Acceptor, slot: &Slot, stream: TcpStream) -> Option<TlsConnection> {
        let mut phase = self.phase.clone();
        tokio::select! {
            connection = acceptor.accept(&self.service.stats, &slot.handshakes, stream) => connection,
            _ = phase.wait_for(|phase| *phase == Phase::Close) => None,
        }
    }

    async fn serve<S>(mut self, slot: Slot, stream: S, socket: RawFd, peer: IpAddr, kind: ListenerKind)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let progress = &slot.progress;
        let mut connection = pin!(connection::serve(
            self.service.clone(),
            stream,
            socket,
            self.service.peer(peer),
            kind,
            progress.clone()
        ));
        // Has the loop see the current phase first.
        self.phase.mark_changed();
        let outcome = loop {
            tokio::select! {
                biased;
                outcome = &mut connection => break outcome,
                Ok(()) = self.phase.changed() => follow(*self.phase.borrow_and_update(), progress),
            }
        };
        if outcome.is_err() && !progress.is_closing() {
            self.service.stats.connections_broken.fetch_add(1, Ordering::Relaxed);
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

/// Whether requests of a plain connection to this address are only redirected to https. A connection over loopback cannot
/// be overheard.
fn is_clear(kind: ListenerKind, own: IpAddr, secured: bool) -> bool {
    secured && kind == ListenerKind::Public && !own.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_connections_from_the_network_are_redirected_where_there_is_https() {
        let at = |own: &str, kind, secured| is_clear(kind, own.parse().unwrap(), secured);
        assert!(at("10.0.0.5", ListenerKind::Public, true));
        assert!(at("fd00::5", ListenerKind::Public, true));
        for loopback in ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"] {
            assert!(!at(loopback, ListenerKind::Public, true), "{loopback}");
        }
        assert!(!at("10.0.0.5", ListenerKind::Public, false));
        assert!(!at("10.0.0.5", ListenerKind::Metrics, true));
    }
}
