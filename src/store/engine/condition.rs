//! Whether the file takes writes, and if it does not, why.

use super::reserve::Reserve;
use crate::http::failure::{DiskFault, Failure};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    Sound,
    /// There is no room on the disk but what the ballast gave up: that is for sign-in, and whatever frees room. Passes by
    /// itself.
    Full,
    /// A page could not be read, or is not what it must be: nothing is written until the file was looked through. Passes by
    /// itself where the file is sound.
    Doubted,
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

const ALL: [Condition; 7] = [Sound, Full, Doubted, Damaged, Replaced, Stopped, ReadOnly];

/// The condition of one file, and the ballast that is given up when its disk is full.
pub(crate) struct Watched {
    condition: AtomicU8,
    /// Whether somebody is to look through the file.
    look_due: AtomicBool,
    /// Whether what the writer has read before is to be read anew.
    caches_stale: AtomicBool,
    reserve: Mutex<Option<Reserve>>,
}

impl Watched {
    pub(crate) fn new(condition: Condition) -> Watched {
        Watched {
            condition: AtomicU8::new(condition as u8),
            look_due: AtomicBool::new(false),
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
            Sound | Full => None,
            Doubted => Some(
                Failure::overloaded().because("the file is looked through: a page could not be read as it must be"),
            ),
            Damaged => Some(Failure::store_damaged().because("a page of the file is damaged")),
            Replaced => Some(Failure::replaced().because("another machine has taken this one's place")),
            Stopped => Some(Failure::store_stopped().because("an earlier flush of the disk failed")),
            ReadOnly => Some(Failure::read_only().because("the file system takes no writes")),
        }
    }

    /// Notes what a failed statement shows of the disk: full, unwritable or unreadable.
    pub(crate) fn hear(&self, failure: &Failure) {
        self.hear_fault(failure.disk_fault(), failure);
    }

    pub(crate) fn hear_fault(&self, fault: Option<DiskFault>, cause: &dyn std::fmt::Display) {
        match fault {
            Some(DiskFault::Full) => self.fill(cause),
            Some(DiskFault::Unreadable) => self.doubt(cause),
            Some(DiskFault::Unwritable) => self.stop(cause),
            None => {}
        }
    }

    fn doubt(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Doubted) {
            tracing::error!(%cause, "a page of the file could not be read as it must be: nothing is written until the file was looked through");
            self.look_due.store(true, Ordering::Release);
        }
    }

    /// Whether the file is to be looked through now; for one caller.
    pub(crate) fn takes_look(&self) -> bool {
        self.look_due.load(Ordering::Relaxed) && self.look_due.swap(false, Ordering::AcqRel)
    }

    /// The file was looked through and is sound.
    pub(crate) fn trust(&self) {
        self.caches_stale.store(true, Ordering::Release);
        let was = self.condition.compare_exchange(Doubted as u8, Sound as u8, Ordering::AcqRel, Ordering::Relaxed);
        if was.is_ok() {
            tracing::warn!(
                "the file is sound: what could not be read was no damage of it, and writes go on; look after the disk"
            );
        }
    }

    /// Whether the writer is to forget what it has read; once.
    pub(crate) fn takes_stale_caches(&self) -> bool {
        self.caches_stale.load(Ordering::Relaxed) && self.caches_stale.swap(false, Ordering::AcqRel)
    }

    /// A condition gives way to a worse one. Returns whether it was better before.
    fn worsen(&self, to: Condition) -> bool {
        let before = self.condition.fetch_max(to as u8, Ordering::AcqRel);
        before < to as u8
    }

    /// The disk has no room: the ballast goes, so that sign-in has some.
    pub(crate) fn fill(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Full) {
            let room = self.reserve().as_ref().map_or(0, Reserve::give_up);
            tracing::error!(
                %cause,
                given_up_bytes = room,
                "the disk is full: writes are refused, reads and sign-in go on; make room, and the rest goes on by itself"
            );
        }
    }

    pub(crate) fn damage(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Damaged) {
            tracing::error!(%cause, "the file is damaged: nothing is written any more; stop the server and run `tunneldesk restore`");
        }
    }

    /// Another machine has taken this one's place.
    pub(crate) fn replace(&self, cause: &dyn std::fmt::Display) {
        if self.worsen(Replaced) {
            tracing::error!(%cause, "another machine has taken this one's place: nothing is written any more");
        }
    }

    pub(crate) fn stop(&self, cause: &dyn std::fmt::Display) {
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
            Sound if !reserve.leaves_room() => {
                drop(guard);
                self.fill(&"hardly any room is left");
            }
            Full if reserve.is_made() => {
                let was_full =
                    self.condition.compare_exchange(Full as u8, Sound as u8, Ordering::AcqRel, Ordering::Relaxed);
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
        let watched = Watched::new(Sound);
        watched.fill(&"test");
        assert_eq!(watched.get(), Full);
        assert!(watched.refusal().is_none(), "sign-in goes on");
        watched.stop(&"test");
        watched.damage(&"test");
        watched.fill(&"test");
        assert_eq!(watched.get(), Stopped);
        assert_eq!(watched.refusal().unwrap().code(), "store_stopped");
        for (place, condition) in ALL.into_iter().enumerate() {
            assert_eq!(Watched::new(condition).get(), condition);
            assert_eq!(condition as usize, place);
        }
    }

    #[test]
    fn a_doubt_is_looked_into_once_and_passes_where_the_file_is_sound() {
        let watched = Watched::new(Sound);
        let refusal = |watched: &Watched| watched.refusal().map(|refusal| refusal.code());
        watched.hear_fault(Some(DiskFault::Unreadable), &"test");
        watched.hear_fault(Some(DiskFault::Unreadable), &"test");
        assert_eq!((watched.get(), refusal(&watched)), (Doubted, Some("overloaded")));
        assert_eq!([watched.takes_look(), watched.takes_look()], [true, false]);
        watched.trust();
        assert_eq!((watched.get(), refusal(&watched)), (Sound, None));
        assert_eq!([watched.takes_stale_caches(), watched.takes_stale_caches()], [true, false]);
        watched.hear_fault(Some(DiskFault::Unwritable), &"test");
        watched.trust();
        assert_eq!(watched.get(), Stopped);
    }

    #[test]
    fn the_ballast_is_made_given_up_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let watched = Watched::new(Sound);
        watched.set_reserve(Reserve::in_dir(dir.path()));
        watched.check_free_space();
        assert_eq!(watched.get(), Sound);
        let path = crate::store::engine::data_dir::reserve(dir.path());
        let held = std::fs::metadata(&path).unwrap();
        assert!(held.len() >= 8 * 1024 * 1024, "{held:?}");
        watched.fill(&"test");
        assert!(!path.exists());
        assert_eq!(watched.get(), Full);
        watched.check_free_space();
        assert_eq!(watched.get(), Sound);
        assert!(path.exists());
    }
}
