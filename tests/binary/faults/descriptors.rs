//! Too few file descriptors: connections wait or are refused, no thread spins, and the server neither crashes nor loses
//! its database.

use crate::harness::{Caller, Desk, PASSWORD, Server, read_answer};
use serde_json::json;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

const DESCRIPTORS: u64 = 64;
const GREEDY: usize = 100;
const PATIENCE: Duration = Duration::from_secs(60);
const WATCHED: Duration = Duration::from_millis(1_500);
/// The number of samples. A spinning thread is busy in every one; a thread that is busy in only one has work to do.
const LOOKS: usize = 5;
/// The share of one processor that an idle server may use.
const LOAD_MAX: f64 = 0.3;
const ASK: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

fn limited() -> (Desk, Server) {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let mut command = desk.command(&["serve"]);
    let limit = libc::rlimit { rlim_cur: DESCRIPTORS, rlim_max: DESCRIPTORS };
    // SAFETY: `setrlimit` is the only call between fork and exec, and is async-signal-safe.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_NOFILE, &limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let server = Server::start(command);
    (desk, server)
}

/// The processor time of the server, in seconds.
fn processor_seconds(server: &Server) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.process_id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    // SAFETY: `sysconf` takes a number and returns a number.
    ticks / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64
}

/// The share of a processor that an idle server uses: the least of several samples.
fn load(server: &Server) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..LOOKS {
        least = least.min(load_now(server));
        if least < LOAD_MAX {
            break;
        }
    }
    least
}

fn load_now(server: &Server) -> f64 {
    let (since, before) = (Instant::now(), processor_seconds(server));
    while since.elapsed() < WATCHED {
        std::thread::park_timeout(WATCHED);
    }
    (processor_seconds(server) - before) / since.elapsed().as_secs_f64()
}

fn open_descriptors(server: &Server) -> u64 {
    std::fs::read_dir(format!("/proc/{}/fd", server.process_id())).unwrap().count() as u64
}

/// Repeats a request until it is answered: the server notices closed connections one after the other.
fn is_served_again(server: &Server) {
    let since = Instant::now();
    while server.raw(ASK).is_err() {
        assert!(since.elapsed() < PATIENCE, "nobody is served any more");
    }
    let session = server.sign_in("jane", PASSWORD);
    server.post(&session, "/api/account/logbook/time/", &json!({"entry_date": 1_700_000_000, "time": 5})).ok();
    assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
}

#[test]
fn more_connections_than_descriptors_are_turned_away_and_the_file_keeps_its_own() {
    let (desk, server) = limited();
    let session = server.sign_in("jane", PASSWORD);
    let mut kept = server.client();
    kept.get(&session, "/api/account/profile/user").ok();
    let greedy: Vec<TcpStream> = (0..GREEDY).filter_map(|_| TcpStream::connect(server.address).ok()).collect();
    assert_eq!(greedy.len(), GREEDY);
    let load = load(&server);
    assert!(load < LOAD_MAX, "it spins: {load}");
    assert!(open_descriptors(&server) < DESCRIPTORS);
    // Open connections are still served, with everything that this needs: readers, the WAL, a backup.
    kept.get(&session, "/api/account/profile/user").ok();
    for _ in 0..20 {
        kept.post(&session, "/api/account/logbook/time/", &json!({"entry_date": 1_700_000_000, "time": 5})).ok();
    }
    desk.run(&["backup"]).done();
    drop(greedy);
    is_served_again(&server);
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn accepting_pauses_when_the_system_has_no_descriptor_and_goes_on_when_it_has() {
    let (_desk, server) = limited();
    let set = |limit: u64| {
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: DESCRIPTORS };
        // SAFETY: the process is our child and has not been waited for; the kernel only reads our struct.
        let done = unsafe { libc::prlimit(server.process_id(), libc::RLIMIT_NOFILE, &limit, std::ptr::null_mut()) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    };
    server.sign_in("jane", PASSWORD);
    set(open_descriptors(&server));
    let mut waiting: Vec<TcpStream> = (0..10).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    waiting.iter_mut().for_each(|stream| stream.write_all(ASK).unwrap());
    let load = load(&server);
    assert!(load < LOAD_MAX, "it spins: {load}");
    set(DESCRIPTORS);
    for stream in waiting {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(read_answer(&mut BufReader::new(stream)).unwrap().status, 200, "who waited is served");
    }
    is_served_again(&server);
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
    let complaints = ended.log.iter().filter(|line| line.contains("could not be accepted")).count();
    assert!((1..500).contains(&complaints), "{complaints} lines about it");
}
