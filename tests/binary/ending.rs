//! SIGTERM and SIGINT: what was begun is finished, and the process ends with 0.

use crate::harness::{Caller, Desk, PASSWORD, Server};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest a stop may take, with a request that never ends.
const STOP_TIME_MAX: Duration = Duration::from_secs(18);

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
fn a_request_in_the_air_is_finished_before_the_server_ends() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let (mut stream, rest) = half_a_request(&server);
    // Another request on the same connections' server: when it is answered, the half one has been seen.
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
    assert!(ended.took < Duration::from_secs(5), "an idle connection held it up for {:?}", ended.took);
    assert!(TcpStream::connect(address).is_err());
    drop(idle);
}

#[test]
fn a_request_that_never_ends_holds_a_stop_up_no_longer_than_the_deadline() {
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
fn a_killed_server_starts_again_and_so_does_one_that_was_told_twice() {
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
