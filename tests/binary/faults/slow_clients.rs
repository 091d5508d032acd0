//! A thousand clients are slow with their heads, their bodies and in reading answers; other clients are served as if
//! the slow ones were absent.

use super::or_skip;
use crate::harness::{Caller, Desk, PASSWORD, Server};
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// As many slow clients as a site accepts, less a few places for honest ones.
const SLOW: usize = 1_000;
const ADDRESSES: usize = 4;
/// Rounds of honest requests in the campaign. Beside other tests there are fewer, so that they end before the slow
/// clients' time limits.
const HONEST_ROUNDS: usize = 60;
const HONEST_ROUNDS_BESIDE: usize = 20;
/// The longest time of an honest request in the campaign, where no other test runs. Beside other tests the limit is the
/// time after which the server closes the slow connections.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(3);
const ANSWER_TIME_MAX_BESIDE: Duration = Duration::from_secs(15);
/// The time within which the server closes connections whose head or body never ends: its longest limit (30 s) and a
/// margin.
const LET_GO_TIME_MAX: Duration = Duration::from_secs(60);

/// A connection from a source address of its own, with small buffers, so that unread answers fill them.
fn connect(number: usize, server: SocketAddr) -> std::io::Result<TcpStream> {
    // SAFETY: plain calls on a descriptor that is ours; the address is a whole `sockaddr_in`.
    let stream = unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        let stream = <TcpStream as std::os::fd::FromRawFd>::from_raw_fd(socket);
        let size: libc::c_int = 4096;
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, (&raw const size).cast(), length);
        let of = |address: [u8; 4], port: u16| libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: port.to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address) },
            sin_zero: [0; 8],
        };
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        let own = of([127, 0, 1, 1 + (number % ADDRESSES) as u8], 0);
        let other = of([127, 0, 0, 1], server.port());
        if libc::bind(stream.as_raw_fd(), (&raw const own).cast(), length) != 0
            || libc::connect(stream.as_raw_fd(), (&raw const other).cast(), length) != 0
        {
            return Err(std::io::Error::last_os_error());
        }
        stream
    };
    Ok(stream)
}

/// A slow client: sends the beginning of a request, then a byte now and then or nothing more, and never reads.
struct Slow {
    stream: TcpStream,
    drip: &'static [u8],
}

impl Slow {
    fn begin(number: usize, server: SocketAddr) -> std::io::Result<Slow> {
        let mut stream = connect(number, server)?;
        let big = "GET /api/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(200);
        let (begun, drip): (&str, &[u8]) = match number % 3 {
            0 => ("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ", b"x"),
            1 => ("POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n{", b" "),
            _ => (&big, b""),
        };
        stream.write_all(begun.as_bytes())?;
        stream.set_nonblocking(true)?;
        Ok(Slow { stream, drip })
    }

    /// Sends the next byte, if its kind sends any. Returns whether the server still keeps the connection.
    fn drips(&mut self) -> bool {
        let sent = if self.drip.is_empty() {
            self.stream.peek(&mut [0]).map(|_| ())
        } else {
            self.stream.write_all(self.drip)
        };
        sent.is_ok() || sent.is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
    }
}

/// Raises the descriptor limit: the test needs one for each slow client.
fn raise_descriptor_limit() -> Result<(), String> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel fills in and reads one struct of ours.
    let raised = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit)
    };
    let needed = 2 * SLOW as u64;
    if raised == 0 && limit.rlim_cur >= needed {
        Ok(())
    } else {
        Err(format!("{needed} descriptors are not allowed here"))
    }
}

#[test]
fn a_thousand_slow_clients_do_not_slow_an_honest_one() {
    if or_skip(raise_descriptor_limit()).is_none() {
        return;
    }
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let mut slow: Vec<Slow> = (0..SLOW).map(|number| Slow::begin(number, server.address).unwrap()).collect();
    let (done, held) = (AtomicBool::new(false), AtomicUsize::new(SLOW));
    let slowest = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                held.store(slow.iter_mut().filter_map(|one| one.drips().then_some(())).count(), Ordering::SeqCst);
                std::thread::park_timeout(Duration::from_millis(50));
            }
        });
        let slowest = serve_honest(&server);
        assert!(held.load(Ordering::SeqCst) > SLOW * 9 / 10, "the slow ones were not there: {held:?}");
        done.store(true, Ordering::SeqCst);
        slowest
    });
    println!("{SLOW} slow clients; the slowest of {} honest answers took {slowest:?}", honest_rounds() * 3);
    if is_campaign() {
        are_let_go(&mut slow);
    }
    drop(slow);
    assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
    assert_eq!(server.stop().code, Some(0));
}

fn is_campaign() -> bool {
    std::env::var_os("TUNNELDESK_FAULTS").is_some()
}

fn honest_rounds() -> usize {
    if is_campaign() { HONEST_ROUNDS } else { HONEST_ROUNDS_BESIDE }
}

/// Signs in, then reads and writes. Returns the longest time of a request.
fn serve_honest(server: &Server) -> Duration {
    let mut slowest = Duration::ZERO;
    let mut time = |work: &mut dyn FnMut() -> u16, wanted: u16| {
        let since = Instant::now();
        assert_eq!(work(), wanted);
        slowest = slowest.max(since.elapsed());
    };
    let session = server.sign_in("jane", PASSWORD);
    let entry = json!({"entry_date": 1_700_000_000, "time": 5});
    let mut client = server.client();
    for _ in 0..honest_rounds() {
        time(&mut || server.get(&session, "/api/account/profile/user").status, 200);
        time(&mut || client.get(&session, "/api/account/notifications").status, 200);
        time(&mut || client.post(&session, "/api/account/logbook/time/", &entry).status, 201);
    }
    let most = if is_campaign() { ANSWER_TIME_MAX } else { ANSWER_TIME_MAX_BESIDE };
    assert!(slowest < most, "{slowest:?}");
    slowest
}

/// Asserts that the server's time limits close the connection of a client that never ends its request, even if it sends
/// a byte now and then.
fn are_let_go(slow: &mut [Slow]) {
    let since = Instant::now();
    loop {
        // Every connection is tried each time: a closed one is noticed only after a write or two.
        let kept = slow.iter_mut().filter_map(|one| (one.drips() && !one.drip.is_empty()).then_some(())).count();
        if kept == 0 {
            break;
        }
        assert!(since.elapsed() < LET_GO_TIME_MAX, "{kept} were kept");
        std::thread::park_timeout(Duration::from_millis(200));
    }
    println!("all slow heads and bodies were let go within {:?}", since.elapsed());
}
