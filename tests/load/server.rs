//! A server in a process of its own: started, measured, given shell commands, and stopped.

use crate::stations::{self, Spent};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PRODUCT: &str = env!("CARGO_BIN_EXE_tunneldesk");

pub struct Server {
    process: Child,
    pub address: SocketAddr,
    /// The time from its start until it had printed its address and answered there.
    pub started_in: Duration,
}

impl Server {
    /// The product on a data directory, with its log in a file beside the directory, at the log level of production.
    pub fn product(dir: &Path) -> Result<Server, String> {
        Server::start_product(Server::command(dir), dir)
    }

    /// The product with these settings.
    pub fn product_with(dir: &Path, settings: &[(&str, &str)]) -> Result<Server, String> {
        let mut command = Server::command(dir);
        command.envs(settings.iter().copied());
        Server::start_product(command, dir)
    }

    fn command(dir: &Path) -> Command {
        let mut command = product(dir);
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("TUNNELDESK_METRICS_LISTEN", "");
        // The generator sends requests for many client addresses.
        command.env("TUNNELDESK_PROXIES", "127.0.0.1/32");
        // Each test member writes as much as many thousands of members would in a day.
        command.env("TUNNELDESK_LIMITS_CHANGES_PER_DAY_PER_MEMBER", "1000000");
        command
    }

    fn start_product(mut command: Command, dir: &Path) -> Result<Server, String> {
        let log = File::create(dir.with_extension("log")).map_err(|e| format!("cannot make a log file: {e}"))?;
        Server::start(command.stderr(log), "/readyz")
    }

    /// The reference server: this program with the argument `bare`.
    pub fn bare() -> Result<Server, String> {
        let ourselves = std::env::current_exe().map_err(|e| e.to_string())?;
        Server::start(Command::new(ourselves).arg("bare"), "/")
    }

    /// Starts a server that prints its address, and waits until it answers on this path.
    pub fn start(command: &mut Command, path: &str) -> Result<Server, String> {
        let start = Instant::now();
        let mut process =
            command.stdout(Stdio::piped()).spawn().map_err(|e| format!("cannot start {command:?}: {e}"))?;
        let mut said = BufReader::new(process.stdout.take().expect("the output is piped"));
        let mut line = String::new();
        let address = loop {
            line.clear();
            if said.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                return Err(format!("{command:?} ended: {:?}", process.wait()));
            }
            if let Some(address) = address_in(&line) {
                break address;
            }
        };
        // The remaining output is read, so that the pipe does not fill up.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let mut server = Server { process, address, started_in: Duration::ZERO };
        server.ask(path)?;
        server.started_in = start.elapsed();
        Ok(server)
    }

    fn ask(&self, path: &str) -> Result<(), String> {
        let url = format!("http://{}{path}", self.address);
        ureq::get(&url).call().map(|_| ()).map_err(|e| format!("{url}: {e}"))
    }

    /// `VmRSS` (present) or `VmHWM` (peak), in KiB.
    pub fn memory_kib(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        line.and_then(|value| value.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    }

    /// Starts the peak of the memory anew at its present size.
    pub fn forget_peak(&self) -> Result<(), String> {
        std::fs::write(format!("/proc/{}/clear_refs", self.process.id()), "5").map_err(|e| format!("clear_refs: {e}"))
    }

    /// The processor time of all threads so far, including those that have ended. Steadier than the rate of answers
    /// where other programs use the processors too.
    pub fn cpu(&self) -> Duration {
        let (mut clock, mut used) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
        // SAFETY: both calls write one value each into a variable of ours; the process has not been waited for.
        let verdict = unsafe {
            match libc::clock_getcpuclockid(self.process.id() as libc::pid_t, &mut clock) {
                0 => libc::clock_gettime(clock, &mut used),
                refused => refused,
            }
        };
        assert_eq!(verdict, 0, "the processor time of the server is not known");
        Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
    }

    /// The processor time by thread name.
    pub fn spent(&self) -> Spent {
        stations::spent(self.process.id())
    }

    /// Stops the server and waits for its end.
    pub fn stop(mut self) -> Result<(), String> {
        // SAFETY: sends a signal to a child that has not been waited for, so the number is still its own.
        unsafe { libc::kill(self.process.id() as libc::pid_t, libc::SIGTERM) };
        let status = self.process.wait().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}")) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let authority = line.split("http://").nth(1)?.split_whitespace().next()?;
    authority.replace("localhost", "127.0.0.1").parse().ok()
}

fn product(dir: &Path) -> Command {
    let mut command = Command::new(PRODUCT);
    command.arg("--data").arg(dir).stdin(Stdio::null());
    command
}

/// The JSON output of a command.
pub fn command(dir: &Path, args: &[&str]) -> Result<Value, String> {
    let output = product(dir).arg("--json").args(args).stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| format!("cannot run {PRODUCT}: {e}"))?;
    if !output.status.success() {
        return Err(format!("`tunneldesk {}` failed", args.join(" ")));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("`tunneldesk {}`: {e}", args.join(" ")))
}

/// Runs a command with its output in a file.
pub fn print_to(dir: &Path, args: &[&str], file: &Path) -> Result<(), String> {
    let file = File::create(file).map_err(|e| e.to_string())?;
    let ended = product(dir).args(args).stdout(file).status().map_err(|e| format!("cannot run {PRODUCT}: {e}"))?;
    if ended.success() { Ok(()) } else { Err(format!("`tunneldesk {}` failed", args.join(" "))) }
}

/// Copies a stopped server's directory, without the backups that the server may have made.
pub fn copy(dir: &Path, name: &str) -> Result<PathBuf, String> {
    let copied = || -> std::io::Result<PathBuf> {
        let to = dir.with_file_name(name);
        std::fs::create_dir(&to)?;
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(to)
    };
    copied().map_err(|e| format!("cannot copy {}: {e}", dir.display()))
}
