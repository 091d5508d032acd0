//! Shutdown: the causes that end a running server, and a deadline after which the process exits even while something hangs,
//! such as a disk, a lock or a full pipe.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The time between two checks for a failed flush of the disk, and for a read-only database that can be written again.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The deadline after a signal, and after a read-only database can be written again: longer than open requests may take,
/// shorter than a service manager waits.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(15);
/// The deadline after a failed flush: longer than the server then waits for open requests.
const STOPPED_TIME_MAX: Duration = Duration::from_millis(700);
/// The time that the writer of the last line has before the process exits.
const LAST_LINE_TIME_MAX: Duration = Duration::from_millis(100);
/// The last line on standard error after a failed flush, for the technician.
pub(crate) const FLUSH_FAILED: &str =
    "a flush of the disk failed, so nothing more can be written safely; start again once the disk is sound";

/// Why a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownCause {
    /// SIGTERM or SIGINT.
    Signal,
    /// A flush of the disk failed.
    StoreStopped,
    /// The database was served read-only and can be written again: a new process serves it for writing.
    Writable,
}

impl ShutdownCause {
    fn time_max(self) -> Duration {
        match self {
            ShutdownCause::StoreStopped => STOPPED_TIME_MAX,
            ShutdownCause::Signal | ShutdownCause::Writable => SHUTDOWN_TIME_MAX,
        }
    }

    /// The last line on standard error, if the process exits at the deadline.
    fn last_line(self) -> &'static str {
        match self {
            ShutdownCause::StoreStopped => FLUSH_FAILED,
            ShutdownCause::Signal | ShutdownCause::Writable => "something hung, so the server ended without it",
        }
    }
}

/// The thread that waits for the cause of a shutdown, and exits the process at the deadline, whatever the other threads do.
/// Once the cause is known, the thread takes none of the server's locks and allocates nothing, because a hung thread may
/// hold such a lock or the allocator's.
pub(crate) struct ShutdownWatch(mpsc::Receiver<ShutdownCause>);

impl ShutdownWatch {
    /// Starts the thread, which handles SIGTERM, SIGINT and SIGHUP from now on; SIGHUP ends
    /// a server at a terminal alone. `is_stopped`: whether a flush of the disk failed.
    /// `writable` receives when a read-only database can be written again. `code`: the exit code at the deadline.
    ///
    /// # Errors
    /// The operating system refuses a thread or a file descriptor.
    pub(crate) fn listen(
        is_stopped: impl Fn() -> bool + Send + 'static,
        writable: mpsc::Receiver<()>,
        code: u8,
    ) -> std::io::Result<ShutdownWatch> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (terminate, interrupt, hangup) = {
            let _context = runtime.enter();
            // Without a terminal nothing hangs up: a service goes on where a tool asks it to read its settings again.
            _ = signal(SignalKind::hangup())?;
            let ending = if std::io::stdin().is_terminal() { SignalKind::hangup() } else { SignalKind::terminate() };
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(ending)?)
        };
        let (write_line, lines) = mpsc::sync_channel(1);
        start_line_writer(lines)?;
        let (send_cause, causes) = mpsc::sync_channel(1);
        let wait = move || {
            let cause = runtime.block_on(first_cause([terminate, interrupt, hangup], &is_stopped, &writable));
            _ = send_cause.try_send(cause);
            // The main thread writes the same line after a failed flush, so this one may be early. It is written here too,
            // because the main thread may hang before.
            if cause == ShutdownCause::StoreStopped {
                _ = write_line.try_send(cause.last_line());
            }
            std::thread::sleep(cause.time_max());
            _ = write_line.try_send(cause.last_line());
            std::thread::sleep(LAST_LINE_TIME_MAX);
            exit(code)
        };
        std::thread::Builder::new().name("shutdown".to_owned()).spawn(wait)?;
        Ok(ShutdownWatch(causes))
    }

    /// Blocks until there is a cause, and returns it. The deadline runs from then on.
    pub(crate) fn wait(self) -> ShutdownCause {
        self.0.recv().unwrap_or(ShutdownCause::Signal)
    }
}

/// Waits for a signal, and checks for the other causes every [`CHECK_INTERVAL`].
async fn first_cause(
    [mut terminate, mut interrupt, mut hangup]: [Signal; 3],
    is_stopped: &impl Fn() -> bool,
    writable: &mpsc::Receiver<()>,
) -> ShutdownCause {
    loop {
        tokio::select! {
            _ = terminate.recv() => return ShutdownCause::Signal,
            _ = interrupt.recv() => return ShutdownCause::Signal,
            _ = hangup.recv() => return ShutdownCause::Signal,
            () = tokio::time::sleep(CHECK_INTERVAL) => {
                if is_stopped() {
                    return ShutdownCause::StoreStopped;
                }
                if writable.try_recv().is_ok() {
                    return ShutdownCause::Writable;
                }
            }
        }
    }
}

/// Starts a thread that writes the last line: the log and standard error may hang, and the deadline must not.
fn start_line_writer(lines: mpsc::Receiver<&'static str>) -> std::io::Result<()> {
    let write = move || {
        if let Ok(line) = lines.recv() {
            write_once(line);
        }
    };
    std::thread::Builder::new().name("last-line".to_owned()).spawn(write).map(|_| ())
}

/// Writes [`FLUSH_FAILED`] and exits the process. The database is not closed: no later write could be trusted, and a thread
/// in the middle of a write may hold locks.
pub(crate) fn end_after_failed_flush(code: u8) -> ! {
    write_once(FLUSH_FAILED);
    exit(code)
}

/// Writes the last line to standard error and flushes the log, once for the process. A second caller waits for the first,
/// because the process exits as soon as the call returns.
fn write_once(line: &str) {
    static IS_WRITTEN: Mutex<bool> = Mutex::new(false);
    let mut is_written = IS_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_written {
        // The line comes before the flush of the log, which a slow disk or reader may hold up.
        *is_written = std::io::stderr().write_all(format!("tunneldesk: {line}\n").as_bytes()).is_ok();
        crate::log::flush();
    }
}

/// Exits the process without its exit handlers, which may wait for a lock.
fn exit(code: u8) -> ! {
    // SAFETY: `_exit` takes a number and ends the process immediately. All acknowledged writes are on the disk.
    unsafe { libc::_exit(code.into()) }
}
