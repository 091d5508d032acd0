//! One connection to a NATS server: requests and their answers.

use super::login;
use crate::bounded::{Bounded, Exchange};
use crate::config::Nats;
use crate::jobs::sync::upstream::{Trouble, error_line};
use crate::keys::{hex, random};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);
/// The greatest time for one answer, including keep-alives before it.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
const LINE_BYTES_MAX: u64 = 64 * 1024;
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most that is read for one answer: a message, and keep-alives before it.
const EXCHANGE_BYTES_MAX: u64 = 2 * MESSAGE_BYTES_MAX as u64;

pub(super) struct Wire {
    stream: BufReader<Stream>,
    /// The limits of the request in progress, or of the login.
    exchange: Exchange,
    /// The subject prefix of replies; each request appends its number.
    inbox: String,
    requests: u64,
    /// The greatest size of a message with its headers.
    pub payload_max: usize,
}

enum Stream {
    Plain(Bounded),
    Tls(Box<StreamOwned<ClientConnection, Bounded>>),
}

#[derive(Debug)]
pub(super) struct Message {
    /// The status of a reply that the server itself generated.
    pub status: Option<u16>,
    pub body: Vec<u8>,
}

#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    tls_required: bool,
    #[serde(default)]
    headers: bool,
    nonce: Option<String>,
    max_payload: usize,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}

impl Wire {
    /// Connects and authenticates. `authority`: PEM certificates that are trusted instead of the public ones.
    pub(super) fn connect(server: &Nats, authority: Option<&[u8]>) -> Result<Wire, Trouble> {
        let exchange = Exchange::begin(CONNECT_TIME_MAX + ANSWER_TIME_MAX, EXCHANGE_BYTES_MAX);
        let plain = Bounded::new(dial(server)?, exchange.clone());
        let mut first = BufReader::with_capacity(1, plain);
        let line = read_line(&mut first)?;
        let info: Info = line
            .strip_prefix("INFO ")
            .and_then(|json| serde_json::from_str(json).ok())
            .ok_or_else(|| Trouble::later("the server there is not a NATS server"))?;
        if !info.headers {
            return Err(Trouble::later("this NATS server is too old: it must be 2.2 or later, with headers"));
        }
        // The buffer is one byte, so that no byte of the handshake is left in it.
        let plain = first.into_inner();
        let stream = if server.tls || info.tls_required {
            Stream::Tls(Box::new(tls(&server.host, plain, authority)?))
        } else {
            Stream::Plain(plain)
        };
        let inbox = format!("_INBOX.{}", hex(&random::<12>()));
        let mut wire =
            Wire { stream: BufReader::new(stream), exchange, inbox, requests: 0, payload_max: info.max_payload };
        wire.handshake(server, &info)?;
        Ok(wire)
    }

    fn handshake(&mut self, server: &Nats, info: &Info) -> Result<(), Trouble> {
        let mut hello = json!({ "verbose": false, "pedantic": false, "tls_required": server.tls, "lang": "rust",
            "version": crate::VERSION, "name": "tunneldesk", "protocol": 1, "headers": true, "no_responders": true });
        let credentials = match &server.credentials_file {
            Some(file) => crate::files::read_given_text(file)
                .map_err(|e| Trouble::later(format!("cannot read {}: {e}", file.display())))?,
            None => String::new(),
        };
        let fields = login::fields(&credentials, info.nonce.as_deref()).map_err(Trouble::later)?;
        if let (Value::Object(hello), Value::Object(fields)) = (&mut hello, fields) {
            hello.extend(fields);
        }
        self.write(format!("CONNECT {hello}\r\nSUB {}.* 1\r\nPING\r\n", self.inbox).as_bytes())?;
        let until = Instant::now() + ANSWER_TIME_MAX;
        while Instant::now() < until {
            match self.line()?.as_str() {
                "PONG" => return Ok(()),
                line => self.handle(line)?,
            }
        }
        Err(timed_out())
    }

    /// Publishes a message, and waits for its answer.
    pub(super) fn request(
        &mut self,
        subject: &str,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> Result<Message, Trouble> {
        self.exchange.begin_next(ANSWER_TIME_MAX, EXCHANGE_BYTES_MAX);
        self.requests += 1;
        let reply = format!("{}.{}", self.inbox, self.requests);
        let mut bytes = Vec::with_capacity(body.len() + 1024);
        if headers.is_empty() {
            bytes.extend(format!("PUB {subject} {reply} {}\r\n", body.len()).into_bytes());
        } else {
            let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let head = format!("NATS/1.0\r\n{lines}\r\n");
            let total = head.len() + body.len();
            bytes.extend(format!("HPUB {subject} {reply} {} {total}\r\n{head}", head.len()).into_bytes());
        }
        bytes.extend(body);
        bytes.extend(b"\r\n");
        self.write(&bytes)?;
        let until = Instant::now() + ANSWER_TIME_MAX;
        while Instant::now() < until {
            let line = self.line()?;
            if !(line.starts_with("MSG ") || line.starts_with("HMSG ")) {
                self.handle(&line)?;
            } else if let Some(message) = self.message(&line, &reply)? {
                return Ok(message);
            }
        }
        Err(timed_out())
    }

    /// Reads the message that a line announces. `None`: a reply to an earlier request.
    fn message(&mut self, line: &str, reply: &str) -> Result<Option<Message>, Trouble> {
        let garbled = || Trouble::later("the NATS server's answer cannot be read");
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |word: Option<&&str>| word.and_then(|w| w.parse::<usize>().ok()).ok_or_else(garbled);
        let with_headers = words[0] == "HMSG";
        let total = number(words.last())?;
        let head = if with_headers { number(words.iter().rev().nth(1))? } else { 0 };
        if total > MESSAGE_BYTES_MAX || head > total {
            return Err(garbled());
        }
        let mut bytes = vec![0; total + 2];
        self.stream.read_exact(&mut bytes).map_err(lost)?;
        bytes.truncate(total);
        let body = bytes.split_off(head);
        let status = String::from_utf8_lossy(&bytes).split_ascii_whitespace().nth(1).and_then(|word| word.parse().ok());
        Ok((words.get(1) == Some(&reply)).then_some(Message { status, body }))
    }

    /// Handles a line that the server sends between replies.
    fn handle(&mut self, line: &str) -> Result<(), Trouble> {
        if line == "PING" {
            return self.write(b"PONG\r\n");
        }
        match line.strip_prefix("-ERR") {
            Some(error) => Err(Trouble::later(format!("the NATS server says {}", error_line(error)))),
            None => Ok(()),
        }
    }

    fn line(&mut self) -> Result<String, Trouble> {
        read_line(&mut self.stream)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let stream = self.stream.get_mut();
        stream.write_all(bytes).and_then(|()| stream.flush()).map_err(lost)
    }
}

/// The value of a header in a stored message.
pub(super) fn header<'h>(headers: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = headers.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn dial(server: &Nats) -> Result<TcpStream, Trouble> {
    let failed = |e: std::io::Error| Trouble::later(format!("{}:{} is not reached: {e}", server.host, server.port));
    let addresses = (server.host.as_str(), server.port).to_socket_addrs().map_err(failed)?;
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT_TIME_MAX) {
            Ok(stream) => {
                return stream.set_nodelay(true).map(|()| stream).map_err(failed);
            }
            Err(e) => last = e,
        }
    }
    Err(failed(last))
}

fn tls(
    host: &str,
    stream: Bounded,
    authority: Option<&[u8]>,
) -> Result<StreamOwned<ClientConnection, Bounded>, Trouble> {
    let mut roots = RootCertStore::empty();
    match authority {
        Some(pem) => {
            let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
            roots.add_parsable_certificates(certificates.map_err(|_| Trouble::later("sync.ca_file cannot be used"))?);
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let unset = |e: rustls::Error| Trouble::later(format!("cannot set up TLS: {e}"));
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(unset)?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name =
        ServerName::try_from(host.to_owned()).map_err(|_| Trouble::later(format!("{host} is not a host name")))?;
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(unset)?;
    let mut stream = stream;
    // The handshake is completed before anything secret is sent.
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(|e| Trouble::later(format!("TLS with {host} failed: {e}")))?;
    }
    Ok(StreamOwned::new(connection, stream))
}

fn read_line(stream: &mut impl BufRead) -> Result<String, Trouble> {
    let mut line = String::new();
    let read = stream.take(LINE_BYTES_MAX).read_line(&mut line).map_err(lost)?;
    if read == 0 || !line.ends_with('\n') {
        return Err(Trouble::later("the NATS server closed the connection"));
    }
    Ok(line.trim_end().to_owned())
}

fn lost(error: std::io::Error) -> Trouble {
    match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => timed_out(),
        _ => Trouble::later(format!("the connection to the NATS server is lost: {error}")),
    }
}

fn timed_out() -> Trouble {
    Trouble::later("the NATS server does not answer: may the account publish to this subject and to $JS.API.STREAM.…?")
}
