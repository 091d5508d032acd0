//! The browser's own protocol, over a WebSocket: the driver opens no contexts, and passes on nothing that is about more than
//! one window.

use super::browser::ANSWER_TIME_MAX;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// The first byte of a frame that is a whole text.
const TEXT: u8 = 0x81;
/// The flag of a frame from a client, whose mask may be zero.
const MASKED: u8 = 0x80;
/// A length of this value means that the length follows in two bytes.
const SHORT: u8 = 126;
/// And of this one, in eight.
const LONG: u8 = 127;

pub struct Devtools {
    stream: BufReader<TcpStream>,
    last: u64,
}

impl Devtools {
    /// Connects to the browser whose protocol is served at an address.
    pub fn connect(agent: &ureq::Agent, address: &str) -> Devtools {
        let version = agent.get(format!("http://{address}/json/version")).call().expect("the browser answers");
        let version: Value = version.into_body().read_json().expect("what it is");
        let url = version["webSocketDebuggerUrl"].as_str().expect("its protocol");
        let path = &url[url.find("/devtools/").expect("a path")..];
        let stream = TcpStream::connect(address).expect("the browser's port is open");
        stream.set_read_timeout(Some(ANSWER_TIME_MAX)).unwrap();
        let mut stream = BufReader::new(stream);
        write!(
            stream.get_mut(),
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dHVubmVsZGVzayB0ZXN0cw==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        .expect("the browser reads");
        let head = stream.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        assert!(head.collect::<String>().contains(" 101 "), "the browser speaks its protocol");
        Devtools { stream, last: 0 }
    }

    /// Sends a command and returns its outcome. Events are passed over.
    pub fn tell(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&json!({ "id": self.last, "method": method, "params": params }).to_string());
        loop {
            let said = self.receive();
            if said["id"] == self.last {
                assert!(said["error"].is_null(), "{method}: {said}");
                return said["result"].clone();
            }
        }
    }

    fn send(&mut self, text: &str) {
        // Blanks, so that all commands are of a length that is said in two bytes.
        let text = format!("{text:0$}", usize::from(SHORT));
        let length = u16::try_from(text.len()).expect("commands are short");
        let frame = [&[TEXT, MASKED | SHORT][..], &length.to_be_bytes(), &[0; 4], text.as_bytes()].concat();
        self.stream.get_mut().write_all(&frame).expect("the browser reads");
    }

    fn receive(&mut self) -> Value {
        let [_, length] = self.bytes();
        let length = match length {
            SHORT => u64::from(u16::from_be_bytes(self.bytes())),
            LONG => u64::from_be_bytes(self.bytes()),
            length => u64::from(length),
        };
        let mut text = String::new();
        self.stream.by_ref().take(length).read_to_string(&mut text).expect("the browser answers");
        serde_json::from_str(&text).expect("JSON")
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).expect("the browser answers");
        bytes
    }
}
