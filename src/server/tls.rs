//! The handshake, within its limits.

use super::service::HttpService;
use crate::ops::tls::Shown;
use crate::site::Site;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// Handshakes at once; each is some signing and some memory.
pub(super) const HANDSHAKES_MAX: usize = 64;

/// A connection that has connection hands.
pub(super) type TlsConnection = TlsStream<TcpStream>;

#[derive(Clone)]
pub(super) struct Acceptor {
    tls: TlsAcceptor,
    places: Arc<Semaphore>,
}

/// `None` where nothing listens for TLS.
pub(super) fn acceptor(site: &Site, addresses: &[SocketAddr]) -> Result<Option<Acceptor>, String> {
    if addresses.is_empty() {
        return Ok(None);
    }
    crate::ops::tls::load(site)?;
    let tls = TlsAcceptor::from(Arc::new(crate::ops::tls::protection(site.state::<Shown>())?));
    Ok(Some(Acceptor { tls, places: Arc::new(Semaphore::new(HANDSHAKES_MAX)) }))
}

impl Acceptor {
    /// `own`: the places of whoever came. `None`: it speaks no TLS that we do, or took too long.
    pub(super) async fn accept(
        &self,
        service: &HttpService,
        own: &Semaphore,
        stream: TcpStream,
    ) -> Option<TlsConnection> {
        let connection = tokio::time::timeout(HANDSHAKE_TIME_MAX, async {
            let _own = own.acquire().await.ok()?;
            let _place = self.places.acquire().await.ok()?;
            self.tls.accept(stream).await.ok()
        });
        let connection = connection.await.ok().flatten();
        if connection.is_none() {
            service.stats.connections_broken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        connection
    }
}
