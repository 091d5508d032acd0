//! No test waits without an end, whatever it waits for: a thread, a process, a connection, a lock. While a test has a site, a
//! watcher of the whole run looks how long; past the limit it says which test hangs and beside what, and ends the run.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// Far above what a test of the suite takes on a busy machine. The long campaigns set their own by [`MINUTES_NAME`].
const MINUTES_MAX: u64 = 10;
pub const MINUTES_NAME: &str = "TUNNELDESK_TEST_MINUTES_MAX";
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// As of a test that fails.
const EXIT_CODE: i32 = 101;

static UNDER_WAY: Mutex<Vec<Test>> = Mutex::new(Vec::new());
static WATCHER: Once = Once::new();

struct Test {
    number: u64,
    name: String,
    since: Instant,
}

/// The time of one test, from its start until this is dropped.
pub struct Deadline {
    number: u64,
}

impl Deadline {
    pub fn start() -> Deadline {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        WATCHER.call_once(|| drop(std::thread::spawn(watch)));
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let name = std::thread::current().name().unwrap_or("a thread of a test").to_owned();
        under_way().push(Test { number, name, since: Instant::now() });
        Deadline { number }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        under_way().retain(|test| test.number != self.number);
    }
}

fn under_way() -> MutexGuard<'static, Vec<Test>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch() {
    let minutes = std::env::var(MINUTES_NAME).map_or(MINUTES_MAX, |text| text.parse().expect("minutes are a number"));
    let time_max = Duration::from_secs(minutes * 60);
    loop {
        std::thread::sleep(LOOK_INTERVAL);
        // Held to the end of the run: a test whose process is ended here must not end the run before, as one that passed.
        let tests = under_way();
        if let Some(late) = tests.iter().find(|test| test.since.elapsed() > time_max) {
            give_up(&late.name, minutes);
        }
    }
}

/// Straight to standard error, past the capture of what tests print.
fn give_up(name: &str, minutes: u64) -> ! {
    let children = children();
    let mut said =
        format!("\ntest {name} has had a site for more than {minutes} min: something in it waits without an end\n");
    for (process, command) in &children {
        said += &format!("  beside it runs {process}: {command}\n");
    }
    _ = std::io::stderr().write_all(said.as_bytes());
    for (process, _) in &children {
        // SAFETY: plain numbers in; a child that nobody waited for keeps its number.
        unsafe { libc::kill(*process, libc::SIGKILL) };
    }
    std::process::exit(EXIT_CODE);
}

/// The processes that this one started, each with its command line.
fn children() -> Vec<(i32, String)> {
    let ours = format!("PPid:\t{}\n", std::process::id());
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_ours = |process: &i32| {
        std::fs::read_to_string(format!("/proc/{process}/status")).is_ok_and(|status| status.contains(&ours))
    };
    let command = |process: i32| {
        let line = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        (process, line.replace('\0', " "))
    };
    numbers.filter(is_ours).map(command).collect()
}
