//! `tunneldesk health`: whether the server on this machine is ready, for a container's health check. The request goes
//! to the plain HTTP port, because the command socket may be busy with a long command.

use super::{CommandResult, Global, done, failed, refused};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: u64 = 16 * 1024;

pub(super) fn run(global: &Global) -> CommandResult {
    let config = global.checked()?;
    let address = config.listen.iter().find(|address| address.port() != 0).map(|address| reached_at(*address));
    let address =
        address.ok_or_else(|| refused("`listen` leaves the port to the system, so nobody knows where to ask"))?;
    let said = ask(address).map_err(|e| {
        failed(format!("nobody answers on {address}: {e}; start the server, or name its settings with --config"))
    })?;
    let status = said.split(' ').nth(1).unwrap_or_default();
    // A plain port on the network redirects to https: a redirect shows that the server answers.
    if !(status.starts_with('2') || status.starts_with('3')) {
        return Err(failed(format!(
            "the server on {address} is not ready: {}",
            said.lines().next().unwrap_or_default()
        )));
    }
    done("ready", serde_json::json!({ "ready": true }))
}

/// The address at which this machine reaches a server that listens on `address`.
fn reached_at(address: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(loopback, address.port())
}

fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut said = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut said)?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}
