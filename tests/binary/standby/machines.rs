//! The machines of the standby tests: one with a site, one that follows it, and the network between them.

use crate::harness::Desk;
use crate::off_site::oracle::LIMITS;
use crate::off_site::until;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The token file that both machines use.
pub struct Token(tempfile::NamedTempFile);

impl Token {
    pub fn new() -> Token {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{}", "4f".repeat(32)).unwrap();
        Token(file)
    }

    pub fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    pub fn open_to_others(&self) {
        std::fs::set_permissions(self.0.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
}

/// A site with members who write, and settings for a standby.
pub fn main_machine(clients: usize, token: &Token, wait: &str) -> Desk {
    let desk = Desk::with_site();
    (0..clients).for_each(|n| _ = desk.add_member(&format!("flyer-{n}"), "member"));
    set_wait(&desk, token, wait);
    desk
}

pub fn set_wait(desk: &Desk, token: &Token, wait: &str) {
    let settings = format!("{LIMITS}[replica]\ntoken_file = {:?}\nwait = {wait}\n", token.path());
    std::fs::write(desk.path().join("tunneldesk.toml"), settings).unwrap();
}

/// Appends to the settings.
pub fn add_settings(desk: &Desk, more: &str) {
    let path = desk.path().join("tunneldesk.toml");
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::write(path, known + more).unwrap();
}

/// A standby that runs until it is killed.
pub struct Follower {
    child: Child,
    log: PathBuf,
}

impl Follower {
    pub fn start(desk: &Desk, address: SocketAddr, token: &Token) -> Follower {
        Follower::at(desk, &format!("http://{address}"), token, &[])
    }

    pub fn at(desk: &Desk, url: &str, token: &Token, more: &[&str]) -> Follower {
        let log = desk.path().join("standby.log");
        let args = ["standby", "--from", url, "--token-file", token.path()];
        let mut command = desk.command(&[&args, more].concat());
        let child = command.stdout(Stdio::null()).stderr(File::create(&log).unwrap()).spawn().unwrap();
        Follower { child, log }
    }

    /// Kills the standby as a power cut would.
    pub fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Waits until the standby ends by itself.
    pub fn ended(&mut self) -> std::process::ExitStatus {
        until("the end of the standby", || self.child.try_wait().unwrap())
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The current fact of the doctor about the standby.
pub fn standby_fact(desk: &Desk) -> (String, String) {
    desk.fact("standby").unwrap_or_default()
}

pub fn wait_until_in_step(desk: &Desk) {
    until("a standby that keeps up", || (standby_fact(desk).0 == "ok").then_some(()));
}

/// The network between two machines, which can be cut.
pub struct Relay {
    pub address: SocketAddr,
    state: Arc<State>,
}

struct State {
    target: Mutex<SocketAddr>,
    is_cut: AtomicBool,
    has_ended: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl State {
    fn to(target: SocketAddr) -> State {
        State {
            target: Mutex::new(target),
            is_cut: AtomicBool::default(),
            has_ended: AtomicBool::default(),
            open: Mutex::default(),
        }
    }
}

impl Relay {
    pub fn to(target: SocketAddr) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, state) = (listener.local_addr().unwrap(), Arc::new(State::to(target)));
        let shared = state.clone();
        std::thread::spawn(move || {
            for come in listener.incoming() {
                if shared.has_ended.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(come), false) = (come, shared.is_cut.load(Ordering::SeqCst)) else { continue };
                let Ok(there) = TcpStream::connect(*shared.target.lock().unwrap()) else { continue };
                let mut open = shared.open.lock().unwrap();
                for (from, to) in [(&come, &there), (&there, &come)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || pass_on(from, to));
                }
                open.extend([come, there]);
                // A cut during the accept also closes these connections.
                if shared.is_cut.load(Ordering::SeqCst) {
                    open.drain(..).for_each(|one| _ = one.shutdown(Shutdown::Both));
                }
            }
        });
        Relay { address, state }
    }

    pub fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        self.state.open.lock().unwrap().drain(..).for_each(|one| _ = one.shutdown(Shutdown::Both));
    }

    /// Leads to another address from now on.
    pub fn lead_to(&self, target: SocketAddr) {
        *self.state.target.lock().unwrap() = target;
    }

    pub fn heal(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
        self.state.has_ended.store(true, Ordering::SeqCst);
        // This connection wakes the accepting thread, which then ends.
        _ = TcpStream::connect(self.address);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(read) = from.read(&mut bytes) {
        if read == 0 || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    _ = to.shutdown(Shutdown::Both);
    _ = from.shutdown(Shutdown::Both);
}
