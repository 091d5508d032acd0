//! The condition of the database: whether it takes writes, and if not, why.

use super::reserve::Reserve;
use crate::http::failure::{DiskFault, Failure};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    Healthy,
    /// The disk is full, and the emergency reserve was released: its space is for sign-ins and for freeing space. Ends
    /// by itself.
    Full,
    /// A page could not be read or failed its checksum: no writes until the whole database was checked. Ends by itself
    /// where the check finds no damage.
    Suspect,
    /// The database is damaged. Reads go on where they can; only a restore ends this.
    Damaged,
    /// Another machine was promoted in this one's place: writes here would fork the history.
    Replaced,
    /// A flush of the disk failed: the kernel may have dropped its pages, so later flushes prove nothing. The process
    /// must end.
    Stopped,
    /// The file system is read-only. The database is served as it is until the next start.
    ReadOnly,
}

use Condition::*;

const ALL: [Condition; 7] = [Healthy, Full, Suspect, Damaged, Replaced, Stopped, ReadOnly];

/// The condition of one database, and the emergency reserve of its disk.
pub(crate) struct ConditionMonitor {
    condition: AtomicU8,
    /// Whether a check of the whole database is due.
    check_due: AtomicBool,
    /// Whether the writer must drop its page cache.
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

    /// The failure of every write in this condition; `None`: writes are possible.
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

    /// Records what a failed statement shows of the disk: full, unwritable or unreadable.
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

    /// Whether a check of the whole database is due. Returns true to one caller only.
    pub(crate) fn take_check_due(&self) -> bool {
        self.check_due.load(Ordering::Relaxed) && self.check_due.swap(false, Ordering::AcqRel)
    }

    /// Records that the whole database was checked and is sound, which ends [`Suspect`].
    pub(crate) fn clear_suspicion(&self) {
        self.caches_stale.store(true, Ordering::Release);
        let was = self.condition.compare_exchange(Suspect as u8, Healthy as u8, Ordering::AcqRel, Ordering::Relaxed);
        if was.is_ok() {
            tracing::warn!("the file is sound: the read error was not damage of it, and writes go on; check the disk");
        }
    }

    /// Whether the writer must drop its page cache. Returns true once.
    pub(crate) fn take_caches_stale(&self) -> bool {
        self.caches_stale.load(Ordering::Relaxed) && self.caches_stale.swap(false, Ordering::AcqRel)
    }

    /// Sets a worse condition. Returns false where the present one is as bad or worse.
    fn worsen(&self, to: Condition) -> bool {
        let before = self.condition.fetch_max(to as u8, Ordering::AcqRel);
        before < to as u8
    }

    /// Records that the disk is full, and releases the emergency reserve.
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

    /// Records that another machine was promoted in this one's place.
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

    /// Sets the emergency reserve, and creates its file where there is room.
    pub(crate) fn set_reserve(&self, reserve: Reserve) {
        *self.reserve() = Some(reserve);
        self.check_free_space();
    }

    /// Marks the disk as full where hardly any space is left. Restores the reserve and allows writes again where
    /// enough space is free.
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
    fn a_worse_condition_is_never_replaced_by_a_better_one() {
        let monitor = ConditionMonitor::new(Healthy);
        monitor.mark_full(&"test");
        assert_eq!(monitor.get(), Full);
        assert!(monitor.refusal().is_none(), "sign-in goes on");
        monitor.mark_stopped(&"test");
        monitor.mark_damaged(&"test");
        monitor.mark_full(&"test");
        assert_eq!(monitor.get(), Stopped);
        assert_eq!(monitor.refusal().unwrap().code(), "store_stopped");
        for (number, condition) in ALL.into_iter().enumerate() {
            assert_eq!(ConditionMonitor::new(condition).get(), condition);
            assert_eq!(condition as usize, number);
        }
    }

    #[test]
    fn a_suspect_database_is_checked_once_and_healthy_again_where_it_is_sound() {
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
    fn the_reserve_is_created_released_and_created_again() {
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
