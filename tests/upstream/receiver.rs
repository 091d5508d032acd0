//! A receiver over HTTP on loopback that loses, delays, repeats and refuses as it is told.

use super::book::Book;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;
use tunneldesk::keys::{hex, hmac_sha256};

const PATIENCE: Duration = Duration::from_secs(60);

/// A fault in place of a sound answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The request is lost on its way.
    LoseRequest,
    /// The request is taken, and the answer is lost.
    LoseAnswer,
    /// The request is delayed, and arrives after the next one.
    Delay,
    /// The request arrives twice.
    Repeat,
    /// The request gets this status, with these headers and this body, and is not taken.
    Say(u16, &'static str, &'static str),
}

#[derive(Default)]
pub struct State {
    pub book: Book,
    pub faults: VecDeque<Fault>,
    /// Secrets in force.
    pub secrets: Vec<String>,
    /// Headers of the requests, lower case, in the order in which they came.
    pub seen: Vec<BTreeMap<String, String>>,
    delayed: Vec<Vec<u8>>,
}

pub struct Receiver {
    pub address: SocketAddr,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Receiver {
    pub fn open() -> Receiver {
        Receiver::start("127.0.0.1:0", None)
    }

    /// Behind TLS, with the certificate in `dir` (`server.pem`, `server.key`).
    pub fn open_tls(dir: &Path) -> Receiver {
        Receiver::open_tls_at("127.0.0.1:0", dir)
    }

    pub fn open_tls_at(address: &str, dir: &Path) -> Receiver {
        let chain = CertificateDer::pem_file_iter(dir.join("server.pem")).unwrap().map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(dir.join("server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Receiver::start(address, Some(Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap())))
    }

    fn start(address: &str, tls: Option<Arc<rustls::ServerConfig>>) -> Receiver {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        shared.0.lock().unwrap().secrets.push("partner-secret".to_owned());
        let for_threads = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (shared, tls) = (for_threads.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    None => _ = converse(stream, &shared),
                    Some(tls) => {
                        let session = rustls::ServerConnection::new(tls).unwrap();
                        _ = converse(rustls::StreamOwned::new(session, stream), &shared);
                    }
                });
            }
        });
        Receiver { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap()
    }

    pub fn will(&self, faults: &[Fault]) {
        self.state().faults.extend(faults.iter().cloned());
    }

    /// Until what it holds is as wanted.
    pub fn wait_until(&self, done: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let (state, changed) = &*self.shared;
        let (state, late) = changed.wait_timeout_while(state.lock().unwrap(), PATIENCE, |state| !done(state)).unwrap();
        assert!(!late.timed_out(), "it did not come to that; held: {}", state.book.rows.len());
        state
    }
}

/// Requests of one connection, until somebody closes it.
fn converse(stream: impl Read + Write, shared: &(Mutex<State>, Condvar)) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (headers, body) = read_request(&mut stream)?;
        let mut state = shared.0.lock().unwrap();
        let answer = state.answer(headers, &body);
        drop(state);
        shared.1.notify_all();
        match answer {
            Some((status, headers, body)) => {
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
                stream.get_mut().write_all(format!("{head}{body}").as_bytes())?;
                stream.get_mut().flush()?;
            }
            None => return Ok(()),
        }
    }
}

fn read_request(stream: &mut impl BufRead) -> io::Result<(BTreeMap<String, String>, Vec<u8>)> {
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) => _ = headers.insert(name.to_lowercase(), value.to_owned()),
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body)?;
    Ok((headers, body))
}

impl State {
    /// `None`: the connection is closed without a word.
    fn answer(&mut self, headers: BTreeMap<String, String>, body: &[u8]) -> Option<(u16, String, String)> {
        assert_eq!(headers.get("content-encoding").map(String::as_str), Some("gzip"));
        let stamp = headers.get("x-timestamp").map(|stamp| format!("{stamp}.")).unwrap_or_default();
        let sound = |secret: &String| {
            headers.get("token") == Some(&hex(&hmac_sha256(secret.as_bytes(), &[stamp.as_bytes(), body])))
        };
        let known = self.secrets.iter().any(sound);
        self.seen.push(headers);
        let fair = |state: &mut State| {
            let (status, said) = state.book.take(body);
            Some((status, String::new(), said.to_string()))
        };
        if !known {
            return Some((401, String::new(), r#"{"message": "who are you?"}"#.to_owned()));
        }
        match self.faults.pop_front() {
            Some(Fault::LoseRequest) => None,
            Some(Fault::LoseAnswer) => fair(self).and(None),
            Some(Fault::Delay) => {
                self.delayed.push(body.to_owned());
                None
            }
            Some(Fault::Repeat) => {
                fair(self);
                fair(self)
            }
            Some(Fault::Say(status, headers, body)) => Some((status, headers.to_owned(), body.to_owned())),
            None => {
                let answer = fair(self);
                for body in std::mem::take(&mut self.delayed) {
                    self.book.take(&body);
                }
                answer
            }
        }
    }
}
