//! Slow, large, malformed and greedy clients are refused, and other clients are not affected. Time limits are tested
//! beside their constants in `src/server`.

use crate::harness::{Answer, Caller, Desk, Server, answers_until_close};
use serde_json::json;
use std::io::Write;
use std::net::{Shutdown, TcpStream};

const LOGIN: &str = "POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\n";

/// The answers of a server to these bytes. The server must be ready afterwards.
fn answers(server: &Server, bytes: &[u8]) -> Vec<Answer> {
    let mut stream = server.connect();
    // The server may refuse and close before it has read everything.
    _ = stream.write_all(bytes);
    _ = stream.shutdown(Shutdown::Write);
    let answers = answers_until_close(stream);
    assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
    answers
}

fn statuses(server: &Server, bytes: &[u8]) -> Vec<u16> {
    answers(server, bytes).iter().map(|answer| answer.status).collect()
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let (_desk, server) = Desk::with_site().serve_kept();
    let head =
        |bytes: usize| format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-filler: {}\r\n\r\n", "x".repeat(bytes));
    assert_eq!(server.raw(head(12_000).as_bytes()).unwrap().status, 200);
    for bytes in [17_000, 80_000] {
        assert_eq!(server.raw(head(bytes).as_bytes()).unwrap().status, 431, "{bytes} bytes");
    }
    let many = "x-filler: x\r\n".repeat(1_000);
    let request = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    assert_eq!(server.raw(request.as_bytes()).unwrap().status, 431);
    let path = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(70_000));
    assert!([414, 431].contains(&server.raw(path.as_bytes()).unwrap().status));
}

#[test]
fn a_body_that_is_too_large_is_refused_whether_or_not_it_says_so() {
    let (_desk, server) = Desk::with_site().serve_kept();
    let announced = format!("{LOGIN}content-length: 65537\r\n\r\n");
    assert_eq!(server.raw(announced.as_bytes()).unwrap().refused(413)["code"], "body_too_large");
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let chunked = format!("{LOGIN}transfer-encoding: chunked\r\n\r\n{}", chunk.repeat(5));
    assert_eq!(server.raw(chunked.as_bytes()).unwrap().status, 413);
    let callback = "POST /api/mail-webhook HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1048577\r\n\r\n";
    assert_eq!(server.raw(callback.as_bytes()).unwrap().status, 413);
    assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
}

#[test]
fn a_length_that_lies_changes_nothing() {
    let desk = Desk::with_site();
    let jane = desk.add_member("jane", "member");
    let server = desk.serve();
    let session = server.sign_in("jane", crate::harness::PASSWORD);
    let Caller::Session(token) = &session else { unreachable!() };
    let head = format!("POST /api/account/logbook/time/ HTTP/1.1\r\nhost: localhost\r\ntoken: {token}\r\n");
    let body = r#"{"entry_date": 1700000000, "time": "10"}"#;
    // The body is shorter than its `content-length`: the rest never arrives.
    assert!(
        statuses(&server, format!("{head}content-length: {}\r\n\r\n{body}", body.len() + 9).as_bytes())
            .iter()
            .all(|s| *s == 400)
    );
    // The body is longer than its `content-length`: the part within it is not JSON, and the rest is no request.
    assert_eq!(
        statuses(&server, format!("{head}content-length: {}\r\n\r\n{body}", body.len() - 9).as_bytes()),
        [400, 400]
    );
    // Two lengths, or a length and chunks, may make a proxy and a server disagree about the end of a request.
    for lengths in
        ["content-length: 40\r\ncontent-length: 41\r\n", "content-length: -1\r\n", "content-length: 4, 5\r\n"]
    {
        assert_eq!(statuses(&server, format!("{head}{lengths}\r\n{body}").as_bytes()), [400], "{lengths}");
    }
    let listed = server.get(&session, &format!("/api/account/logbook/time/{jane}")).ok();
    assert_eq!(listed, json!([]));
}

#[test]
fn requests_in_one_packet_are_answered_in_order() {
    let (_desk, server) = Desk::with_site().serve_kept();
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let head = "HEAD /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let all = [get("/healthz"), get("/nowhere"), get("/api/account/profile/user"), get("/readyz"), get("/healthz")];
    let answers: Vec<u16> = answers_in_order(&server, &all.concat(), head);
    assert_eq!(answers, [200, 404, 401, 200, 200, 200]);
}

fn answers_in_order(server: &Server, requests: &str, last: &str) -> Vec<u16> {
    let mut stream = server.connect();
    stream.write_all(format!("{requests}{last}").as_bytes()).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
    text.match_indices("HTTP/1.1 ").map(|(at, found)| text[at + found.len()..][..3].parse().unwrap()).collect()
}

#[test]
fn what_is_no_http_is_turned_away() {
    let (_desk, server) = Desk::with_site().serve_kept();
    for bytes in
        [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\0\0\0\0\r\n\r\n"]
    {
        let statuses = statuses(&server, bytes);
        assert!(statuses.iter().all(|status| *status == 400), "{statuses:?}");
    }
    assert_eq!(statuses(&server, b"GET /healthz HTTP/1.1\r\n\r\n"), [400], "a request without a host");
}

#[test]
fn who_closes_its_side_after_asking_is_answered_all_the_same() {
    let (_desk, server) = Desk::with_site().serve_kept();
    for _ in 0..200 {
        assert_eq!(statuses(&server, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"), [200]);
    }
}

#[test]
fn the_memory_of_a_server_is_never_dumped() {
    let desk = Desk::with_site();
    let server = desk.serve();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.process_id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("the kernel lists it");
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
}

#[test]
fn one_address_cannot_take_every_connection() {
    let desk = Desk::with_site();
    let server = desk.serve_with(&[("TUNNELDESK_LIMITS_CONNECTIONS_PER_ADDRESS_MAX", "8")]);
    let mut greedy: Vec<_> = (0..8).map(|_| server.client()).collect();
    greedy.iter_mut().for_each(|client| assert_eq!(client.get(&Caller::Anyone, "/healthz").status, 200));
    let refused = server.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(refused.is_err(), "a ninth connection was answered: {refused:?}");
    let mut other = connect_from("127.0.0.2:0", &server);
    other.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    assert_eq!(answers_until_close(other)[0].status, 200);
    // A closed connection frees its place for another client.
    drop(greedy.pop());
    let mut tries = std::iter::repeat_with(|| server.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"));
    assert!(tries.by_ref().take(10_000).any(|answer| answer.is_ok_and(|answer| answer.status == 200)));
}

#[test]
fn idle_connections_of_a_few_addresses_shut_nobody_out() {
    const ASK: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let desk = Desk::with_site();
    let limits = [("TUNNELDESK_LIMITS_CONNECTIONS_MAX", "16"), ("TUNNELDESK_LIMITS_CONNECTIONS_PER_ADDRESS_MAX", "8")];
    let server = desk.serve_with(&limits);
    let mut idle: Vec<TcpStream> = Vec::new();
    for address in ["127.0.0.2:0", "127.0.0.3:0"] {
        for n in 0..8 {
            let mut stream = connect_from(address, &server);
            // Connections with nothing sent, with half a head, with half a body, and one that was served.
            let begun: &[u8] = [
                b"",
                &ASK[..20],
                b"POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{",
                ASK,
            ][n % 4];
            stream.write_all(begun).unwrap();
            idle.push(stream);
        }
    }
    for n in 10..16 {
        let mut stream = connect_from(&format!("127.0.0.{n}:0"), &server);
        stream.write_all(ASK).unwrap();
        let answer = crate::harness::read_answer(&mut std::io::BufReader::new(&stream)).expect("a place was made");
        assert_eq!(answer.status, 200);
        idle.push(stream);
    }
    let figures = server.figure("tunneldesk_connections_refused_total");
    assert_eq!(figures, 6, "each newcomer took the place of one");
    drop(idle);
}

/// A connection from another address of this machine.
fn connect_from(own: &str, server: &Server) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(own.parse().unwrap()).unwrap();
        socket.connect(server.address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}

#[test]
fn two_hundred_connections_that_never_finish_do_not_stop_an_honest_one() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let unfinished = [
        "",
        "GET /heal",
        "GET /healthz HTTP/1.1\r\nx-slow: ",
        "POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{",
    ];
    let held: Vec<TcpStream> = (0..200)
        .map(|n| {
            let mut stream = server.connect();
            stream.write_all(unfinished[n % unfinished.len()].as_bytes()).unwrap();
            stream
        })
        .collect();
    let session = server.sign_in("jane", crate::harness::PASSWORD);
    server.get(&session, "/api/account/profile/user").ok();
    server.post(&session, "/api/account/logbook/time/", &json!({"entry_date": 1_700_000_000, "time": 5})).ok();
    drop(held);
}
