//! HTTP by hand, so that no library retries or corrects anything unseen.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tunneldesk::keys::{hex, hmac_sha256};

const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// One client with one connection, opened when needed and kept.
pub struct Client {
    pub address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

/// The credentials of a request.
#[derive(Clone)]
pub enum Caller {
    Anyone,
    Session(String),
    Partner { client_id: String, secret: String },
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Client {
    pub fn new(address: SocketAddr) -> Client {
        Client { address, stream: None }
    }

    /// Sends a request and reads its answer. After an error it is unknown whether the request took effect.
    pub fn send(&mut self, request: &[u8]) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(connect(self.address)?),
        };
        stream.get_mut().write_all(request)?;
        let answer = read_answer(&mut stream)?;
        if answer.header("connection") != Some("close") {
            self.stream = Some(stream);
        }
        Ok(answer)
    }

    pub fn call(
        &mut self,
        caller: &Caller,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> io::Result<Answer> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        caller.sign(&mut head, &body);
        if let Some(key) = key {
            head += &format!("idempotency-key: {key}\r\n");
        }
        if !body.is_empty() {
            head += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        }
        self.send(format!("{head}\r\n{body}").as_bytes())
    }

    pub fn get(&mut self, caller: &Caller, path: &str) -> Answer {
        self.call(caller, "GET", path, None, &Value::Null).unwrap()
    }

    pub fn post(&mut self, caller: &Caller, path: &str, body: &Value) -> Answer {
        self.call(caller, "POST", path, None, body).unwrap()
    }

    pub fn put(&mut self, caller: &Caller, path: &str, body: &Value) -> Answer {
        self.call(caller, "PUT", path, None, body).unwrap()
    }

    /// Every row of a list, page by page.
    pub fn list(&mut self, caller: &Caller, path: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        loop {
            let page = self.get(caller, &format!("{path}?limit=500&offset={}", rows.len())).ok();
            let more = page.as_array().unwrap();
            rows.extend_from_slice(more);
            if more.len() < 500 {
                return rows;
            }
        }
    }

    pub fn sign_in(&mut self, username: &str, password: &str) -> Value {
        let body = serde_json::json!({"username": username, "password": password});
        self.post(&Caller::Anyone, "/api/auth/login", &body).ok()
    }
}

impl Caller {
    pub fn session(token: &str) -> Caller {
        Caller::Session(token.to_owned())
    }

    pub fn partner(client_id: &str, secret: &str) -> Caller {
        Caller::Partner { client_id: client_id.to_owned(), secret: secret.to_owned() }
    }

    /// Adds the header lines of the caller's credentials, for this body.
    pub fn sign(&self, head: &mut String, body: &str) {
        match self {
            Caller::Anyone => {}
            Caller::Session(token) => *head += &format!("token: {token}\r\n"),
            Caller::Partner { client_id, secret } => {
                let token = hex(&hmac_sha256(secret.as_bytes(), &[body.as_bytes()]));
                *head += &format!("client-id: {client_id}\r\ntoken: {token}\r\n");
            }
        }
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The body of an answer, which must be a success.
    pub fn ok(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.json()
    }

    pub fn refused(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }
}

pub fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
    stream.set_write_timeout(Some(ANSWER_TIME_MAX))?;
    Ok(stream)
}

/// Reads one answer from a connection.
pub fn read_answer(stream: &mut impl BufRead) -> io::Result<Answer> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let status = head.get(9..12).and_then(|digits| digits.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    let mut answer = Answer { status, head, body: String::new() };
    let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    answer.body = String::from_utf8(body).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(answer)
}
