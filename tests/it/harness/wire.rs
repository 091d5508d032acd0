//! HTTP/1.1 by hand, for requests that no client library would send.

use super::Reply;
use super::description::DESCRIPTION;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// The time after which an answer counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Wire {
    address: SocketAddr,
    /// Whether the answers are those of described operations.
    described: bool,
    stream: Option<TcpStream>,
}

impl Wire {
    pub fn to(address: SocketAddr) -> Wire {
        Wire { address, described: true, stream: None }
    }

    /// Connects to the port for metrics, which has other paths.
    pub fn to_figures(address: SocketAddr) -> Wire {
        Wire { described: false, ..Wire::to(address) }
    }

    /// Sends the bytes on the open connection (or a new one) and reads one answer; `None` if the server closes without
    /// one. Panics if neither happens in time.
    pub fn exchange(&mut self, bytes: &[u8], asked: &str) -> Option<Reply> {
        let mut stream = self.stream.take().unwrap_or_else(|| self.connect());
        // The server may answer and close before everything is sent.
        let sent = stream.write_all(bytes);
        let (reply, goes_on, surplus) = read_reply(&mut stream, asked)?;
        self.check(bytes, &reply);
        assert_eq!(surplus, 0, "{asked}: more came than was announced");
        if goes_on && sent.is_ok() {
            self.stream = Some(stream);
        }
        Some(reply)
    }

    /// Sends the bytes on the open connection (or a new one); [`Wire::receive`] reads the answer.
    pub fn send(&mut self, bytes: &[u8]) {
        let mut stream = self.stream.take().unwrap_or_else(|| self.connect());
        stream.write_all(bytes).expect("the server takes a request");
        self.stream = Some(stream);
    }

    /// Reads the answer to the bytes sent. Panics if none comes in time.
    pub fn receive(&mut self, asked: &str) -> Reply {
        let mut stream = self.stream.take().expect("something was sent");
        let (reply, goes_on, _) =
            read_reply(&mut stream, asked).unwrap_or_else(|| panic!("{asked}: closed unanswered"));
        self.stream = Some(stream).filter(|_| goes_on);
        reply
    }

    /// As [`Wire::exchange`], on a connection of its own, for bytes that may not be a whole request or may be more than
    /// one: only the first answer is read. `stop` closes the sending side, so that the rest of the request never comes.
    pub fn exchange_alone(&self, bytes: &[u8], stop: bool, asked: &str) -> Option<Reply> {
        let mut stream = self.connect();
        _ = stream.write_all(bytes);
        if stop {
            _ = stream.shutdown(Shutdown::Write);
        }
        let (reply, ..) = read_reply(&mut stream, asked)?;
        self.check(bytes, &reply);
        Some(reply)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server takes connections");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Checks the answer against the description, if the bytes name an operation. Every refusal has the envelope, also
    /// of bytes that are not a request; a browser that asks for a page gets a page.
    fn check(&self, bytes: &[u8], reply: &Reply) {
        let line =
            bytes.split(|byte| *byte == b'\r').next().and_then(|line| std::str::from_utf8(line).ok()).unwrap_or("");
        let page = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        if [400, 414, 431].contains(&reply.status) && !page && !line.starts_with("HEAD") {
            reply.check_envelope();
        }
        if let [method, path, "HTTP/1.1"] = line.split(' ').collect::<Vec<_>>()[..]
            && self.described
        {
            DESCRIPTION.check(method, path, reply);
        }
    }
}

/// One answer, whether the connection stays open, and the number of surplus bytes.
fn read_reply(stream: &mut TcpStream, asked: &str) -> Option<(Reply, bool, usize)> {
    let mut bytes = Vec::new();
    let head_end = loop {
        match bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            // The server asks for a body that was already sent with the head.
            Some(at) if bytes.starts_with(b"HTTP/1.1 100") => _ = bytes.drain(..at + 4),
            Some(at) => break at,
            None if read_more(stream, &mut bytes, asked) => {}
            None => {
                assert!(bytes.is_empty(), "{asked}: the answer's head broke off");
                return None;
            }
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).expect("our own heads are text");
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next().and_then(|l| l.split(' ').nth(1)).and_then(|s| s.parse().ok()).expect("a status");
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let name: HeaderName = name.parse().expect("a header's name");
        headers.append(name, HeaderValue::from_str(value.trim()).expect("a header's value"));
    }
    let mut body = bytes.split_off(head_end + 4);
    let length = headers.get("content-length").map_or(0, |v| v.to_str().unwrap().parse().unwrap());
    let length: usize = if asked.starts_with("HEAD ") || status == 304 { 0 } else { length };
    while body.len() < length {
        assert!(read_more(stream, &mut body, asked), "{asked}: the answer's body broke off");
    }
    let surplus = body.split_off(length).len();
    let goes_on = headers.get("connection").is_none_or(|v| v != "close");
    Some((Reply { status, headers, body, asked: asked.to_owned() }, goes_on, surplus))
}

fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>, asked: &str) -> bool {
    let mut buffer = [0; 16 * 1024];
    match stream.read(&mut buffer) {
        Ok(0) => false,
        Ok(count) => {
            bytes.extend_from_slice(&buffer[..count]);
            true
        }
        Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            panic!("{asked}: no answer in {PATIENCE:?}")
        }
        Err(_) => false,
    }
}
