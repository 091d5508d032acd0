//! A client of the stream: connects, reads events one after the other, and is cut.

use crate::harness::{Caller, Site};
use http::Method;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Far longer than an event takes, so that a busy machine does not fail the test.
const HEARS_WITHIN: Duration = Duration::from_secs(60);

/// A stream that is open.
pub struct Stream(BufReader<TcpStream>);

/// What a stream sent: the name (empty for an event), the number, and the data.
#[derive(Debug)]
pub struct Sent {
    pub name: String,
    pub id: Option<i64>,
    pub data: Value,
}

impl Stream {
    /// Opens the stream of a caller. `query` begins with `?`, or is empty.
    pub fn open(site: &Site, caller: &Caller, query: &str, last: Option<i64>) -> Stream {
        let mut stream = Stream::begin(site, caller, query, last);
        let status = stream.line().expect("an answer");
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        while stream.line().is_some_and(|line| !line.is_empty()) {}
        stream
    }

    /// The status of the answer to a request for a stream, which is closed then.
    pub fn status(site: &Site, caller: &Caller, query: &str) -> u16 {
        let status = Stream::begin(site, caller, query, None).line().expect("an answer");
        status.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status")
    }

    /// Asks for a stream, without awaiting the answer.
    pub fn begin(site: &Site, caller: &Caller, query: &str, last: Option<i64>) -> Stream {
        let path = format!("/api/events{query}");
        let mut head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream\r\n", site.address());
        // A client that keeps answers asks so. No stream is the one of before.
        head += "if-none-match: *\r\n";
        for (name, value) in caller.proof(&Method::GET, &path, b"") {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(last) = last {
            head += &format!("last-event-id: {last}\r\n");
        }
        let mut socket = TcpStream::connect(site.address()).unwrap();
        socket.set_read_timeout(Some(HEARS_WITHIN)).unwrap();
        socket.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        Stream(BufReader::new(socket))
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }

    /// The next that is sent, without comments; `None`: the stream has ended.
    pub fn next(&mut self) -> Option<Sent> {
        let (mut name, mut id, mut data) = (String::new(), None, None);
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < HEARS_WITHIN, "the stream goes on, with nothing but comments");
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("id", value)) => id = value.parse().ok(),
                Some(("data", value)) => data = serde_json::from_str(value).ok(),
                // The length of a chunk, a comment, and the line between two chunks.
                _ if data.is_none() => {
                    if line == "0" {
                        return None;
                    }
                }
                _ => return Some(Sent { name, id, data: data.unwrap_or_default() }),
            }
        }
    }

    /// The type of the next event.
    #[track_caller]
    pub fn hears(&mut self) -> String {
        let sent = self.next().expect("the stream goes on");
        sent.data["type"].as_str().unwrap_or(&sent.name).to_owned()
    }
}
