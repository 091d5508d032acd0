//! Bytes that are not a request at all.

use super::dice::Dice;
use crate::harness::{Site, Wire};

const KIB: usize = 1024;

fn lines() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = [
        &b"\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"get / http/1.1\r\n\r\n",
        b"/ GET HTTP/1.1\r\n\r\n",
        b"GET  /healthz  HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://localhost/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n",
        b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"EHLO localhost\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhelloGET /healthz HTTP/1.1\r\n",
    ]
    .map(<[u8]>::to_vec)
    .into();
    lines.push(vec![b'A'; 200 * KIB]);
    lines.push([b"GET /", &vec![b'a'; 70 * KIB][..], b" HTTP/1.1\r\nHost: localhost\r\n\r\n"].concat());
    lines.push([b"GET / HTTP/1.1\r\n", "X: y\r\n".repeat(20 * KIB).as_bytes()].concat());
    lines.push([b"GET / HTTP/1.1\r\nHost: localhost\r\n", &vec![b'n'; 70 * KIB][..], b": v\r\n\r\n"].concat());
    lines
}

#[test]
fn garbage_is_refused_or_disconnected_and_the_server_lives() {
    let site = Site::open();
    let before = site.rows();
    let mut dice = Dice::new(1, "garbage");
    let random = (0..200).map(|_| dice.bytes(2000));
    for (number, bytes) in lines().into_iter().chain(random).enumerate() {
        let asked = format!(
            "garbage {number}: {}",
            bytes.iter().take(60).map(|b| b.escape_ascii().to_string()).collect::<String>()
        );
        if let Some(reply) = Wire::to(site.address()).exchange_alone(&bytes, true, &asked) {
            assert!(reply.status < 500, "{reply}");
        }
    }
    assert_eq!(site.rows(), before);
    site.stranger().ask_at_root(http::Method::GET, "/healthz").send().ok();
}
