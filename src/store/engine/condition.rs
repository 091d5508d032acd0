//! Whether the file takes writes, and if it does not, why.

use super::reserve::Reserve;
use crate::http::failure::{DiskFault, Failure};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    Healthy,
    /// There is no room on the disk but what the ballast gave up: that is for sign-in, and whatever frees room. Passes by
    /// itself.
    Full,
    /// A page could not be read, or is not what it must be: nothing is written until the file was looked through. Passes by
    /// itself where the file is sound.
    Suspect,
    /// A page of the file is not what it must be. Reads go on where they can; only a restore ends it.
    Damaged,
    /// Another machine has taken this one's place: what were written here would be a second history.
    Replaced,
    /// A flush of the disk failed: its pages may be gone, so nothing after it could be trusted. The process must end.
    Stopped,
    /// The file system takes no writes. The file is served as it is, until the process is started again.
    ReadOnly,
}

use Condition::*;

const ALL: [Condition; 7] = [Healthy, Full, Suspect, Damaged, Replaced, Stopped, ReadOnly];

/// The condition of one file, and the ballast that is given up when its disk is full.
pub(crate) struct ConditionMonitor {
    condition: AtomicU8,
    /// Whether somebody is to look through the file.
    check_due: AtomicBool,
    /// Whether what the writer has read before is to be read anew.
    caches_stale: AtomicBool,
    reserve: Mutex<Option<Reserve>>,
}

impl ConditionMonitor {
    pub(crate) fn new(condition: Condition) -> ConditionMonitor {
        ConditionMonitor {
            condition: AtomicU8::new(condition as u8),
            check_due: AtomicBool::new(false),
            caches_stale: AtomicBool::new(false),
            reserve: Mutex::default(),
        }
    }

    pub(crate) fn get(&self) -> Condition {
        ALL[usize::from(self.condition.load(Ordering::Acquire))]
    }

    /// Why nothing is written, where nothing is.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        match self.get() {
            Healthy | Full => None,
            Suspect => Some(
                Failure::overloaded().because("the file is looked through: a page could not be read as it must be"),
            ),
            Damaged => Some(Failure::store_damaged().because("a page of the file is damaged")),
            Replaced => Some(Failure::replaced().because("another machine has taken this one's place")),
            Stopped => Some(Failure::store_stopped().because("an earlier flush of the disk failed")),
            ReadOnly => Some(Failure::read_only().because("the file system takes no writes")),
        }
    }

    /// Notes what a failed statement shows of the disk: full, unwritable or unreadable.
    pub(crate) fn note_failure(&self, failure: &Failure) {
        self.note_fault(failure.disk_fault(), failure);
    }

    pub(crate) fn note_fault(&self, fault: Option<DiskFault>, cause: &dyn std::fmt::Display) {
        match fault {
            Some(DiskFault::Full) => self.mark_full(cause),
            Some(DiskFault::Unreadable) => self.mark_suspect(cause),
            Some(DiskFault::Unwritable) => self.mark_stopped(cause),
            None => {}
        }
    }

    fn mark_suspect(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Suspect) {
            tracing::error!(%cause, "a page of the file could not be read as it must be: nothing is written until the file was looked through");
            self.check_due.store(true, Ordering::Release);
        }
    }

    /// Whether the file is to be looked through now; for one caller.
    pub(crate) fn take_check_due(&self) -> bool {
        self.check_due.load(Ordering::Relaxed) && self.check_due.swap(false, Ordering::AcqRel)
    }

    /// The file was looked through and is sound.
    pub(crate) fn clear_suspicion(&self) {
        self.caches_stale.store(true, Ordering::Release);
        let was = self.condition.compare_exchange(Suspect as u8, Healthy as u8, Ordering::AcqRel, Ordering::Relaxed);
        if was.is_ok() {
            tracing::warn!(
                "the file is sound: what could not be read was no damage of it, and writes go on; look after the disk"
            );
        }
    }

    /// Whether the writer is to forget what it has read; once.
    pub(crate) fn take_caches_stale(&self) -> bool {
        self.caches_stale.load(Ordering::Relaxed) && self.caches_stale.swap(false, Ordering::AcqRel)
    }

    /// A condition gives way to a worse one. Returns whether it was better before.
    fn worsen(&self, to: Condition) -> bool {
        let before = self.condition.fetch_max(to as u8, Ordering::AcqRel);
        before < to as u8
    }

    /// The disk has no room: the ballast goes, so that sign-in has some.
    pub(crate) fn mark_full(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Full) {
            let room = self.reserve().as_ref().map_or(0, Reserve::release);
            tracing::error!(
                %cause,
                given_up_bytes = room,
                "the disk is full: writes are refused, reads and sign-in go on; make room, and the rest goes on by itself"
            );
        }
    }

    pub(crate) fn mark_damaged(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Damaged) {
            tracing::error!(%cause, "the file is damaged: nothing is written any more; stop the server and run `tunneldesk restore`");
        }
    }

    /// Another machine has taken this one's place.
    pub(crate) fn mark_replaced(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Replaced) {
            tracing::error!(%cause, "another machine has taken this one's place: nothing is written any more");
        }
    }

    pub(crate) fn mark_stopped(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Stopped) {
            tracing::error!(%cause, "a flush of the disk failed; no more writes until a restart");
        }
    }

    /// From now on this ballast is what is given up.
    pub(crate) fn set_reserve(&self, reserve: Reserve) {
        *self.reserve() = Some(reserve);
        self.check_free_space();
    }

    /// Makes the ballast where there is room for it, and lets writes go on once it is there.
    pub(crate) fn check_free_space(&self) {
        let guard = self.reserve();
        let Some(reserve) = guard.as_ref() else { return };
        match self.get() {
            Healthy if !reserve.has_free_space() => {
                drop(guard);
                self.mark_full(&"hardly any room is left");
            }
            Full if reserve.ensure() => {
                let was_full =
                    self.condition.compare_exchange(Full as u8, Healthy as u8, Ordering::AcqRel, Ordering::Relaxed);
                if was_full.is_ok() {
                    tracing::info!("the disk has room again: writes go on");
                }
            }
            _ => {}
        }
    }

    fn reserve(&self) -> std::sync::MutexGuard<'_, Option<Reserve>> {
        self.reserve.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_only_gets_worse_but_for_room() {
        let monitor = ConditionMonitor::new(Healthy);
        monitor.mark_full(&"test");
        assert_eq!(monitor.get(), Full);
        assert!(monitor.refusal().is_none(), "sign-in goes on");
        monitor.mark_stopped(&"test");
        monitor.mark_damaged(&"test");
        monitor.mark_full(&"test");
        assert_eq!(monitor.get(), Stopped);
        assert_eq!(monitor.refusal().unwrap().code(), "store_stopped");
        for (place, condition) in ALL.into_iter().enumerate() {
            assert_eq!(ConditionMonitor::new(condition).get(), condition);
            assert_eq!(condition as usize, place);
        }
    }

    #[test]
    fn a_doubt_is_looked_into_once_and_passes_where_the_file_is_sound() {
        let monitor = ConditionMonitor::new(Healthy);
        let refusal = |monitor: &ConditionMonitor| monitor.refusal().map(|refusal| refusal.code());
        monitor.note_fault(Some(DiskFault::Unreadable), &"test");
        monitor.note_fault(Some(DiskFault::Unreadable), &"test");
        assert_eq!((monitor.get(), refusal(&monitor)), (Suspect, Some("overloaded")));
        assert_eq!([monitor.take_check_due(), monitor.take_check_due()], [true, false]);
        monitor.clear_suspicion();
        assert_eq!((monitor.get(), refusal(&monitor)), (Healthy, None));
        assert_eq!([monitor.take_caches_stale(), monitor.take_caches_stale()], [true, false]);
        monitor.note_fault(Some(DiskFault::Unwritable), &"test");
        monitor.clear_suspicion();
        assert_eq!(monitor.get(), Stopped);
    }

    #[test]
    fn the_ballast_is_made_given_up_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let monitor = ConditionMonitor::new(Healthy);
        monitor.set_reserve(Reserve::in_dir(dir.path()));
        monitor.check_free_space();
        assert_eq!(monitor.get(), Healthy);
        let path = crate::store::engine::data_dir::reserve(dir.path());
        let held = std::fs::metadata(&path).unwrap();
        assert!(held.len() >= 8 * 1024 * 1024, "{held:?}");
        monitor.mark_full(&"test");
        assert!(!path.exists());
        assert_eq!(monitor.get(), Full);
        monitor.check_free_space();
        assert_eq!(monitor.get(), Healthy);
        assert!(path.exists());
    }
}
