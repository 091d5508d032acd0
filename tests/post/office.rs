//! The servers that messages go to: real processes on loopback, and what they took.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A message takes milliseconds; this is for a machine that does much else.
const ARRIVAL_TIME_MAX: Duration = Duration::from_secs(20);
pub const ACCOUNT: (&str, &str) = ("desk", "post horn & seal");
pub const GATEWAY_TOKEN: &str = "gateway-key";

/// A server that runs until it is dropped.
pub struct Office {
    child: Child,
    pub port: u16,
    taken: Receiver<Value>,
}

impl Office {
    /// A mail server; `security` is `starttls`, `tls` or `none`.
    pub fn mail(security: &str) -> Office {
        Office::mail_on(0, security)
    }

    /// One that opens again where another was.
    pub fn mail_at(place: &Closed, security: &str) -> Office {
        Office::mail_on(place.port, security)
    }

    fn mail_on(port: u16, security: &str) -> Office {
        let mut command = python("smtp_server.py", port);
        command.args(["--security", security, "--keys"]).arg(kept());
        if security != "none" {
            command.args(["--account", &format!("{}:{}", ACCOUNT.0, ACCOUNT.1)]);
        }
        Office::start(command)
    }

    pub fn sms() -> Office {
        Office::start(python("sms_gateway.py", 0))
    }

    fn start(mut command: Command) -> Office {
        // Standard input ends when we do, and the server with it.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.next().expect("the server starts").parse().unwrap();
        let (tell, taken) = channel();
        std::thread::spawn(move || {
            for line in lines {
                if tell.send(serde_json::from_str(&line).unwrap()).is_err() {
                    break;
                }
            }
        });
        Office { child, port, taken }
    }

    /// The next message that it took.
    pub fn next(&self) -> Value {
        self.taken.recv_timeout(ARRIVAL_TIME_MAX).expect("a message arrives")
    }

    /// The mails that the server took and no test has looked at yet.
    pub fn rest(&self) -> Vec<Value> {
        self.taken.try_iter().collect()
    }

    /// Closes it, and waits until its port is closed.
    pub fn close(mut self) -> Closed {
        self.end();
        Closed { port: self.port, _kept: keep(self.port) }
    }

    fn end(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Where an office was: nobody answers there, and nobody else gets the port while the next one of ours may want it.
pub struct Closed {
    port: u16,
    _kept: OwnedFd,
}

/// A socket that has the port and does not listen; one that listens may share it.
fn keep(port: u16) -> OwnedFd {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be() },
        sin_zero: [0; 8],
    };
    let yes: libc::c_int = 1;
    // SAFETY: plain calls on a descriptor that is ours; what they read is whole.
    unsafe {
        let socket = OwnedFd::from_raw_fd(libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0));
        let (number, option) = (socket.as_raw_fd(), libc::SO_REUSEADDR);
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(number, libc::SOL_SOCKET, option, (&raw const yes).cast(), length);
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        let bound = libc::bind(number, (&raw const address).cast(), length);
        assert_eq!(bound, 0, "{}", std::io::Error::last_os_error());
        socket
    }
}

impl Drop for Office {
    fn drop(&mut self) {
        self.end();
    }
}

/// The certificate of the authority that vouches for the mail server.
pub fn authority() -> PathBuf {
    kept().join("ca.pem")
}

fn python(script: &str, port: u16) -> Command {
    let mut command = Command::new(kept().join("python/bin/python"));
    command.args(["-W", "ignore"]).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/post").join(script));
    command.args(["--port", &port.to_string()]);
    command
}

/// Where `tests/install-smtp` puts things; it is run when nobody did.
fn kept() -> PathBuf {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    INSTALLED.get_or_init(|| {
        let installed = Command::new(root.join("tests/install-smtp")).output().unwrap();
        assert!(installed.status.success(), "tests/install-smtp: {}", String::from_utf8_lossy(&installed.stderr));
    });
    root.join("target/post")
}
