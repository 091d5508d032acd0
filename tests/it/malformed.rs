//! Requests that cannot be read are refused with the error envelope.

use crate::harness::{Site, Wire};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn refused(site: &Site, bytes: &[u8], status: u16, code: &str) {
    let asked: String = bytes.iter().take(60).map(|b| b.escape_ascii().to_string()).collect();
    let reply = Wire::to(site.address()).exchange_alone(bytes, false, &asked);
    let reply = reply.unwrap_or_else(|| panic!("{asked}: no answer")).refused(status);
    assert_eq!((reply.json()["code"].as_str(), reply.header("connection")), (Some(code), Some("close")), "{reply}");
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn a_broken_head_or_framing_is_400_and_says_so() {
    let site = Site::open();
    let post = |headers: &str| format!("POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n{{}}");
    for bytes in [
        "nonsense\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nbad header: x\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nx: a\0b\r\n\r\n".to_owned(),
        post("content-length: x"),
        post("content-length: 2\r\ncontent-length: 3"),
        post("content-length: -1"),
        post("transfer-encoding: nonsense"),
    ] {
        refused(&site, bytes.as_bytes(), 400, "bad_request");
    }
    site.stranger().ask_at_root(http::Method::GET, "/healthz").send().ok();
}

#[test]
fn what_is_too_long_for_any_request_is_414_or_431_and_the_rest_of_it_does_not_eat_the_answer() {
    let site = Site::open();
    let head =
        |kib: usize| format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nx-filler: {}\r\n\r\n", "x".repeat(kib << 10));
    refused(&site, head(40).as_bytes(), 431, "headers_too_large");
    refused(&site, head(200).as_bytes(), 431, "headers_too_large");
    let mut wire = Wire::to(site.address());
    let ours = wire.exchange(head(20).as_bytes(), "20 KiB of headers").unwrap().refused(431);
    assert_eq!(ours.header("connection"), None, "a whole request: the connection goes on");
    let path = format!("GET /api/{} HTTP/1.1\r\nHost: localhost\r\naccept-language: de\r\n\r\n", "x".repeat(9 << 10));
    let reply = wire.exchange(path.as_bytes(), "9 KiB of path").unwrap().refused(414);
    assert_eq!((reply.json()["code"].as_str(), reply.header("content-language")), (Some("uri_too_long"), Some("de")));
}

/// A body whose framing breaks is noticed only after the head was read.
#[test]
fn a_chunk_that_is_none_is_400() {
    let site = Site::open();
    let head = "POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    let reply = Wire::to(site.address()).exchange_alone(format!("{head}zz\r\n").as_bytes(), false, "a bad chunk");
    assert_eq!(reply.unwrap().refused(400).json()["code"], "bad_request");
}

#[test]
fn a_good_request_before_it_has_its_own_answer() {
    let site = Site::open();
    let mut wire = Wire::to(site.address());
    wire.exchange(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "a good one").unwrap().ok();
    wire.exchange(b"nonsense\r\n\r\n", "a bad one").unwrap().refused(400);
}

#[test]
fn two_hosts_and_a_bare_name_for_a_target_are_400() {
    let site = Site::open();
    let mut wire = Wire::to(site.address());
    for head in [
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere.example\r\n\r\n",
        "GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET http://localhost/healthz HTTP/1.1\r\n\r\n",
    ] {
        assert_eq!(wire.exchange(head.as_bytes(), head).unwrap().refused(400).json()["code"], "bad_request", "{head}");
    }
    wire.exchange(b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "a whole address").unwrap().ok();
}

#[test]
fn the_host_of_a_whole_address_outweighs_the_header() {
    let site = Site::open();
    let mut wire = Wire::to(site.address());
    for (target, host, is_ours) in [
        ("http://localhost", "elsewhere.example", true),
        ("http://localhost:81", "", true),
        ("http://elsewhere.example", "localhost", false),
        ("http://localhost@elsewhere.example", "localhost", false),
        ("https://elsewhere.example:443", "localhost", false),
    ] {
        let head = format!("GET {target}/healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let reply = wire.exchange(head.as_bytes(), &head).unwrap();
        if is_ours {
            reply.ok()
        } else {
            reply.refused(421)
        };
    }
}

#[test]
fn a_coding_beside_chunked_is_400() {
    let site = Site::open();
    for coding in ["gzip, chunked", "gzip\r\ntransfer-encoding: chunked", "identity, chunked"] {
        let head =
            format!("POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\ntransfer-encoding: {coding}\r\n\r\n0\r\n\r\n");
        let reply = Wire::to(site.address()).exchange(head.as_bytes(), coding);
        assert_eq!(reply.unwrap().refused(400).json()["code"], "bad_request", "{coding}");
    }
}

#[test]
fn a_content_type_that_is_no_text_is_415() {
    let site = Site::open();
    let post = |kind: &[u8]| {
        let head = b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\ncontent-length: 2\r\ncontent-type: ";
        Wire::to(site.address()).exchange(&[head, kind, b"\r\n\r\n{}"].concat(), "a content type").unwrap()
    };
    assert_eq!(post(b"\xff").refused(415).json()["code"], "unsupported_type");
    post(b"").refused(422);
}

#[test]
fn a_length_beside_chunks_is_400_and_ends_the_connection() {
    let site = Site::open();
    for lengths in
        ["Content-Length: 2\r\nTransfer-Encoding: chunked", "transfer-encoding: chunked\r\ncontent-length: 2"]
    {
        let head =
            format!("POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n{lengths}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n");
        refused(&site, head.as_bytes(), 400, "bad_request");
    }
}

/// A second length of such a request cannot be seen, so its chunks are refused; behind an answer they are taken.
#[test]
fn chunks_in_one_piece_with_a_request_before_them_are_400() {
    let site = Site::open();
    let good = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let chunked = |more: &str| {
        let head =
            format!("POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n{more}Transfer-Encoding: chunked\r\n\r\n");
        head + "2\r\n{}\r\n0\r\n\r\n"
    };
    for more in ["", "Content-Length: 2\r\n"] {
        let mut stream = TcpStream::connect(site.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(format!("{good}{}", chunked(more)).as_bytes()).unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).expect("the server closes");
        let statuses: Vec<&str> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
        assert_eq!(statuses, ["200", "400"], "{answers}");
        assert!(answers.contains("\"bad_request\""), "{answers}");
    }
    let mut wire = Wire::to(site.address());
    for _ in 0..20 {
        wire.exchange(good.as_bytes(), "a good one").unwrap().ok();
        wire.exchange(chunked("").as_bytes(), "chunks behind an answer").unwrap().refused(422);
    }
}
