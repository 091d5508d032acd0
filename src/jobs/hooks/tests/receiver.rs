//! A server that takes webhooks, or fails at it in every way.

use crate::clock::Clock;
use crate::moment::Moment;
use crate::ops::tls::authority::IssuedCertificate;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use socket2::SockRef;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request that the receiver read.
#[derive(Debug, Clone)]
pub(super) struct Got {
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
    /// The site's clock.
    pub(super) now: Moment,
}

impl Got {
    pub(super) fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub(super) fn seq(&self) -> i64 {
        self.id().rsplit('-').next().unwrap().parse().unwrap()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(super) fn booking(&self) -> i64 {
        self.json()["data"]["booking_id"].as_i64().unwrap_or(0)
    }

    pub(super) fn is_test(&self) -> bool {
        self.json()["type"] == "test"
    }
}

/// What the receiver does with a request.
#[derive(Debug, Clone)]
pub(super) enum Does {
    Answers(&'static str),
    /// Answers with this header too.
    AnswersWith(&'static str, String),
    /// Closes the connection, having taken the event or not.
    Closes {
        taken: bool,
    },
    /// Resets the connection.
    Resets,
    /// Answers after this time, having taken the event.
    AnswersAfter(Duration),
    /// Sends its answer twice.
    AnswersTwice,
    /// Begins an answer and never ends it.
    Drips,
    Hangs,
}

pub(super) const OK: Does = Does::Answers("204 No Content");

/// A receiver, and the requests that it took.
pub(super) struct Receiver {
    pub(super) url: String,
    pub(super) address: SocketAddr,
    taken: Arc<Mutex<Vec<Got>>>,
    all: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    /// Opens one at an address. `plan` says what it does with the request of a number.
    pub(super) fn open(at: &str, clock: Arc<Clock>, plan: impl Fn(usize) -> Does + Send + 'static) -> Receiver {
        let listener = TcpListener::bind(at).unwrap();
        let address = listener.local_addr().unwrap();
        let (taken, all) = (Arc::<Mutex<Vec<Got>>>::default(), Arc::<Mutex<Vec<Got>>>::default());
        let (takes, sees) = (taken.clone(), all.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, takes, clock) = (stream.unwrap(), takes.clone(), clock.clone());
                let Some(got) = read(&stream, clock.now()) else { continue };
                let number = {
                    let mut all = sees.lock().unwrap();
                    all.push(got.clone());
                    all.len() - 1
                };
                let does = plan(number);
                thread::spawn(move || does.run(stream, got, &takes));
            }
        });
        Receiver { url: format!("http://{address}/hook"), address, taken, all }
    }

    pub(super) fn taken(&self) -> Vec<Got> {
        self.taken.lock().unwrap().clone()
    }

    pub(super) fn all(&self) -> Vec<Got> {
        self.all.lock().unwrap().clone()
    }
}

impl Does {
    fn run(self, mut stream: TcpStream, got: Got, takes: &Mutex<Vec<Got>>) {
        let take = || takes.lock().unwrap().push(got.clone());
        let answer = |status: &str, more: &str| {
            format!("HTTP/1.1 {status}\r\n{more}content-length: 0\r\nconnection: close\r\n\r\n")
        };
        match self {
            Does::Answers(status) => {
                if status.starts_with('2') {
                    take();
                }
                _ = stream.write_all(answer(status, "").as_bytes());
            }
            Does::AnswersWith(status, more) => _ = stream.write_all(answer(status, &format!("{more}\r\n")).as_bytes()),
            Does::Closes { taken } => {
                if taken {
                    take();
                }
            }
            Does::Resets => _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO)),
            Does::AnswersAfter(time) => {
                take();
                thread::sleep(time);
                _ = stream.write_all(answer("200 OK", "").as_bytes());
            }
            Does::AnswersTwice => {
                take();
                _ = stream.write_all(answer("200 OK", "").repeat(2).as_bytes());
            }
            Does::Drips => {
                for byte in b"HTTP/1.1 200 OK\r\nx-slow: ".iter().chain([b'.'; 200].iter()) {
                    if stream.write_all(&[*byte]).is_err() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(50));
                }
            }
            Does::Hangs => thread::sleep(Duration::from_secs(20)),
        }
    }
}

fn read(stream: &TcpStream, now: Moment) -> Option<Got> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Got { headers, body: String::from_utf8(body).ok()?, now })
}

/// A server with this certificate that passes requests on to a receiver; returns its address.
pub(super) fn behind_tls(receiver: &Receiver, signed: &IssuedCertificate) -> String {
    let chain = vec![CertificateDer::from_pem_slice(signed.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::Pkcs8(signed.key.clone().into());
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let (config, to) = (Arc::new(config), receiver.address);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/hook", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut secure = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream.unwrap());
            let mut request = vec![0; 64 * 1024];
            let mut got = 0;
            // A client that refuses the certificate sends no request.
            while !request[..got].ends_with(b"}") {
                match secure.read(&mut request[got..]) {
                    Ok(more) if more > 0 => got += more,
                    _ => break,
                }
            }
            if got > 0 {
                let (mut plain, mut answer) = (TcpStream::connect(to).unwrap(), Vec::new());
                plain.write_all(&request[..got]).unwrap();
                plain.read_to_end(&mut answer).unwrap();
                secure.write_all(&answer).unwrap();
                secure.conn.send_close_notify();
                _ = secure.flush();
            }
        }
    });
    url
}
