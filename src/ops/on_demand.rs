//! Work on demand: long work that a clerk starts at the desk, on a thread of its own. One run of a kind at a time; its outcome
//! is kept until the next run.

use crate::moment::Moment;
use crate::site::Site;
use crate::site::priority;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// A run of some work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run<W> {
    pub work: W,
    pub began_at: Moment,
    /// `None` while it runs; then its result, or one line on what went wrong.
    pub outcome: Option<Result<String, String>>,
}

/// The last run of a kind of work.
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

    /// Begins a run. `false`: the last one has not ended.
    fn begin(&self, work: W, now: Moment) -> bool {
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

/// The last run. Releases the thread's snapshot, which may be older than the end of the run, so that the caller reads what the
/// run wrote.
pub(crate) fn last<W: Copy + Send + Sync + 'static>(site: &Site) -> Option<Run<W>> {
    let last = site.state::<LastRun<W>>().last();
    site.store.release();
    last
}

/// Starts a run. `false`: one of its kind has not ended.
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
        // A panic ends the run too.
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&inside)));
        inside.store.release();
        ended.end(
            outcome.unwrap_or_else(|_| Err("it failed by a fault of this program; the log says where".to_owned())),
        );
    });
    if let Err(e) = begun {
        kept.end(Err(format!("cannot start a thread: {e}")));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::http::failure::Failure;
    use crate::ops::tests::new_site;
    use crate::store::data_dir::DataDir;
    use std::time::{Duration, Instant};

    #[derive(Debug, Clone, Copy)]
    struct Renaming;

    fn version(site: &Site) -> Result<String, Failure> {
        site.store.read(|tx| Ok(tx.get("SELECT version FROM site", [])?))
    }

    #[test]
    fn a_read_after_the_end_of_a_run_sees_what_the_run_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir, Config::defaults());
        let before = version(&site).unwrap();
        let work = |site: &Site| {
            let change = site.store.write(site.now(), |tx| Ok(tx.run("UPDATE site SET version = '9.9.9'", [])?));
            change.map(|_| String::new()).map_err(|e| e.to_string())
        };
        assert!(begin(&site, Renaming, work));
        let deadline = Instant::now() + Duration::from_secs(20);
        while site.state::<LastRun<Renaming>>().last().unwrap().outcome.is_none() {
            assert!(Instant::now() < deadline, "the run does not end");
            std::thread::yield_now();
        }
        assert_eq!(version(&site).unwrap(), before, "this thread's snapshot is from before the run");
        assert_eq!(last::<Renaming>(&site).unwrap().outcome, Some(Ok(String::new())));
        assert_eq!(version(&site).unwrap(), "9.9.9");
    }
}
