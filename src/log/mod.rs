//! The log: one line a request and one an event, for people on a terminal and as JSON elsewhere.
//!
//! Lines are collected and written together, at most a tenth of a second late, because a system call a line would cost
//! more than many a request. Warnings and errors are written immediately. No request waits for the log: while standard error is
//! blocked (a full pipe), up to 512 KiB of lines wait, and further lines are dropped and counted.

mod json;
mod repeats;

pub(crate) use repeats::due;

use crate::config::{Log, LogFormat};
use std::io::{IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

const FLUSH_INTERVAL: Duration = Duration::from_millis(100);
/// Once this many bytes are collected, the lines are written before the interval is over.
const COLLECTED_BYTES_DUE: usize = 64 * 1024;
/// The most bytes that wait while standard error is blocked.
const COLLECTED_BYTES_MAX: usize = 512 * 1024;

static COLLECTED: Mutex<Collected> = Mutex::new(Collected { lines: Vec::new(), due: false, dropped: 0 });
/// Wakes the thread that writes.
static DUE: Condvar = Condvar::new();
/// Locked while lines are written to standard error; holds these lines.
static WRITING: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The lines that are not written yet.
struct Collected {
    lines: Vec<u8>,
    /// Whether the lines are to be written before the interval is over.
    due: bool,
    /// Lines dropped since that was last logged.
    dropped: u64,
}

/// Collects one line.
struct Line {
    urgent: bool,
}

/// Starts the log; a second call changes nothing. Panics are logged by place, and by message only where the message is
/// the programmer's own text: a formatted one could contain personal data.
pub(crate) fn start(settings: &Log) {
    let as_json = match settings.format {
        LogFormat::Auto => !std::io::stderr().is_terminal(),
        LogFormat::Json => true,
        LogFormat::Text => false,
    };
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter(settings.level)).with_target(false).with_writer(Writer);
    let started = match as_json {
        true => builder.event_format(json::Json).try_init(),
        false => builder.with_ansi(std::io::stderr().is_terminal()).try_init(),
    };
    if started.is_err() {
        return;
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let message = panic.payload().downcast_ref::<&str>().copied().unwrap_or("(a message with values in it)");
        tracing::error!(place, message, thread = std::thread::current().name(), "panic");
    }));
    let write_all = || {
        loop {
            let waiting = DUE.wait_timeout_while(collected(), FLUSH_INTERVAL, |collected| !collected.due);
            drop(waiting);
            flush();
        }
    };
    if std::thread::Builder::new().name("log".to_owned()).spawn(write_all).is_err() {
        tracing::warn!("no thread writes the log: lines go out when the process ends");
    }
}

/// The product's own events at the configured level, and warnings and errors of the libraries, whose details could contain what
/// clients sent.
fn filter(level: Level) -> EnvFilter {
    EnvFilter::new(format!("{},tunneldesk={level}", level.min(Level::WARN)))
}

fn collected() -> MutexGuard<'static, Collected> {
    COLLECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the collected lines to standard error, for as long as that takes. An error is ignored: there is no other place to
/// report it.
pub(crate) fn flush() {
    let mut writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut collected = collected();
    std::mem::swap(&mut collected.lines, &mut writing);
    collected.due = false;
    let dropped = std::mem::take(&mut collected.dropped);
    drop(collected);
    _ = std::io::stderr().write_all(&writing);
    writing.clear();
    if dropped > 0 {
        tracing::warn!(dropped, "lines of the log were dropped, because standard error was blocked");
    }
}

impl Collected {
    /// Takes a line if there is room for it, and says whether the thread that writes must be woken.
    fn take(&mut self, line: &[u8], urgent: bool) -> bool {
        if self.lines.len() + line.len() > COLLECTED_BYTES_MAX {
            self.dropped += 1;
            return false;
        }
        self.lines.extend_from_slice(line);
        let was_due = self.due;
        self.due |= urgent || self.lines.len() > COLLECTED_BYTES_DUE;
        self.due && !was_due
    }
}

struct Writer;

impl<'a> MakeWriter<'a> for Writer {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { urgent: true }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Line {
        Line { urgent: *event.level() <= Level::WARN }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if collected().take(bytes, self.urgent) {
            DUE.notify_one();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
