//! The site of one test: its directory, its server and its clock, and the checks at its end.

use super::Rows;
use super::endpoint::Endpoint;
use super::file;
#[cfg(debug_assertions)]
use super::plans;
use crate::deadline::Deadline;
use std::cell::{Cell, OnceCell};
use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tunneldesk::auth::RateLimiter;
use tunneldesk::cli::control;
use tunneldesk::cli::socket::SocketFile;
use tunneldesk::clock::Clock;
use tunneldesk::config::Config;
use tunneldesk::domain::audit::Actor;
use tunneldesk::domain::ids::TunnelId;
use tunneldesk::http::failure::Failure;
use tunneldesk::moment::Moment;
use tunneldesk::ops::lifecycle::Identity;
use tunneldesk::routes::ROUTES;
use tunneldesk::server::{self, Running, Sockets};
use tunneldesk::site::Site as Inside;
use tunneldesk::store::Write;
use tunneldesk::store::data_dir::{DataDir, LockError};

/// A Thursday in May 2026.
const START: i64 = 1_780_000_000;
const THREADS: usize = 4;
const PROGRAM: &str = env!("CARGO_BIN_EXE_tunneldesk");
/// The files of these tests are in memory if the machine has room there, because no test here is about the disk.
const MEMORY: &str = "/dev/shm";

/// The files of a new site, each with its modification time, by which the site detects writes by others. Tests open a
/// copy, because running all migrations takes longer than most tests.
static NEW: LazyLock<Vec<(OsString, Vec<u8>, SystemTime)>> = LazyLock::new(|| {
    let dir = scratch();
    drop(create(dir.path(), Config::defaults()));
    let kept = std::fs::read_dir(dir.path()).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let date = entry.metadata().and_then(|file| file.modified()).unwrap();
        (entry.file_name(), std::fs::read(entry.path()).unwrap(), date)
    });
    // SQLite's shared-memory index of the WAL is made anew when the database is opened.
    kept.filter(|(name, ..)| !name.to_string_lossy().ends_with("-shm")).collect()
});

fn scratch() -> TempDir {
    tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir()).unwrap()
}

/// Makes a site as `init` does, and closes it.
fn create(dir: &Path, config: Config) -> DataDir {
    let data_dir = DataDir::create(dir).unwrap_or_else(|e| panic!("{e:?}"));
    let identity = Identity {
        tunnel_id: Site::TUNNEL_ID,
        name: "Windwerk".into(),
        city: "Winterthur".into(),
        country: "CH".into(),
    };
    let config = Config { data: dir.to_owned(), ..config };
    Inside::create(&data_dir, config, Clock::frozen(Moment(START)), &identity).unwrap().close();
    data_dir
}

/// Puts a copy of the new site into a directory.
fn copy(dir: &Path) -> DataDir {
    let files = &*NEW;
    let data_dir = DataDir::create(dir).unwrap_or_else(|e| panic!("{e:?}"));
    for (name, bytes, date) in files {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(dir.join(name));
        let written = file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.set_modified(*date)));
        written.unwrap_or_else(|e| panic!("{name:?}: {e}"));
    }
    data_dir
}

pub struct Site {
    dir: TempDir,
    config: Config,
    endpoint: Endpoint,
    up: Option<Up>,
    faults_expected: Cell<bool>,
    hashes_small: Cell<bool>,
    numbers: AtomicI64,
    /// Set once the site accepts commands of the shell.
    listening: OnceCell<SocketFile>,
    _deadline: Deadline,
}

/// The parts that a restart replaces.
struct Up {
    inside: Inside,
    running: Running,
    _data_dir: DataDir,
}

/// Locks a data directory that a server has just released. A process that another test starts inherits all descriptors
/// for a moment, and with them the lock, so this tries again.
pub fn hold(dir: &Path) -> DataDir {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        match DataDir::lock(dir) {
            Err(LockError::InUse) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            held => return held.unwrap_or_else(|e| panic!("{e:?}")),
        }
    }
}

impl Site {
    pub const TUNNEL_ID: TunnelId = TunnelId(7);
    /// A name of the site in addition to `localhost`.
    pub const NAME: &'static str = "tunnel.example.org";

    /// A new site with a running server.
    pub fn open() -> Site {
        Site::open_with(|_| {})
    }

    /// A new site with other settings.
    pub fn open_with(adjust: impl FnOnce(&mut Config)) -> Site {
        Site::start(adjust, |dir, _| copy(dir))
    }

    /// A site that shares nothing with the others of this run, not even its key.
    pub fn another() -> Site {
        Site::start(|_| {}, |dir, config| create(dir, config.clone()))
    }

    fn start(adjust: impl FnOnce(&mut Config), make: impl FnOnce(&Path, &Config) -> DataDir) -> Site {
        let deadline = Deadline::start();
        let mut config = Config::defaults();
        let any_port = "127.0.0.1:0".parse().unwrap();
        (config.listen, config.metrics_listen) = (vec![any_port], Some(any_port));
        config.names = vec![Site::NAME.to_owned()];
        config.limits.pool_threads = THREADS;
        config.limits.signups_per_hour_per_address = 1_000_000;
        config.limits.contacts_per_hour_per_address = 1_000_000;
        config.limits.recoveries_per_hour_per_address = 1_000_000;
        config.limits.messages_per_day_per_address = 1_000_000;
        adjust(&mut config);
        let dir = scratch();
        config.data = dir.path().to_owned();
        let data_dir = make(dir.path(), &config);
        let inside = Inside::open(&data_dir, config.clone(), Clock::frozen(Moment(START))).unwrap();
        let clock = inside.clock.clone();
        let up = Up::new(inside, data_dir, &config);
        let endpoint = Endpoint::new(up.running.addresses[0], clock);
        Site {
            dir,
            config,
            endpoint,
            up: Some(up),
            faults_expected: Cell::new(false),
            hashes_small: Cell::new(false),
            numbers: AtomicI64::new(1000),
            listening: OnceCell::new(),
            _deadline: deadline,
        }
    }

    /// Stops the server and starts another on the same database, at the same site time.
    pub fn restart(&mut self) {
        let now = self.now();
        self.up.take().expect("the site is up").stop();
        let data_dir = hold(self.dir.path());
        let inside = Inside::open(&data_dir, self.config.clone(), Clock::frozen(Moment(now))).unwrap();
        let clock = inside.clock.clone();
        let up = Up::new(inside, data_dir, &self.config);
        self.endpoint.set(up.running.addresses[0], clock);
        self.up = Some(up);
        if self.hashes_small.get() {
            self.hash_small();
        }
    }

    /// As [`Site::restart`], with other settings.
    pub fn restart_with(&mut self, adjust: impl FnOnce(&mut Config)) {
        adjust(&mut self.config);
        self.restart();
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.inside().clock.advance(by);
    }

    /// Resets the rate limits, which use the machine's clock rather than the clock that tests move.
    pub fn reset_rate_limits(&self) {
        self.inside().set_state(RateLimiter::default());
    }

    /// The site's time, in Unix seconds.
    pub fn now(&self) -> i64 {
        self.inside().clock.now().0
    }

    pub fn address(&self) -> SocketAddr {
        self.endpoint.address()
    }

    /// The origin of the site's pages in a browser on this machine.
    pub fn origin(&self) -> String {
        format!("http://localhost:{}", self.address().port())
    }

    /// The address of the metrics.
    pub fn metrics_address(&self) -> SocketAddr {
        self.up().running.metrics_address.expect("the port for figures is open")
    }

    /// Runs a command line as at the machine's shell; the running server executes it.
    pub fn shell(&self, args: &[&str]) {
        let output = self.run_in_shell(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// As [`Site::shell`], for commands that may be refused. Returns whether the command succeeded.
    pub fn try_shell(&self, args: &[impl AsRef<OsStr> + Debug]) -> bool {
        let output = self.run_in_shell(args);
        let code = output.status.code();
        assert!([Some(0), Some(1)].contains(&code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        code == Some(0)
    }

    /// What a command line at the machine's shell answers.
    pub fn shell_output(&self, args: &[&str]) -> Output {
        self.run_in_shell(args)
    }

    /// The last second of the site's day at a moment.
    pub fn end_of_day(&self, moment: i64) -> i64 {
        self.inside().time_zone().expect("the site has a time zone").end_of_day(Moment(moment), 0).0
    }

    fn run_in_shell(&self, args: &[impl AsRef<OsStr>]) -> Output {
        let dir = self.dir.path();
        self.listening.get_or_init(|| {
            control::listen(dir, self.inside().for_another_thread()).expect("a socket in the directory")
        });
        // Variables of a campaign are no settings of the site.
        Command::new(PROGRAM).env_clear().arg("--data").arg(dir).args(args).output().expect("the program runs")
    }

    /// Makes hashes of passwords and answers cheap from now on, for campaigns that check thousands and are about
    /// something else. Must be called before the first member is made.
    pub fn hash_small(&self) {
        self.hashes_small.set(true);
        #[cfg(debug_assertions)]
        self.inside().hash_at(tunneldesk::domain::password::Cost::SMALL);
    }

    /// Raises the epoch, so that no standby's request has a higher one; that would end all writing.
    pub fn outrank_standbys(&self) {
        std::fs::write(self.dir.path().join("epoch.json"), format!(r#"{{"epoch":{}}}"#, i64::MAX)).unwrap();
    }

    /// Allows answers of 500 or more from now on, because they are the subject of the test.
    pub fn expects_faults(&self) {
        self.faults_expected.set(true);
    }

    /// A number that this site has not used yet.
    pub fn next_number(&self) -> i64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of transactions since the database was opened, including those rolled back.
    pub fn transactions(&self) -> u64 {
        self.inside().store.writer().transactions.load(Ordering::Relaxed)
    }

    /// The number of rows by table.
    pub fn rows(&self) -> Rows {
        file::rows(self.inside())
    }

    /// Changes the database without a request, at the site's time.
    pub fn change<T>(&self, change: impl FnOnce(&Write) -> Result<T, Failure>) -> T {
        self.inside().store.write(Moment(self.now()), change).expect("the file can be changed")
    }

    /// Gives the site a certificate authority of its own.
    pub fn with_authority(&self) {
        let names = ["tunnel.example.org".to_owned()];
        tunneldesk::ops::tls::init(self.inside(), "Windwerk", &names, &Actor::job("test"))
            .expect("a certificate can be made");
    }

    /// The site as a job receives it, for a thread of its own.
    pub fn for_a_job(&self) -> Inside {
        self.inside().for_another_thread()
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub fn inside(&self) -> &Inside {
        &self.up().inside
    }

    fn up(&self) -> &Up {
        self.up.as_ref().expect("the site is up")
    }
}

impl Up {
    fn new(inside: Inside, data_dir: DataDir, config: &Config) -> Up {
        let sockets = Sockets::bind(config).unwrap();
        let running = server::start(&inside, sockets).unwrap();
        Up { inside, running, _data_dir: data_dir }
    }

    fn stop(self) {
        self.running.stop();
    }
}

impl Drop for Site {
    /// Checks after every test: no panic, no answer of 500 or more, an intact database.
    fn drop(&mut self) {
        let Some(Up { inside, running, _data_dir }) = self.up.take() else { return };
        running.stop();
        if std::thread::panicking() {
            return;
        }
        assert_eq!(inside.stats.panics.load(Ordering::Relaxed), 0, "an operation panicked");
        if !self.faults_expected.get() {
            let faulty = faults(&inside);
            let count: u64 = faulty.iter().map(|(_, count)| count).sum();
            assert_eq!(
                count,
                self.endpoint.busy(),
                "answers of 500 or more, but for requests that were repeated: {faulty:?}"
            );
        }
        file::check(&inside);
        // Statements are recorded only in debug builds.
        #[cfg(debug_assertions)]
        plans::check(&inside);
    }
}

/// Rows of the table that answered 500 or more, each with how often.
fn faults(inside: &Inside) -> Vec<(&'static str, u64)> {
    let counted = inside.stats.routes().iter().map(|row| row.answers[4].load(Ordering::Relaxed)).enumerate();
    let faulty = counted.filter(|(_, count)| *count > 0);
    faulty.map(|(index, count)| (ROUTES.get(index).map_or("no row", |row| row.path), count)).collect()
}
