//! Work that somebody asked for at the desk: one at a time of its kind, on a thread of its own, because it takes as long as
//! the file is large. How it ended is kept until the next one.

use crate::site::Site;
use crate::site::priority;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// The latest that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run<W> {
    pub work: W,
    pub began_at: i64,
    /// `None` while it is under way; then what came of it, or one line on what went wrong.
    pub outcome: Option<Result<String, String>>,
}

pub(crate) struct LastRun<W>(Mutex<Option<Run<W>>>);

impl<W> Default for LastRun<W> {
    fn default() -> LastRun<W> {
        LastRun(Mutex::new(None))
    }
}

impl<W: Copy> LastRun<W> {
    fn last(&self) -> Option<Run<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it may begin: nothing else is under way.
    fn begin(&self, work: W, now: i64) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(|last| last.outcome.is_none()) {
            return false;
        }
        *last = Some(Run { work, began_at: now, outcome: None });
        true
    }

    fn end(&self, outcome: Result<String, String>) {
        if let Some(last) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            last.outcome = Some(outcome);
        }
    }
}

/// The latest that was asked for. The thread's snapshot of the file is given back: it may be older than the end of that work,
/// and whoever is told that the work is over shall read what came of it.
pub(crate) fn last<W: Copy + Send + Sync + 'static>(site: &Site) -> Option<Run<W>> {
    let last = site.state::<LastRun<W>>().last();
    site.store.release();
    last
}

/// Begins it; `false`: another of its kind is under way.
pub(crate) fn begin<W: Copy + Send + Sync + 'static>(
    site: &Site,
    work: W,
    run: impl FnOnce(&Site) -> Result<String, String> + Send + 'static,
) -> bool {
    let kept = site.state::<LastRun<W>>();
    if !kept.begin(work, site.now()) {
        return false;
    }
    let (inside, ended) = (site.for_another_thread(), kept.clone());
    let begun = std::thread::Builder::new().name("on-demand".to_owned()).spawn(move || {
        priority::lower();
        // A fault in it must not leave it under way for ever.
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&inside)));
        inside.store.release();
        ended.end(outcome.unwrap_or_else(|_| Err("it failed by a fault of ours; the log says where".to_owned())));
    });
    if let Err(e) = begun {
        kept.end(Err(format!("cannot start a thread: {e}")));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::Config;
    use crate::http::failure::Failure;
    use crate::ops::lifecycle::Identity;
    use crate::store::engine::data_dir::DataDir;
    use std::time::{Duration, Instant};

    #[derive(Debug, Clone, Copy)]
    struct Renaming;

    fn version(site: &Site) -> Result<String, Failure> {
        site.store.read(|tx| Ok(tx.get("SELECT version FROM site", [], |row| row.get(0))?))
    }

    #[test]
    fn what_is_read_after_the_end_of_the_work_has_what_came_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let identity = Identity { tunnel_id: 1, name: "Here".into(), city: String::new(), country: "CH".into() };
        let site = Site::create(&data_dir, Config::defaults(), Clock::frozen(1_800_000_000), &identity).unwrap();
        let before = version(&site).unwrap();
        let work = |site: &Site| {
            let change = site.store.write(site.now(), |tx| Ok(tx.run("UPDATE site SET version = '9.9.9'", [])?));
            change.map(|_| String::new()).map_err(|e| e.to_string())
        };
        assert!(begin(&site, Renaming, work));
        let deadline = Instant::now() + Duration::from_secs(20);
        while site.state::<LastRun<Renaming>>().last().unwrap().outcome.is_none() {
            assert!(Instant::now() < deadline, "the work does not end");
            std::thread::yield_now();
        }
        assert_eq!(version(&site).unwrap(), before, "this thread's snapshot is from before the work");
        assert_eq!(last::<Renaming>(&site).unwrap().outcome, Some(Ok(String::new())));
        assert_eq!(version(&site).unwrap(), "9.9.9");
    }
}
