//! Exchanges with servers that are not trusted to end: a deadline for all of an exchange, however slowly bytes come, and a
//! limit on what is read in it.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the relay waits for its own process to connect.
const ACCEPT_TIME_MAX: Duration = Duration::from_secs(5);
/// How often a thread of the relay looks whether the exchange may go on.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
const PIECE_BYTES: usize = 16 * 1024;

/// What is left of an exchange.
#[derive(Debug, Clone, Copy)]
struct Left {
    until: Instant,
    bytes: u64,
}

/// The limits of the exchange in progress, shared by whoever takes part in it.
#[derive(Debug, Clone)]
pub(crate) struct Exchange(Arc<Mutex<Left>>);

impl Exchange {
    /// Begins an exchange that may take this long and read this much.
    pub(crate) fn begin(time_max: Duration, bytes_max: u64) -> Exchange {
        Exchange(Arc::new(Mutex::new(Left { until: Instant::now() + time_max, bytes: bytes_max })))
    }

    /// Ends the exchange and begins the next one.
    pub(crate) fn begin_next(&self, time_max: Duration, bytes_max: u64) {
        *self.left() = Left { until: Instant::now() + time_max, bytes: bytes_max };
    }

    fn left(&self) -> std::sync::MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time that is left; an error once there is none.
    fn time(&self) -> Result<Duration> {
        let left = self.left().until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(Error::new(ErrorKind::TimedOut, "the exchange took too long")) } else { Ok(left) }
    }

    fn count(&self, read: usize) -> Result<usize> {
        let mut left = self.left();
        left.bytes = left
            .bytes
            .checked_sub(read as u64)
            .ok_or_else(|| Error::new(ErrorKind::InvalidData, "the other side sent more than an answer can have"))?;
        Ok(read)
    }
}

/// A connection whose reads and writes keep to the limits of the exchange.
pub(crate) struct Bounded {
    stream: TcpStream,
    exchange: Exchange,
}

impl Bounded {
    pub(crate) fn new(stream: TcpStream, exchange: Exchange) -> Bounded {
        Bounded { stream, exchange }
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.stream.set_read_timeout(Some(self.exchange.time()?))?;
        self.exchange.count(self.stream.read(buffer)?)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.stream.set_write_timeout(Some(self.exchange.time()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}

/// Stands between a client library, which has no such limits, and a server to which it is connected: the address returned
/// takes one connection, whose bytes are passed on until the exchange may not go on.
pub(crate) fn relay(server: TcpStream, exchange: Exchange) -> Result<SocketAddr> {
    let listener = TcpListener::bind((IpAddr::V4(Ipv4Addr::LOCALHOST), 0))?;
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let work = move || {
        // An error ends both connections, which the client sees.
        _ = accepted(&listener).and_then(|client| pass_on(&client, &server, &exchange));
    };
    std::thread::Builder::new().name("relay".to_owned()).spawn(work)?;
    Ok(address)
}

fn accepted(listener: &TcpListener) -> Result<TcpStream> {
    let until = Instant::now() + ACCEPT_TIME_MAX;
    loop {
        match listener.accept() {
            Ok((client, _)) => {
                client.set_nonblocking(false)?;
                return Ok(client);
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(e) => return Err(e),
        }
    }
}

fn pass_on(client: &TcpStream, server: &TcpStream, exchange: &Exchange) -> Result<()> {
    for stream in [client, server] {
        stream.set_read_timeout(Some(LOOK_INTERVAL))?;
        stream.set_write_timeout(Some(exchange.time()?))?;
        stream.set_nodelay(true)?;
    }
    std::thread::scope(|scope| {
        scope.spawn(|| pump(client, server, |_| exchange.time().map(drop)));
        pump(server, client, |read| exchange.time().and_then(|_| exchange.count(read)).map(drop));
    });
    Ok(())
}

/// Passes bytes on until one side ends, or the exchange may not go on; then both connections are closed.
fn pump(mut from: &TcpStream, mut to: &TcpStream, may_go_on: impl Fn(usize) -> Result<()>) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => 0,
            Err(_) => break,
        };
        if may_go_on(read).is_err() || to.write_all(&piece[..read]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        _ = stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);
    const BRIEF: Duration = Duration::from_millis(300);

    /// A connection to a server that does this.
    fn with(server: impl FnOnce(TcpStream) + Send + 'static) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || server(listener.accept().unwrap().0));
        TcpStream::connect(address).unwrap()
    }

    fn drip(mut stream: TcpStream) {
        while stream.write_all(b"2").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn flood(mut stream: TcpStream) {
        while stream.write_all(&[b'2'; 4096]).is_ok() {}
    }

    #[test]
    fn bytes_that_come_slowly_do_not_prolong_an_exchange() {
        let mut slow = Bounded::new(with(drip), Exchange::begin(BRIEF, 1 << 20));
        let since = Instant::now();
        let error = slow.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(since.elapsed() < LONG / 3, "{:?}", since.elapsed());
        assert!(matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock), "{error}");
    }

    #[test]
    fn no_more_is_read_than_an_answer_can_have() {
        let (mut read, mut much) = (Vec::new(), Bounded::new(with(flood), Exchange::begin(LONG, 100_000)));
        assert_eq!(much.read_to_end(&mut read).unwrap_err().kind(), ErrorKind::InvalidData);
        assert!(read.len() <= 100_000, "{}", read.len());
    }

    #[test]
    fn a_relay_passes_both_ways_and_ends_what_goes_on_too_long_or_too_far() {
        let echo = |stream: TcpStream| _ = std::io::copy(&mut &stream, &mut &stream);
        let mut client = TcpStream::connect(relay(with(echo), Exchange::begin(LONG, 100)).unwrap()).unwrap();
        client.write_all(b"hello").unwrap();
        let mut said = [0; 5];
        client.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"hello");
        for (server, exchange) in
            [(drip as fn(TcpStream), Exchange::begin(BRIEF, 1 << 20)), (flood, Exchange::begin(LONG, 100_000))]
        {
            let since = Instant::now();
            let mut read = Vec::new();
            let client = TcpStream::connect(relay(with(server), exchange).unwrap()).unwrap();
            // A connection that is reset ends too.
            _ = (&client).read_to_end(&mut read);
            assert!(read.len() <= 100_000 && since.elapsed() < LONG / 3, "{} {:?}", read.len(), since.elapsed());
        }
    }
}
