//! TLS handshakes, within their limits.

use crate::ops::tls::ServerCertificate;
use crate::site::Site;
use crate::stats::Stats;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// Simultaneous handshakes; each costs a signature and memory.
pub(super) const HANDSHAKES_MAX: usize = 64;

pub(super) type TlsConnection = TlsStream<TcpStream>;

#[derive(Clone)]
pub(super) struct Acceptor {
    tls: TlsAcceptor,
    permits: Arc<Semaphore>,
}

/// The acceptor of the site's TLS listeners; `None` without any.
pub(super) fn acceptor(site: &Site, addresses: &[SocketAddr]) -> Result<Option<Acceptor>, String> {
    if addresses.is_empty() {
        return Ok(None);
    }
    crate::ops::tls::load(site)?;
    let tls = TlsAcceptor::from(Arc::new(crate::ops::tls::server_config(site.state::<ServerCertificate>())?));
    Ok(Some(Acceptor { tls, permits: Arc::new(Semaphore::new(HANDSHAKES_MAX)) }))
}

impl Acceptor {
    /// Performs the handshake; `None`: it failed or took too long. `own`: the handshakes of the client's network.
    pub(super) async fn accept(&self, stats: &Stats, own: &Semaphore, stream: TcpStream) -> Option<TlsConnection> {
        let connection = tokio::time::timeout(HANDSHAKE_TIME_MAX, async {
            let _own_permit = own.acquire().await.ok()?;
            let _permit = self.permits.acquire().await.ok()?;
            self.tls.accept(stream).await.ok()
        });
        let connection = connection.await.ok().flatten();
        if connection.is_none() {
            stats.connections_broken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        connection
    }
}
