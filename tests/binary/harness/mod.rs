//! The executable as a person runs it: in a directory of its own, on ports that the system chooses.

mod http;
mod log;
mod random;
mod server;
mod signing;

pub use http::{Answer, Caller, Client, read_answer};
pub use random::Random;
pub use server::{Ended, Server, answers_until_close};
pub use signing::{SigningKey, hex};

use crate::deadline::Deadline;
use serde_json::Value;
use std::io::Write;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tunneldesk::store::data_dir::{DataDir, LockError};

pub const BINARY: &str = env!("CARGO_BIN_EXE_tunneldesk");
/// The variable by which the executable has one more migration, as a later version, and the file of that migration. Only a build
/// with debug assertions knows it.
const LATER: (&str, &str) =
    ("LATER_MIGRATION_FOR_TESTS", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/binary/upgrade/later.sql"));
pub const PASSWORD: &str = "violet-anvil-harbour-93";

/// A directory to run commands in, deleted after the test.
pub struct Desk {
    dir: tempfile::TempDir,
    has_later: AtomicBool,
    _deadline: Deadline,
}

/// The exit code and the output of a command.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Desk {
    /// An empty directory.
    pub fn empty() -> Desk {
        Desk { dir: tempfile::tempdir().unwrap(), has_later: AtomicBool::new(false), _deadline: Deadline::start() }
    }

    /// Installs a later version: the commands from now on are its, and know one more migration.
    pub fn install_later(&self) {
        self.has_later.store(true, Ordering::Relaxed);
    }

    /// Installs this version again.
    pub fn install_earlier(&self) {
        self.has_later.store(false, Ordering::Relaxed);
    }

    /// A directory with a new site in it.
    pub fn with_site() -> Desk {
        let desk = Desk::empty();
        desk.run(&["init", "--name", "Windwerk", "--country", "CH"]).done();
        desk
    }

    /// The variable that makes the executable a later version, where one is installed.
    pub fn later(&self) -> Option<(&'static str, &'static str)> {
        self.has_later.load(Ordering::Relaxed).then_some(LATER)
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The default data directory of the site.
    pub fn data(&self) -> PathBuf {
        self.dir.path().join("tunneldesk-data")
    }

    pub fn database(&self) -> PathBuf {
        self.data().join("tunneldesk.sqlite")
    }

    /// The data directory of a site that is not served, locked by this process.
    pub fn lock_data_dir(&self) -> LockedDataDir {
        LockedDataDir {
            data_dir: Some(DataDir::lock(&self.data()).unwrap_or_else(|e| panic!("{e:?}"))),
            data: self.data(),
        }
    }

    /// The executable with an empty environment of our variables. With `TUNNELDESK_TEST_OFF_SITE` the site has an
    /// off-site target, for campaigns that must pass with one too.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(args).current_dir(self.path()).env_clear().envs(self.later()).stdin(Stdio::null());
        if std::env::var_os("TUNNELDESK_TEST_OFF_SITE").is_some() {
            let data_dir = self.path().join("off-site");
            std::fs::create_dir_all(&data_dir).unwrap();
            command.env("TUNNELDESK_BACKUP_OFF_SITE", data_dir);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.command(args).output().unwrap())
    }

    /// Runs a command that reads standard input.
    pub fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap())
    }

    /// Runs a command with `--json` that must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.run(&[args, &["--json"]].concat()).done();
        assert_eq!(out.trim_end().lines().count(), 1, "machines read one line: {out}");
        serde_json::from_str(&out).unwrap()
    }

    /// A fact of the doctor: its state and its text.
    pub fn fact(&self, name: &str) -> Option<(String, String)> {
        let said: Value = serde_json::from_str(&self.run(&["doctor", "--json"]).out).unwrap();
        let fact = said["facts"].as_array().unwrap().iter().find(|fact| fact["name"] == name)?;
        Some((text(&fact["state"]).to_owned(), text(&fact["text"]).to_owned()))
    }

    pub fn serve(&self) -> Server {
        Server::start(self.command(&["serve"]))
    }

    pub fn serve_with_args(&self, args: &[&str]) -> Server {
        Server::start(self.command(&[&["serve"], args].concat()))
    }

    pub fn serve_with(&self, environment: &[(&str, &str)]) -> Server {
        let mut command = self.command(&["serve"]);
        command.envs(environment.iter().copied());
        Server::start(command)
    }

    /// A running server, together with the directory that it needs.
    pub fn serve_kept(self) -> (Desk, Server) {
        let server = self.serve();
        (self, server)
    }

    /// Adds a confirmed account with [`PASSWORD`] and returns its number.
    pub fn add_member(&self, username: &str, role: &str) -> i64 {
        let email = format!("{username}@example.com");
        let args =
            ["member", "add", username, "--email", &email, "--role", role, "--confirmed", "--password-stdin", "--json"];
        let made: Value = serde_json::from_str(&self.run_with_input(&args, PASSWORD).done()).unwrap();
        made["member_id"].as_i64().unwrap()
    }

    pub fn add_partner(&self, more: &[&str]) -> Caller {
        self.add_named_partner("Skyline Bookings", more)
    }

    pub fn add_named_partner(&self, name: &str, more: &[&str]) -> Caller {
        let made = self.json(&[&["partner", "add", name], more].concat());
        Caller::partner(text(&made["client_id"]), text(&made["secret"]))
    }

    /// A session of the sync, which reads the reports.
    pub fn sync_session(&self) -> Caller {
        Caller::session(text(&self.json(&["session", "issue", "--role", "sync"])["token"]))
    }
}

/// A locked data directory. A process that another test starts inherits the lock between fork and exec; releasing waits
/// until no process has it.
pub struct LockedDataDir {
    data_dir: Option<DataDir>,
    data: PathBuf,
}

impl Deref for LockedDataDir {
    type Target = DataDir;

    fn deref(&self) -> &DataDir {
        self.data_dir.as_ref().unwrap()
    }
}

impl Drop for LockedDataDir {
    fn drop(&mut self) {
        self.data_dir = None;
        let until = Instant::now() + Duration::from_secs(20);
        while matches!(DataDir::lock(&self.data), Err(LockError::InUse)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Ran {
    /// Standard output of a command that must have succeeded.
    pub fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        assert_eq!(self.err, "");
        self.out
    }

    /// Standard output of a restore after a kill, which may have cut the newest tick short: that is said, and the exit code is 3.
    pub fn back(self) -> String {
        match self.code {
            Some(3) if self.out.contains("is cut short") => self.out,
            _ => self.done(),
        }
    }

    /// The error, in one line, of a command that must end with `code`.
    pub fn trouble(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert_eq!(self.out, "");
        assert_eq!(self.err.trim_end().lines().count(), 1, "trouble is told in one line: {}", self.err);
        self.err.strip_prefix("tunneldesk: ").expect("trouble says who speaks").trim_end().to_owned()
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Makes a file that whoever opens it waits for, as on a network share whose server is gone: a named pipe, of which the sticky
/// bit tells the executable that it is no mistake. Returns whether there was no file of that name.
pub fn make_hanging(path: &Path) -> bool {
    let made = Command::new("mkfifo").arg(path).stderr(Stdio::null()).status().unwrap().success();
    if made {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o1600)).unwrap();
    }
    made
}

/// The machine's time, in Unix seconds.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// A value that must be text.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not text"))
}

/// Changes a backup's manifest, and makes it one of an earlier version: without a checksum, a signature and a time zone.
pub fn edit_manifest(backup: &Path, change: impl FnOnce(&mut Value)) {
    let path = backup.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    ["checksum", "signature", "zone"].iter().for_each(|newer| _ = manifest.as_object_mut().unwrap().remove(*newer));
    std::fs::write(path, manifest.to_string()).unwrap();
}
