//! Why a running server ends, and its end by a deadline whatever hangs: a disk that does not answer, a lock, a full pipe.

use std::io::Write;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How often a failed flush and a disk that can be written again are looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// For the process to end once it is told to: longer than open requests may take, shorter than a service manager waits.
const TOLD_TIME_MAX: Duration = Duration::from_secs(15);
/// The same after a failed flush.
const STOPPED_TIME_MAX: Duration = Duration::from_millis(700);
/// The last words wait no longer for whoever reads them.
const WORDS_TIME_MAX: Duration = Duration::from_millis(100);
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
    /// The file was served as it is, and could be written again.
    Writable,
}

impl ShutdownCause {
    fn time_max(self) -> Duration {
        match self {
            ShutdownCause::StoreStopped => STOPPED_TIME_MAX,
            ShutdownCause::Signal | ShutdownCause::Writable => TOLD_TIME_MAX,
        }
    }

    fn last_words(self) -> &'static str {
        match self {
            ShutdownCause::StoreStopped => FLUSH_FAILED,
            ShutdownCause::Signal | ShutdownCause::Writable => "something hung, so the server ended without it",
        }
    }
}

/// The thread that waits for the end of a server. From its time's end on the process is gone, whatever the other threads do:
/// once a signal has come this thread takes no lock and asks for no memory, because a hung thread may hold either.
pub(crate) struct ShutdownWatch(mpsc::Receiver<ShutdownCause>);

impl ShutdownWatch {
    /// Takes SIGTERM and SIGINT: from here on they do not end the process by themselves. `writable` is told when a file that
    /// was served as it is could be written; `is_stopped` says whether a flush of the disk failed; `code` is the exit code of a
    /// process that did not end in time.
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
        let (say, said) = mpsc::sync_channel(1);
        start_speaker(said)?;
        let (tell, told) = mpsc::sync_channel(1);
        let wait = move || {
            let end = runtime.block_on(first_reason(terminate, interrupt, &is_stopped, &writable));
            _ = tell.try_send(end);
            // These words are the same whoever comes to the end first, so they wait for nobody.
            if end == ShutdownCause::StoreStopped {
                _ = say.try_send(end.last_words());
            }
            std::thread::sleep(end.time_max());
            _ = say.try_send(end.last_words());
            std::thread::sleep(WORDS_TIME_MAX);
            exit(code)
        };
        std::thread::Builder::new().name("ending".to_owned()).spawn(wait)?;
        Ok(ShutdownWatch(told))
    }

    /// Waits for the reason to end; the time for it runs from there.
    pub(crate) fn wait(self) -> ShutdownCause {
        self.0.recv().unwrap_or(ShutdownCause::Signal)
    }
}

async fn first_reason(
    mut terminate: Signal,
    mut interrupt: Signal,
    is_stopped: &impl Fn() -> bool,
    writable: &mpsc::Receiver<()>,
) -> ShutdownCause {
    loop {
        tokio::select! {
            _ = terminate.recv() => return ShutdownCause::Signal,
            _ = interrupt.recv() => return ShutdownCause::Signal,
            () = tokio::time::sleep(LOOK_INTERVAL) => {
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

/// The log and standard error may be what hangs, so the last words have a thread of their own that nobody waits for long.
fn start_speaker(said: mpsc::Receiver<&'static str>) -> std::io::Result<()> {
    let speak = move || {
        if let Ok(words) = said.recv() {
            say_once(words);
        }
    };
    std::thread::Builder::new().name("last-words".to_owned()).spawn(speak).map(|_| ())
}

/// Ends the process after a failed flush. Nothing is closed: nothing that is written from here on could be trusted, and a
/// thread in the middle of a write may hold what would be waited for.
pub(crate) fn end_after_failed_flush(code: u8) -> ! {
    say_once(FLUSH_FAILED);
    exit(code)
}

/// The server ends with one line, whoever comes to it first. A second speaker waits until the line is written: the process
/// ends right after.
fn say_once(words: &str) {
    static IS_SAID: Mutex<bool> = Mutex::new(false);
    let mut is_said = IS_SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_said {
        // Before the lines of the log, for which a slow disk or reader may take what time is left.
        *is_said = std::io::stderr().write_all(format!("tunneldesk: {words}\n").as_bytes()).is_ok();
        crate::log::flush();
    }
}

fn exit(code: u8) -> ! {
    // SAFETY: ends the process at once. All acknowledged writes are on the disk.
    unsafe { libc::_exit(code.into()) }
}
