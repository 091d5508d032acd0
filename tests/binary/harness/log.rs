//! The standard error of a running server, line by line as it comes.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Default)]
pub struct Log(Arc<(Mutex<Written>, Condvar)>);

#[derive(Default)]
struct Written {
    lines: Vec<String>,
    ended: bool,
}

impl Log {
    pub fn follow(source: impl Read + Send + 'static) -> Log {
        let log = Log::default();
        let grown = log.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(source).lines().map_while(Result::ok) {
                grown.add(|written| written.lines.push(line));
            }
            grown.add(|written| written.ended = true);
        });
        log
    }

    fn add(&self, change: impl FnOnce(&mut Written)) {
        let (written, grown) = &*self.0;
        change(&mut written.lock().unwrap());
        grown.notify_all();
    }

    /// Waits for the first line with this message. `None`: the log ended without it.
    pub fn wait_for(&self, message: &str) -> Option<Value> {
        let found = |written: &Written| written.lines.iter().filter_map(|l| parse(l)).find(|l| l["message"] == message);
        let written = self.wait_until(|written| written.ended || found(written).is_some());
        found(&written)
    }

    /// The lines so far.
    pub fn so_far(&self) -> Vec<String> {
        self.0.0.lock().unwrap().lines.clone()
    }

    /// The whole log, once the process has closed it.
    pub fn whole(&self) -> Vec<String> {
        self.wait_until(|written| written.ended).lines.clone()
    }

    fn wait_until(&self, done: impl Fn(&Written) -> bool) -> std::sync::MutexGuard<'_, Written> {
        let (written, grown) = &*self.0;
        let (written, late) = grown.wait_timeout_while(written.lock().unwrap(), PATIENCE, |w| !done(w)).unwrap();
        assert!(!late.timed_out(), "the log did not say it within {PATIENCE:?}:\n{}", written.lines.join("\n"));
        written
    }
}

fn parse(line: &str) -> Option<Value> {
    serde_json::from_str(line).ok()
}
