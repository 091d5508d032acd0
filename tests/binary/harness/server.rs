//! A running server: its addresses, its log, and the ways to end it.

use super::http::{self, Answer, Caller, Client};
use super::log::Log;
use serde_json::Value;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Server {
    child: Child,
    pub address: SocketAddr,
    pub metrics_address: SocketAddr,
    pub log: Log,
    out: Log,
}

/// How a server ended.
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    /// The lines of its log.
    pub log: Vec<String>,
    pub took: Duration,
}

impl Server {
    /// Starts `serve` on ports that the system chooses, and returns once the server listens.
    pub fn start(command: Command) -> Server {
        Server::try_start(command).unwrap_or_else(|ended| panic!("did not start: {}", ended.log.join("\n")))
    }

    /// As [`Server::start`], where a start may fail. The error is the outcome of the failed start.
    pub fn try_start(mut command: Command) -> Result<Server, Ended> {
        command.env("TUNNELDESK_LISTEN", "127.0.0.1:0").env("TUNNELDESK_METRICS_LISTEN", "127.0.0.1:0");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Log::follow(child.stderr.take().unwrap());
        let out = Log::follow(child.stdout.take().unwrap());
        let address = |message| {
            let line = log.wait_for(message)?;
            super::text(&line["address"]).parse().ok()
        };
        match (address("listening"), address("listening for metrics")) {
            (Some(address), Some(metrics_address)) => Ok(Server { child, address, metrics_address, log, out }),
            _ => {
                let code = child.wait().unwrap().code();
                Err(Ended { code, out: out.whole().join("\n"), log: log.whole(), took: Duration::ZERO })
            }
        }
    }

    pub fn process_id(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    pub fn get(&self, caller: &Caller, path: &str) -> Answer {
        self.client().get(caller, path)
    }

    pub fn post(&self, caller: &Caller, path: &str, body: &Value) -> Answer {
        self.client().post(caller, path, body)
    }

    pub fn sign_in(&self, username: &str, password: &str) -> Caller {
        let answer = self.client().sign_in(username, password);
        assert_eq!(answer["status"], true, "{answer}");
        Caller::session(super::text(&answer["token"]))
    }

    /// The value of a metric in `/metrics`.
    pub fn figure(&self, name: &str) -> u64 {
        let text = Client::new(self.metrics_address).get(&Caller::Anyone, "/metrics").body;
        let number = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        number.unwrap_or_else(|| panic!("no {name} among the figures"))
    }

    /// A raw connection to the server.
    pub fn connect(&self) -> TcpStream {
        http::connect(self.address).unwrap()
    }

    pub fn terminate(&self) {
        self.signal(libc::SIGTERM);
    }

    pub fn hang_up(&self) {
        self.signal(libc::SIGHUP);
    }

    /// Kills the server as a power cut would: nothing is flushed and no client gets an answer.
    pub fn kill(&self) {
        self.signal(libc::SIGKILL);
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: the process is our child and has not been waited for, so the number is still its own.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    /// Stops the server as a service manager does.
    pub fn stop(self) -> Ended {
        self.terminate();
        self.ended()
    }

    /// Waits for the end of the process; the server itself limits how long that takes.
    pub fn ended(mut self) -> Ended {
        let since = Instant::now();
        // Both outputs are closed when the process ends.
        _ = self.log.whole();
        let code = self.child.wait().unwrap().code();
        Ended { code, out: self.out.whole().join("\n"), log: self.log.whole(), took: since.elapsed() }
    }

    /// Writes raw bytes on a new connection and reads one answer.
    pub fn raw(&self, bytes: &[u8]) -> std::io::Result<Answer> {
        let mut stream = self.connect();
        // The server may refuse and close before it has read the whole request.
        _ = stream.write_all(bytes);
        http::read_answer(&mut BufReader::new(stream))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Reads answers from a connection until the server closes it.
pub fn answers_until_close(stream: TcpStream) -> Vec<Answer> {
    let mut stream = BufReader::new(stream);
    let answers = std::iter::from_fn(|| http::read_answer(&mut stream).ok()).collect();
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "the connection is still open");
    answers
}
