//! Shutdown: what ends a running server, and its end by a deadline whatever hangs: a disk, a lock, a full pipe.

use std::io::Write;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Between two checks for a failed flush, and for a disk that can be written again.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The deadline after a signal: longer than open requests may take, shorter than a service manager waits.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(15);
/// The deadline after a failed flush.
const STOPPED_TIME_MAX: Duration = Duration::from_millis(700);
/// How long the last line may take to be written.
const LAST_LINE_TIME_MAX: Duration = Duration::from_millis(100);
/// The line for the technician after a failed flush.
pub(crate) const FLUSH_FAILED: &str =
    "a flush of the disk failed, so nothing more can be written safely; start again once the disk is sound";

/// Why a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownCause {
    /// SIGTERM or SIGINT.
    Signal,
    /// A flush of the disk failed.
    StoreStopped,
    /// The database was served read-only, and can be written again.
    Writable,
}

impl ShutdownCause {
    fn time_max(self) -> Duration {
        match self {
            ShutdownCause::StoreStopped => STOPPED_TIME_MAX,
            ShutdownCause::Signal | ShutdownCause::Writable => SHUTDOWN_TIME_MAX,
        }
    }

    fn last_line(self) -> &'static str {
        match self {
            ShutdownCause::StoreStopped => FLUSH_FAILED,
            ShutdownCause::Signal | ShutdownCause::Writable => "something hung, so the server ended without it",
        }
    }
}

/// The thread that waits for the cause of a shutdown, and exits the process at the deadline, whatever the other threads do.
/// After a signal it takes no lock and allocates nothing, because a hung thread may hold the lock or the allocator.
pub(crate) struct ShutdownWatch(mpsc::Receiver<ShutdownCause>);

impl ShutdownWatch {
    /// Handles SIGTERM and SIGINT from now on. `is_stopped`: whether a flush of the disk failed. `writable` receives when a
    /// read-only database can be written again. `code`: the exit code at the deadline.
    ///
    /// # Errors
    /// The system gives no more threads or descriptors.
    pub(crate) fn listen(
        is_stopped: impl Fn() -> bool + Send + 'static,
        writable: mpsc::Receiver<()>,
        code: u8,
    ) -> std::io::Result<ShutdownWatch> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (terminate, interrupt) = {
            let _context = runtime.enter();
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
        };
        let (write_line, lines) = mpsc::sync_channel(1);
        start_line_writer(lines)?;
        let (send_cause, causes) = mpsc::sync_channel(1);
        let wait = move || {
            let cause = runtime.block_on(first_cause(terminate, interrupt, &is_stopped, &writable));
            _ = send_cause.try_send(cause);
            // The main thread writes the same line, so it need not wait for the deadline.
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

    /// Waits for the cause. The deadline runs from then on.
    pub(crate) fn wait(self) -> ShutdownCause {
        self.0.recv().unwrap_or(ShutdownCause::Signal)
    }
}

async fn first_cause(
    mut terminate: Signal,
    mut interrupt: Signal,
    is_stopped: &impl Fn() -> bool,
    writable: &mpsc::Receiver<()>,
) -> ShutdownCause {
    loop {
        tokio::select! {
            _ = terminate.recv() => return ShutdownCause::Signal,
            _ = interrupt.recv() => return ShutdownCause::Signal,
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

/// The log and standard error may hang, so the last line is written on a thread of its own.
fn start_line_writer(lines: mpsc::Receiver<&'static str>) -> std::io::Result<()> {
    let write = move || {
        if let Ok(line) = lines.recv() {
            write_once(line);
        }
    };
    std::thread::Builder::new().name("last-line".to_owned()).spawn(write).map(|_| ())
}

/// Exits the process after a failed flush. Nothing is closed: no later write could be trusted, and a thread in the middle of a
/// write may hold locks.
pub(crate) fn end_after_failed_flush(code: u8) -> ! {
    write_once(FLUSH_FAILED);
    exit(code)
}

/// Writes the last line, once. A second caller waits until it is written, because the process exits right after.
fn write_once(line: &str) {
    static IS_WRITTEN: Mutex<bool> = Mutex::new(false);
    let mut is_written = IS_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_written {
        // Before the log is flushed, which a slow disk or reader may hold up.
        *is_written = std::io::stderr().write_all(format!("tunneldesk: {line}\n").as_bytes()).is_ok();
        crate::log::flush();
    }
}

fn exit(code: u8) -> ! {
    // SAFETY: ends the process at once. All acknowledged writes are on the disk.
    unsafe { libc::_exit(code.into()) }
}
