//! SIGTERM and SIGINT: open requests are finished, and the process ends with 0.

use crate::harness::{Caller, Desk, PASSWORD, Server};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the server waits for open requests when it is stopped.
const DEADLINE: Duration = Duration::from_secs(10);
/// The longest time of a stop while a request never ends, on a busy machine: less than the limit for a body (20 s) in
/// addition to the time of a stop by itself.
const STOP_TIME_MAX: Duration = Duration::from_secs(19);

/// A sign-in of which half has been sent.
fn half_a_request(server: &Server) -> (TcpStream, String) {
    let body = format!(r#"{{"username": "jane", "password": "{PASSWORD}"}}"#);
    let (first, rest) = body.split_at(20);
    let mut stream = server.connect();
    let head = format!("POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{first}").as_bytes()).unwrap();
    (stream, rest.to_owned())
}

#[test]
fn a_request_in_progress_is_answered_before_the_server_ends() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let (mut stream, rest) = half_a_request(&server);
    // A request on a second connection: once it is answered, the server has read the first half of the other one.
    let mut idle = server.client();
    assert_eq!(idle.get(&Caller::Anyone, "/healthz").status, 200);
    server.terminate();
    server.log.wait_for("stopping").unwrap();
    stream.write_all(rest.as_bytes()).unwrap();
    let answer = crate::harness::read_answer(&mut BufReader::new(stream)).unwrap();
    assert_eq!(answer.ok()["status"], true);
    let address = server.address;
    let ended = server.ended();
    assert_eq!(ended.code, Some(0));
    assert!(ended.took < DEADLINE, "an idle connection held it up for {:?}", ended.took);
    assert!(TcpStream::connect(address).is_err());
    drop(idle);
}

#[test]
fn a_service_goes_on_after_a_hangup() {
    let desk = Desk::with_site();
    let server = desk.serve();
    server.hang_up();
    for _ in 0..20 {
        assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
    }
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
}

/// Sends one request after the other until an answer closes the connection or the server accepts none. Returns the
/// number of requests that were sent and never answered.
fn ask_until_told(address: SocketAddr, number: usize, begun: &AtomicUsize) -> usize {
    let request = match number % 3 {
        0 => "GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
        1 => "GET /api/public/tunnels/1 HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
        _ => {
            let body = r#"{"name": "Ann", "email": "ann@example.com", "message": "Are you open?", "country": "CH"}"#;
            let length = body.len();
            format!("POST /api/public/contact HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}")
        }
    };
    let mut unanswered = 0;
    while let Ok(stream) = TcpStream::connect(address) {
        let mut stream = BufReader::new(stream);
        loop {
            // A request on a connection that was never accepted does not count.
            if stream.get_mut().write_all(request.as_bytes()).is_err() {
                break;
            }
            match crate::harness::read_answer(&mut stream) {
                Ok(answer) if answer.header("connection") == Some("close") => return unanswered,
                Ok(_) => _ = begun.fetch_add(1, Ordering::Relaxed),
                Err(_) => {
                    unanswered += 1;
                    break;
                }
            }
        }
    }
    unanswered
}

#[test]
fn every_request_on_a_kept_alive_connection_is_answered_during_the_shutdown() {
    const CLIENTS: usize = 64;
    let desk = Desk::with_site();
    for _ in 0..3 {
        let server = desk.serve_with(&[("TUNNELDESK_LIMITS_CONTACTS_PER_HOUR_PER_ADDRESS", "1000000")]);
        let (address, begun) = (server.address, AtomicUsize::new(0));
        let unanswered: usize = std::thread::scope(|scope| {
            let begun = &begun;
            let ask = |number| scope.spawn(move || ask_until_told(address, number, begun));
            let clients: Vec<_> = (0..CLIENTS).map(ask).collect();
            while begun.load(Ordering::Relaxed) < 10 * CLIENTS {
                std::thread::yield_now();
            }
            server.terminate();
            clients.into_iter().map(|client| client.join().unwrap()).sum()
        });
        let ended = server.ended();
        assert_eq!((unanswered, ended.code), (0, Some(0)), "{}", ended.log.join("\n"));
    }
}

#[test]
fn a_request_half_received_before_the_shutdown_is_answered_as_the_last_one() {
    let desk = Desk::with_site();
    let server = desk.serve();
    let mut stream = server.connect();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nho").unwrap();
    assert_eq!(server.get(&Caller::Anyone, "/healthz").status, 200);
    server.terminate();
    server.log.wait_for("stopping").unwrap();
    stream.write_all(b"st: localhost\r\n\r\n").unwrap();
    let answer = crate::harness::read_answer(&mut BufReader::new(stream)).unwrap();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    assert_eq!(server.ended().code, Some(0));
}

#[test]
fn a_request_that_never_ends_delays_the_shutdown_no_longer_than_the_deadline() {
    let desk = Desk::with_site();
    let server = desk.serve();
    let (_stream, _) = half_a_request(&server);
    assert_eq!(server.get(&Caller::Anyone, "/healthz").status, 200);
    let since = Instant::now();
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
    assert!(since.elapsed() < STOP_TIME_MAX, "{:?}", since.elapsed());
}

#[test]
fn a_killed_server_starts_again_and_so_does_one_that_got_two_signals() {
    let desk = Desk::with_site();
    let server = desk.serve();
    server.kill();
    assert_eq!(server.ended().code, None);
    let server = desk.serve();
    server.terminate();
    server.terminate();
    assert_eq!(server.ended().code, Some(0));
    desk.serve();
}

/// The threads of a process, except the one that watches over its end, stopped where they are, as if the disk or a lock
/// never answered.
struct Frozen {
    process: libc::pid_t,
    threads: Vec<libc::pid_t>,
}

impl Frozen {
    fn all_but(spared: &str, process: u32) -> Frozen {
        let mut frozen = Frozen { process: process as libc::pid_t, threads: Vec::new() };
        wait_for_thread(spared, process);
        // A running thread may have started another meanwhile, so this repeats.
        loop {
            let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
            let tasks = tasks.map(|task| task.unwrap().path());
            let others =
                tasks.filter(|task| std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() != spared));
            let numbers = others.map(|task| task.file_name().unwrap().to_str().unwrap().parse().unwrap());
            let running: Vec<libc::pid_t> = numbers.filter(|one| !frozen.threads.contains(one)).collect();
            if running.is_empty() {
                return frozen;
            }
            frozen.threads.extend(running.into_iter().filter(|thread| Frozen::stop(*thread)));
        }
    }

    /// Stops a thread. Returns false if the thread has just ended by itself.
    fn stop(thread: libc::pid_t) -> bool {
        const NOTHING: *mut libc::c_void = std::ptr::null_mut();
        // SAFETY: the threads are our own child's; no memory of this process is passed.
        let asked = unsafe {
            libc::ptrace(libc::PTRACE_SEIZE, thread, NOTHING, NOTHING) == 0
                && libc::ptrace(libc::PTRACE_INTERRUPT, thread, NOTHING, NOTHING) == 0
        };
        if !asked {
            let error = std::io::Error::last_os_error();
            assert_eq!(error.raw_os_error(), Some(libc::ESRCH), "thread {thread}: {error}");
            return false;
        }
        let next = next_event(thread, Instant::now() + Duration::from_secs(10));
        libc::WIFSTOPPED(next.unwrap_or_else(|| panic!("thread {thread} cannot be stopped")))
    }

    /// Whether the process ended within the time. A traced process is gone once the tracer has waited for the end of
    /// each thread, the first thread last.
    fn end_within(mut self, time_max: Duration) -> bool {
        let deadline = Instant::now() + time_max;
        self.threads.retain(|thread| *thread != self.process);
        self.threads.iter().all(|thread| next_event(*thread, deadline).is_some())
    }
}

/// Waits for a thread of this name: a new thread has its name once it runs.
fn wait_for_thread(name: &str, process: u32) {
    let deadline = Instant::now() + Duration::from_secs(10);
    let is_named = |task: &Path| std::fs::read_to_string(task.join("comm")).is_ok_and(|read| read.trim() == name);
    let is_there = || {
        let mut tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        tasks.any(|task| is_named(&task.unwrap().path()))
    };
    while !is_there() {
        assert!(Instant::now() < deadline, "no thread {name}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The next event of a child's thread before the deadline: a stop or its end.
fn next_event(thread: libc::pid_t, deadline: Instant) -> Option<i32> {
    let mut status = 0;
    while Instant::now() < deadline {
        // SAFETY: the kernel writes the status into a variable of ours.
        match unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL | libc::WNOHANG) } {
            0 => std::thread::sleep(Duration::from_millis(5)),
            heard => {
                assert_eq!(heard, thread, "{}", std::io::Error::last_os_error());
                return Some(status);
            }
        }
    }
    None
}

#[test]
fn a_server_whose_threads_all_hang_exits_at_the_deadline() {
    /// Longer than the server's own limit for a stop (15 s), on a busy machine.
    const END_TIME_MAX: Duration = Duration::from_secs(40);
    let desk = Desk::with_site();
    let mut command = desk.command(&["serve"]);
    command.env("TUNNELDESK_LISTEN", "127.0.0.1:0").env("TUNNELDESK_METRICS_LISTEN", "127.0.0.1:0");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("://"), "{said}");
    // The threads stop wherever they are, possibly with locks of the allocator or of the log.
    let frozen = Frozen::all_but("shutdown", child.id());
    assert!(frozen.threads.len() > 4, "{:?}", frozen.threads);
    // SAFETY: the process is our child and has not been waited for, so the number is still its own.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    let ended = frozen.end_within(END_TIME_MAX);
    if !ended {
        child.kill().unwrap();
    }
    assert!(ended, "still there after {END_TIME_MAX:?}");
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(desk.serve().stop().code, Some(0), "nothing is lost by it");
}
