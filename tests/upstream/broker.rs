//! A real NATS server with JetStream, and a small client of our own to look into it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

pub const STREAM: &str = "HISTORY";

pub struct Broker {
    child: Child,
    pub port: u16,
    dir: tempfile::TempDir,
}

/// One message of the stream.
pub struct Stored {
    pub headers: String,
    pub body: Vec<u8>,
}

impl Broker {
    /// With these lines in its configuration.
    pub fn start(lines: &str) -> Broker {
        let dir = tempfile::tempdir().unwrap();
        let (child, port) = launch(dir.path(), -1, lines);
        Broker { child, port, dir }
    }

    /// Kills it, and starts it again on the same port, with what it has stored.
    pub fn restart(&mut self, lines: &str) {
        self.stop();
        self.child = launch(self.dir.path(), i32::from(self.port), lines).0;
    }

    pub fn stop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Makes the stream.
    pub fn add_stream(&self, more: Value) {
        let mut config =
            json!({ "name": STREAM, "subjects": ["tunnels.>"], "storage": "file", "duplicate_window": 100_000_000 });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.ask(&format!("$JS.API.STREAM.CREATE.{STREAM}"), &config);
        assert!(answer["error"].is_null(), "{answer}");
    }

    pub fn ask(&self, subject: &str, body: &Value) -> Value {
        ask(&mut self.connect(), subject, body)
    }

    /// Stores a message without a body on a subject, as another client would.
    pub fn publish(&self, subject: &str, headers: &[(&str, &str)]) {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("NATS/1.0\r\n{lines}\r\n");
        let message = format!("HPUB {subject} {0} {0}\r\n{head}\r\nPING\r\n", head.len());
        let mut client = self.connect();
        client.get_mut().write_all(message.as_bytes()).unwrap();
        let mut line = String::new();
        while line.trim_end() != "PONG" {
            line.clear();
            assert!(client.read_line(&mut line).unwrap() > 0, "the server closed");
        }
    }

    /// Everything in the stream, in its order.
    pub fn messages(&self) -> Vec<Stored> {
        let mut client = self.connect();
        let state = ask(&mut client, &format!("$JS.API.STREAM.INFO.{STREAM}"), &json!({}))["state"].clone();
        let (first, last) = (state["first_seq"].as_u64().unwrap(), state["last_seq"].as_u64().unwrap());
        let get = |seq| {
            let answer = ask(&mut client, &format!("$JS.API.STREAM.MSG.GET.{STREAM}"), &json!({ "seq": seq }));
            let part = |name: &str| STANDARD.decode(answer["message"][name].as_str().unwrap_or_default()).unwrap();
            Stored { headers: String::from_utf8(part("hdrs")).unwrap(), body: part("data") }
        };
        (first..=last).map(get).collect()
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        let mut info = String::new();
        stream.read_line(&mut info).unwrap();
        let hello =
            "CONNECT {\"verbose\":false,\"headers\":true,\"user\":\"admin\",\"pass\":\"admin\"}\r\nSUB answers 1\r\n";
        stream.get_mut().write_all(hello.as_bytes()).unwrap();
        stream
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Stored {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name).map(|(_, v)| v)
    }
}

fn ask(client: &mut BufReader<TcpStream>, subject: &str, body: &Value) -> Value {
    let body = body.to_string();
    client.get_mut().write_all(format!("PUB {subject} answers {}\r\n{body}\r\n", body.len()).as_bytes()).unwrap();
    loop {
        let mut line = String::new();
        assert!(client.read_line(&mut line).unwrap() > 0, "the server closed");
        if line.starts_with("PING") {
            client.get_mut().write_all(b"PONG\r\n").unwrap();
        } else if line.starts_with("MSG ") {
            let mut bytes = vec![0; line.trim_end().rsplit(' ').next().unwrap().parse::<usize>().unwrap() + 2];
            client.read_exact(&mut bytes).unwrap();
            return serde_json::from_slice(&bytes).unwrap();
        } else {
            assert!(!line.starts_with("-ERR"), "{line}");
        }
    }
}

fn launch(dir: &Path, port: i32, lines: &str) -> (Child, u16) {
    let store = dir.join("store");
    let config = format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n{lines}\n", store.display());
    let path = dir.join("server.conf");
    std::fs::write(&path, config).unwrap();
    let mut child = Command::new(program()).arg("-c").arg(&path).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let (mut said, mut found) = (String::new(), None);
    while !said.contains("Server is ready") {
        assert!(log.read_line(&mut said).unwrap() > 0, "the server did not start: {said}");
    }
    for line in said.lines().filter(|line| line.contains("Listening for client connections on")) {
        found = line.rsplit(':').next().and_then(|port| port.trim().parse().ok());
    }
    // Whatever else it says goes nowhere, but must be read.
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    (child, found.unwrap_or_else(|| panic!("no port: {said}")))
}

/// Where `tests/install-nats` puts it; it is run when nobody did.
fn program() -> PathBuf {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    INSTALLED.get_or_init(|| {
        let installed = Command::new(root.join("tests/install-nats")).output().unwrap();
        assert!(installed.status.success(), "tests/install-nats: {}", String::from_utf8_lossy(&installed.stderr));
    });
    root.join("target/nats/nats-server")
}
