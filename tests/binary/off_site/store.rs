//! A real store that speaks S3 (SeaweedFS), behind a proxy that injects faults.

use super::oracle::LIMITS;
use crate::harness::Desk;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub const BUCKET: &str = "backups";
const KEY_ID: &str = "tunnel-1";
const SECRET: &str = "opensesame";
const START_TIME_MAX: Duration = Duration::from_secs(60);
/// The time that a waiting connection takes at most to notice a changed fault.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

pub struct Store {
    child: Child,
    ports: Vec<u16>,
    /// The port of the interface without signatures.
    filer: u16,
    gate: Gate,
    _dir: tempfile::TempDir,
}

/// The fault that requests meet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fault {
    None,
    /// Requests are refused with this status.
    Status(u16),
    /// Requests are never answered.
    Hang,
    /// Requests are carried out, but the answer to each PUT is lost.
    LoseAnswers,
}

struct Gate {
    port: u16,
    state: Arc<State>,
}

struct State {
    fault: Mutex<Fault>,
    /// The first lines of all requests that went through.
    asked: Mutex<Vec<String>>,
    lost: AtomicUsize,
    is_closed: AtomicBool,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Store {
    pub fn start() -> Store {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(Command::new(root.join("tests/install-seaweedfs")).stdout(Stdio::null()).status().unwrap().success());
        let dir = tempfile::tempdir().unwrap();
        let identity = json!({ "name": "site", "credentials": [{ "accessKey": KEY_ID, "secretKey": SECRET }],
                               "actions": ["Read", "Write", "List"] });
        std::fs::write(dir.path().join("s3.json"), json!({ "identities": [identity] }).to_string()).unwrap();
        let since = Instant::now();
        loop {
            let ports: Vec<u16> = (0..8).map(|_| free_port()).collect();
            let mut child = launch(root, dir.path(), &ports);
            while child.try_wait().unwrap().is_none() {
                assert!(since.elapsed() < START_TIME_MAX, "SeaweedFS does not start");
                let mut filer = Client { port: ports[4] };
                if filer.is_up() && (Client { port: ports[6] }).is_up() {
                    assert_eq!(filer.ask("POST", &format!("/buckets/{BUCKET}/")).0, 201);
                    let gate = Gate::open(ports[6]);
                    return Store { child, filer: ports[4], ports, gate, _dir: dir };
                }
                std::thread::sleep(LOOK_INTERVAL);
            }
            // Another process took one of the ports.
            remove_sockets(&ports);
        }
    }

    /// Sets a folder of this store as the site's off-site target.
    pub fn set(&self, desk: &Desk, secret: &str, more: &str) {
        std::fs::write(desk.path().join("secret"), format!("{secret}\n")).unwrap();
        let port = self.gate.port;
        let settings = format!(
            "{LIMITS}[backup]\noff_site = \"s3://{BUCKET}/tunnels/one\"\n{more}\n[replica]\nendpoint = \"http://127.0.0.1:{port}\"\n\
             key_id = \"{KEY_ID}\"\nsecret_file = \"secret\"\n"
        );
        std::fs::write(desk.path().join("tunneldesk.toml"), settings).unwrap();
    }

    pub fn secret() -> &'static str {
        SECRET
    }

    /// Sets the fault for all requests from now on, including those under way.
    pub fn fail(&self, fault: Fault) {
        *self.gate.state.fault.lock().unwrap() = fault;
    }

    pub fn answers_lost(&self) -> usize {
        self.gate.state.lost.load(Ordering::Relaxed)
    }

    /// Takes the requests recorded so far.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.gate.state.asked.lock().unwrap())
    }

    /// The names in one of the site's folders, in order.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let path = format!("/buckets/{BUCKET}/tunnels/one/{folder}?limit=100000");
        let (status, text) = Client { port: self.filer }.ask("GET", &path);
        if status == 404 {
            return Vec::new();
        }
        let said: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let name =
            |entry: &serde_json::Value| entry["FullPath"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let mut names: Vec<String> = said["Entries"].as_array().into_iter().flatten().map(name).collect();
        names.sort();
        names
    }

    /// The finished backups in the store, oldest first.
    pub fn bases(&self) -> Vec<String> {
        let is_whole = |name: &String| self.names(name).iter().any(|file| file == "manifest.json");
        self.names("").into_iter().filter(|name| !name.starts_with('.')).filter(is_whole).collect()
    }

    /// The paths of the ticks of the newest base.
    pub fn ticks(&self) -> Vec<String> {
        let Some(base) = self.bases().pop() else { return Vec::new() };
        self.names(&format!("{base}/ticks")).into_iter().map(|tick| format!("{base}/ticks/{tick}")).collect()
    }

    /// Puts an empty file, as this store keeps one for a connection that broke before the first byte.
    pub fn put_empty(&self, path: &str) {
        self.put_unsigned(path, "");
    }

    /// Puts an unsigned file of another machine.
    pub fn put_foreign(&self, path: &str) {
        self.put_unsigned(path, "another's");
    }

    fn put_unsigned(&self, path: &str, text: &str) {
        let url = format!("http://127.0.0.1:{}/buckets/{BUCKET}/tunnels/one/{path}", self.filer);
        ureq::put(&url).config().proxy(None).timeout_global(Some(START_TIME_MAX)).build().send(text).unwrap();
    }

    /// Removes a file without the site's knowledge.
    pub fn remove(&self, path: &str) {
        let path = format!("/buckets/{BUCKET}/tunnels/one/{path}?recursive=true");
        let (status, text) = Client { port: self.filer }.ask("DELETE", &path);
        assert!(matches!(status, 200..=204 | 404), "{status} {text}");
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        remove_sockets(&self.ports);
    }
}

/// Removes the sockets that SeaweedFS makes in the system's directory for temporary files and leaves there.
fn remove_sockets(ports: &[u16]) {
    for (part, port) in
        ["master", "volume", "filer", "s3"].iter().flat_map(|part| ports.iter().map(move |port| (part, port)))
    {
        _ = std::fs::remove_file(format!("/tmp/seaweedfs-{part}-grpc-{port}.sock"));
    }
}

fn launch(root: &Path, dir: &Path, ports: &[u16]) -> Child {
    let mut command = Command::new(root.join("target/seaweedfs/python/bin/weed"));
    let names = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc"];
    let names = names.into_iter().chain(["filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc"]);
    let ports = names.zip(ports).map(|(name, port)| format!("-{name}={port}"));
    command.args([
        "-logtostderr=true",
        "server",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-filer",
        "-s3",
        "-s3.iam=false",
    ]);
    command.args(["-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20", "-s3.port.iceberg=0"]);
    command.args(["-filer.localSocket=filer.sock", "-s3.localSocket=s3.sock"]).env("TMPDIR", dir);
    command.args(["-s3.port.lance=0", "-s3.config=s3.json", "-dir=."]);
    command.args(["-master.electionTimeout=1s", "-master.heartbeatInterval=100ms"]).args(ports).current_dir(dir);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

struct Client {
    port: u16,
}

impl Client {
    fn is_up(&mut self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    fn ask(&mut self, method: &str, path: &str) -> (u16, String) {
        let request = ureq::http::Request::builder().method(method).header("accept", "application/json");
        let request = request.uri(format!("http://127.0.0.1:{}{path}", self.port)).body(()).unwrap();
        let agent = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(START_TIME_MAX));
        let agent: ureq::Agent = agent.proxy(None).build().into();
        let mut answer = agent.run(request).unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    }
}

impl Gate {
    fn open(behind: u16) -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            fault: Mutex::new(Fault::None),
            asked: Mutex::default(),
            lost: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
        });
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.is_closed.load(Ordering::Relaxed) {
                    return;
                }
                let state = shared.clone();
                std::thread::spawn(move || _ = serve(stream, behind, &state));
            }
        });
        Gate { port, state }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::Relaxed);
        _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl State {
    /// Whether a connection that began under this fault continues.
    fn stands(&self, fault: Fault) -> bool {
        *self.fault.lock().unwrap() == fault && !self.is_closed.load(Ordering::Relaxed)
    }

    fn note(&self, piece: &[u8]) {
        let text = String::from_utf8_lossy(&piece[..piece.len().min(400)]).into_owned();
        let line = text.lines().next().filter(|line| line.contains(" HTTP/1.1"));
        self.asked.lock().unwrap().extend(line.map(str::to_owned));
    }
}

/// Reads what arrives within a moment. `None`: nothing arrived.
fn read(from: &mut TcpStream, piece: &mut [u8]) -> std::io::Result<Option<usize>> {
    match from.read(piece) {
        Ok(0) => Err(std::io::ErrorKind::UnexpectedEof.into()),
        Ok(read) => Ok(Some(read)),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Serves one connection until the fault changes or a side closes it.
fn serve(mut from: TcpStream, behind: u16, state: &State) -> std::io::Result<()> {
    let fault = *state.fault.lock().unwrap();
    from.set_read_timeout(Some(LOOK_INTERVAL))?;
    let mut to = TcpStream::connect(("127.0.0.1", behind))?;
    let mut piece = vec![0; 64 * 1024];
    if fault == Fault::None {
        let (mut answers, mut back) = (to.try_clone()?, from.try_clone()?);
        std::thread::spawn(move || {
            _ = std::io::copy(&mut answers, &mut back);
            _ = back.shutdown(Shutdown::Both);
        });
    }
    to.set_read_timeout(if fault == Fault::None { None } else { Some(LOOK_INTERVAL / 4) })?;
    let mut is_put = false;
    while state.stands(fault) {
        let asked = read(&mut from, &mut piece)?;
        match (fault, asked) {
            (Fault::None, Some(read)) => {
                state.note(&piece[..read]);
                to.write_all(&piece[..read])?;
            }
            (Fault::Status(status), Some(_)) => {
                let text = "<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>";
                let length = text.len();
                let head =
                    format!("HTTP/1.1 {status} Trouble\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
                from.write_all(format!("{head}{text}").as_bytes())?;
                return from.shutdown(Shutdown::Both);
            }
            (Fault::LoseAnswers, Some(read)) => {
                is_put = piece.starts_with(b"PUT ")
                    || (is_put && !piece.starts_with(b"GET ") && !piece.starts_with(b"HEAD "));
                to.write_all(&piece[..read])?;
            }
            (Fault::LoseAnswers, None) => {
                if let Some(answered) = read(&mut to, &mut piece)? {
                    if is_put {
                        state.lost.fetch_add(1, Ordering::Relaxed);
                        return from.shutdown(Shutdown::Both);
                    }
                    from.write_all(&piece[..answered])?;
                }
            }
            (Fault::None | Fault::Status(_), None) | (Fault::Hang, _) => {}
        }
    }
    to.shutdown(Shutdown::Both)?;
    from.shutdown(Shutdown::Both)
}
