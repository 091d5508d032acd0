//! Whether a client has left. A connection whose client closed its sending side still gets its answer; one that waits for events has
//! nothing else to say, so that its client has left then, and its place among the streams is another's.

use super::limiter::Progress;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

/// How soon it is noticed.
const INTERVAL: Duration = Duration::from_secs(1);

/// Ends once the client of this connection has left.
pub(super) async fn left(progress: Arc<Progress>) {
    while !progress.socket().is_some_and(has_left) {
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Whether the other end closed its sending side, or the connection broke. Bytes that were not read do not hide it.
fn has_left(socket: RawFd) -> bool {
    const GONE: libc::c_short = libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR | libc::POLLNVAL;
    let mut asked = libc::pollfd { fd: socket, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one entry is passed, as its count says; a descriptor that is none is an answer.
    let answered = unsafe { libc::poll(&raw mut asked, 1, 0) };
    answered > 0 && asked.revents & GONE != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    #[test]
    fn a_client_has_left_once_it_closed_its_sending_side_whatever_it_sent_before() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(b"more").unwrap();
        assert!(!has_left(server.as_raw_fd()));
        client.shutdown(Shutdown::Write).unwrap();
        while !has_left(server.as_raw_fd()) {
            std::thread::yield_now();
        }
    }
}
