//! The log: one line a request and one an event, for people on a terminal and as JSON elsewhere.
//!
//! Lines are collected and written together, at most a tenth of a second late, because a system call a line would cost
//! more than many a request. Warnings and errors go out at once, with everything before them.

mod json;

use crate::config::{Log, LogFormat};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

const FLUSH_INTERVAL: Duration = Duration::from_millis(100);
const COLLECTED_BYTES_MAX: usize = 64 * 1024;

static LINES: Lines = Lines(Mutex::new(Vec::new()));

/// Lines that are not written yet.
struct Lines(Mutex<Vec<u8>>);

/// Collects one line.
struct Line {
    urgent: bool,
}

/// Starts the log; a second call changes nothing. Panics are logged by place, and by message only where the message is
/// the programmer's own text: a formatted one could carry somebody's data.
pub fn start(settings: &Log) {
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
    let flush = || {
        loop {
            std::thread::sleep(FLUSH_INTERVAL);
            flush();
        }
    };
    // Without the thread lines go out when there are enough of them, which is late and not wrong.
    _ = std::thread::Builder::new().name("log".to_owned()).spawn(flush);
}

/// Ours at the level that is set; of the libraries only what is wrong, because in detail they tell what people sent.
fn filter(level: Level) -> EnvFilter {
    EnvFilter::new(format!("{},tunneldesk={level}", level.min(Level::WARN)))
}

/// Writes what is collected.
pub fn flush() {
    LINES.write_out(&mut LINES.0.lock().unwrap_or_else(PoisonError::into_inner));
}

impl Lines {
    /// To standard error; where that fails there is nobody left to tell.
    fn write_out(&self, lines: &mut Vec<u8>) {
        if !lines.is_empty() {
            _ = std::io::stderr().write_all(lines);
            lines.clear();
        }
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
        let mut lines = LINES.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        if self.urgent || lines.len() > COLLECTED_BYTES_MAX {
            LINES.write_out(&mut lines);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
