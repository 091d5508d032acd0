//! The end of the process by a deadline, whatever hangs: a disk that does not answer, a lock, a full pipe.

use std::io::Write;
use std::sync::mpsc;
use std::time::Duration;

/// The last words wait no longer for whoever reads them.
const WORDS_TIME_MAX: Duration = Duration::from_millis(100);

/// Ends the process with this code once the time is up, unless it has ended by then. `words`: the line for the technician.
pub fn end_within(time_max: Duration, code: u8, words: &'static str) {
    let end = move || {
        std::thread::sleep(time_max);
        let (said, heard) = mpsc::channel();
        // The log and standard error may be what hangs.
        _ = std::thread::Builder::new().spawn(move || {
            crate::log::flush();
            _ = writeln!(std::io::stderr(), "tunneldesk: {words}");
            said.send(())
        });
        _ = heard.recv_timeout(WORDS_TIME_MAX);
        // SAFETY: ends the process at once. What was acknowledged is on the disk.
        unsafe { libc::_exit(code.into()) }
    };
    if std::thread::Builder::new().name("deadline".to_owned()).spawn(end).is_err() {
        // Without a thread for it, the service manager's own deadline remains.
        tracing::warn!("no thread watches over the end of the process");
    }
}
