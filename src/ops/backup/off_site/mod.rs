//! Work on the second place. The second place may be a share whose server is gone, and a thread that touches such a
//! share hangs. So a thread of its own does each piece of work there, the caller waits for it for a limited time, and
//! no other is begun before it is back.

use super::backup_store::{Backup, BackupStore, PruneExceptions};
use super::{check_space, tombstones};
use crate::config::Config;
use crate::config::recipient::Recipient;
use crate::ops::replication::chain::{TICKS_KEPT_SECONDS, ticks_of};
use crate::ops::replication::replay::Replay;
use crate::ops::replication::target::Target;
use crate::ops::standby::epoch;
use crate::site::Site;
use crate::store::queries::erasure::Tombstone;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::Duration;

/// A disk that sleeps takes some seconds to wake.
const LOOK_TIME_MAX: Duration = Duration::from_secs(5);
/// Between two steps of a copy: the last one is a flush, and a share far away takes all that was written since.
const STEP_TIME_MAX: Duration = Duration::from_secs(600);

/// The queues of work on the second place: one each for looks, copies, ticks and drills, so that short work does not wait
/// behind long work.
pub(crate) struct OffSite {
    looks: Worker,
    copies: Worker,
    ticks: Worker,
    drills: Worker,
    look_time_max: Duration,
    step_time_max: Duration,
    target: OnceLock<Option<Target>>,
}

/// One piece of work at a time.
#[derive(Default)]
struct Worker(Arc<(Mutex<State>, Condvar)>);

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Idle,
    Busy,
    /// The work has taken too long: nobody waits for it any more.
    TimedOut,
}

/// Until this goes, by whatever way, the line is taken.
struct BusyGuard(Arc<(Mutex<State>, Condvar)>);

/// How long work is waited for.
#[derive(Clone, Copy)]
struct Timeouts {
    /// Until earlier work is back.
    line: Duration,
    /// From one step to the next.
    step: Duration,
}

/// Why work was not done, or not while somebody waited for it.
#[derive(Debug, PartialEq)]
enum WorkError {
    /// Earlier work is under way.
    Busy,
    /// The work took too long, or earlier work did and is not back yet.
    TimedOut,
}

enum Message<T> {
    Step(u64, u64),
    Done(T),
}

impl Default for OffSite {
    fn default() -> OffSite {
        OffSite::patient(LOOK_TIME_MAX, STEP_TIME_MAX)
    }
}

impl OffSite {
    /// The second place of a site, where its settings name one.
    pub(crate) fn target_of(site: &Site) -> Option<Target> {
        site.state::<OffSite>().target(&site.config)
    }

    /// The second place that the settings name.
    pub(crate) fn target(&self, config: &Config) -> Option<Target> {
        self.target.get_or_init(|| Target::off_site(config)).clone()
    }

    fn patient(look_time_max: Duration, step_time_max: Duration) -> OffSite {
        OffSite {
            looks: Worker::default(),
            copies: Worker::default(),
            ticks: Worker::default(),
            drills: Worker::default(),
            look_time_max,
            step_time_max,
            target: OnceLock::new(),
        }
    }

    /// The finished backups there, newest first. The error: it does not answer, or refuses to.
    pub(crate) fn list(&self, place: &Target) -> Result<Vec<Backup>, String> {
        let there = place.clone();
        self.look(place, move |step| match there {
            Target::Directory(dir) => Ok(BackupStore::new(dir).list()),
            Target::S3(folder) => Ok(folder.bases(step)?.whole),
        })
    }

    /// The newest of them.
    pub(crate) fn newest(&self, place: &Target) -> Result<Option<Backup>, String> {
        let there = place.clone();
        self.look(place, move |step| match there {
            Target::Directory(dir) => Ok(BackupStore::new(dir).list().into_iter().next()),
            Target::S3(folder) => Ok(folder.bases(step)?.whole.into_iter().next()),
        })
    }

    /// [`BackupStore::unreadable`] there. The error: it does not answer, or refuses to.
    pub(crate) fn unreadable(&self, place: &Target) -> Result<Vec<(String, String)>, String> {
        let there = place.clone();
        self.look(place, move |step| match there {
            Target::Directory(dir) => Ok(BackupStore::new(dir).unreadable()),
            Target::S3(folder) => Ok(folder.bases(step)?.unreadable),
        })
    }

    /// Who is known there to be erased. The error: it does not answer, or refuses to.
    pub(crate) fn list_erased(&self, place: &Target, site_id: &str) -> Result<Vec<Tombstone>, String> {
        let (there, site_id) = (place.clone(), site_id.to_owned());
        self.look(place, move |_| match there {
            Target::Directory(dir) => Ok(tombstones::list(&dir, &site_id)?.into_iter().collect()),
            Target::S3(folder) => folder.list_erased(&site_id),
        })
    }

    /// Has it know who was erased, where it is there.
    pub(crate) fn keep_erased(&self, place: &Target, site_id: &str, all: &[Tombstone]) -> Result<(), String> {
        let (there, site_id, all) = (place.clone(), site_id.to_owned(), all.to_vec());
        self.look(place, move |_| match there {
            Target::Directory(dir) if dir.is_dir() => {
                tombstones::keep(&dir, &site_id, &all).map_err(|e| unwritten(&dir, &e))
            }
            Target::Directory(_) => Ok(()),
            Target::S3(folder) => folder.keep_erased(&site_id, &all),
        })
    }

    /// An epoch of a site there that is higher than the own. `None`: there is none, or the place does not answer.
    pub(crate) fn find_higher_epoch(&self, place: &Target, site_id: &str, own: u64) -> Option<u64> {
        let (there, site_id) = (place.clone(), site_id.to_owned());
        let find =
            move || epoch::find_higher(&there, &site_id, own).map_err(|e| format!("cannot read in {there}: {e}"));
        self.look(place, move |_| find()).ok().flatten()
    }

    /// [`epoch::claim`] or [`epoch::catch_up`] there. The error: the place does not answer, or takes no file.
    pub(crate) fn write_epoch<T: Send + 'static>(
        &self,
        place: &Target,
        site_id: &str,
        epoch: u64,
        content: &str,
        write: fn(&Target, &str, u64, &str) -> io::Result<T>,
    ) -> Result<T, String> {
        let (there, site_id, content) = (place.clone(), site_id.to_owned(), content.to_owned());
        self.look(place, move |_| {
            write(&there, &site_id, epoch, &content).map_err(|e| format!("cannot write to {there}: {e}"))
        })
    }

    /// A copy of a backup there, with its own pruning; encrypted, where a recipient is named. Nothing is begun where the place
    /// does not answer at once, or where the copy of another backup is under way. `progress` is told bytes done and in all.
    pub(crate) fn carry(
        &self,
        backup: &Backup,
        place: &Target,
        recipient: Option<&Recipient>,
        exceptions: PruneExceptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, String> {
        self.list(place)?;
        let (backup, there, recipient) = (backup.clone(), place.clone(), recipient.cloned());
        let timeouts = Timeouts { line: self.look_time_max / 2, step: self.step_time_max };
        let carried = self.copies.work(timeouts, progress, move |step| match there {
            Target::Directory(dir) => put(&backup, &dir, recipient.as_ref(), &exceptions, step),
            Target::S3(folder) => folder.carry(&backup, recipient.as_ref(), &exceptions, step),
        });
        carried.unwrap_or_else(|missed| match missed {
            WorkError::Busy => Err(format!("the copy of another backup to {place} is in progress: wait for it")),
            WorkError::TimedOut => Err(no_answer(place)),
        })
    }

    /// The ticks behind a base there. `Err`: it does not answer. `None`: none can go on from that backup.
    pub(crate) fn replay(&self, base: &Backup, place: &Target, until: Option<i64>) -> Result<Option<Replay>, String> {
        let (base, there) = (base.clone(), place.within(&base.name()));
        self.look(place, move |_| Replay::of(&base, &there, until))
    }

    /// A tick there, or a look at the last one; nothing is begun while an earlier one hangs. `None`: the place does not
    /// answer within `timeouts`.
    pub(crate) fn send<T: Send + 'static>(
        &self,
        timeouts: Duration,
        send: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let timeouts = Timeouts { line: Duration::ZERO, step: timeouts };
        self.ticks.work(timeouts, &mut |_, _| (), |_| send()).ok()
    }

    /// A restore from there, on trial. `progress` is told what `work` tells. The outer error: another is in progress; the inner
    /// one: `work`'s, or the place does not answer.
    pub(crate) fn try_out<T: Send + 'static>(
        &self,
        place: &Target,
        progress: &mut dyn FnMut(u64, u64),
        work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> Result<T, String> + Send + 'static,
    ) -> Result<Result<T, String>, String> {
        let timeouts = Timeouts { line: Duration::ZERO, step: self.step_time_max };
        match self.drills.work(timeouts, progress, work) {
            Ok(tried) => Ok(tried),
            Err(WorkError::Busy) => Err("another restore drill is in progress: wait for it".to_owned()),
            Err(WorkError::TimedOut) => Ok(Err(no_answer(place))),
        }
    }

    /// Short work there, or such that tells of its steps.
    fn look<T: Send + 'static>(
        &self,
        place: &Target,
        look: impl FnOnce(&mut dyn FnMut()) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let timeouts = Timeouts { line: self.look_time_max, step: self.look_time_max };
        let looked = self.looks.work(timeouts, &mut |_, _| (), |step| look(&mut || step(0, 0)));
        looked.unwrap_or_else(|_| Err(no_answer(place)))
    }
}

fn put(
    backup: &Backup,
    dir: &Path,
    recipient: Option<&Recipient>,
    exceptions: &PruneExceptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Backup, String> {
    let failed = |e: io::Error| unwritten(dir, &e);
    if !dir.is_dir() {
        return Err(format!("{} is not there: is it mounted?", dir.display()));
    }
    check_space(backup.manifest.bytes(), dir)?;
    let backup_store = BackupStore::new(dir.to_owned());
    let lock = backup_store.lock()?;
    let unfinished = lock.start(&backup.name()).map_err(failed)?;
    let manifest = match recipient {
        Some(recipient) => backup.encrypt_to(&unfinished, recipient, progress).map_err(failed)?,
        None => {
            backup.copy_to(&unfinished, None, progress)?;
            backup.manifest.clone()
        }
    };
    manifest.write(&unfinished).map_err(failed)?;
    let dir = lock.finish(&unfinished, &backup.name()).map_err(failed)?;
    lock.prune(backup.manifest.made_at, exceptions).map_err(failed)?;
    let is_ours = |other: &Backup| other.manifest.site_id == backup.manifest.site_id;
    let ours: Vec<Backup> = backup_store.list().into_iter().filter(is_ours).collect();
    prune_ticks(&ours, backup.manifest.made_at).map_err(failed)?;
    Ok(Backup { at: Target::Directory(dir), manifest })
}

/// Chains that ended longer ago than a day keep their base alone: the next base is their end. `backups`: a site's,
/// newest first.
fn prune_ticks(backups: &[Backup], now: i64) -> io::Result<()> {
    let ended = backups.windows(2).filter(|pair| pair[0].manifest.made_at < now - TICKS_KEPT_SECONDS);
    let ticks = ended.map(|pair| ticks_of(&pair[1].at));
    ticks.filter_map(|ticks| ticks.path().filter(|dir| dir.exists()).map(std::fs::remove_dir_all)).collect()
}

/// A service may write nowhere but where its unit says, which is not where anybody looks first.
fn unwritten(dir: &Path, e: &io::Error) -> String {
    let dir = dir.display();
    let next = match e.kind() {
        io::ErrorKind::ReadOnlyFilesystem => format!(
            "; the service may write there once `systemctl edit tunneldesk` has [Service] ReadWritePaths={dir} and it is restarted"
        ),
        io::ErrorKind::PermissionDenied => "; let the user that the server runs as write there".to_owned(),
        _ => String::new(),
    };
    format!("cannot write to {dir}: {e}{next}")
}

/// The message about a second place that does not answer.
pub(crate) fn no_answer(place: &Target) -> String {
    format!("{place} does not answer: look after the machine that it is on, and the network between")
}

impl Worker {
    /// Waits for as long as steps are told of or the end is.
    fn work<T: Send + 'static>(
        &self,
        timeouts: Timeouts,
        told: &mut dyn FnMut(u64, u64),
        work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let (state, freed) = &*self.0;
        let others = freed.wait_timeout_while(lock(state), timeouts.line, |state| *state == State::Busy);
        let (mut state, _) = others.unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Idle => {}
            State::Busy => return Err(WorkError::Busy),
            State::TimedOut => return Err(WorkError::TimedOut),
        }
        *state = State::Busy;
        drop(state);
        let (tell, words) = mpsc::channel();
        let taken = BusyGuard(self.0.clone());
        let begun = std::thread::Builder::new().name("off-site".to_owned()).spawn(move || {
            let end = work(&mut |done, all| _ = tell.send(Message::Step(done, all)));
            drop(taken);
            _ = tell.send(Message::Done(end));
        });
        let end = begun.ok().and_then(|_| {
            loop {
                match words.recv_timeout(timeouts.step) {
                    Ok(Message::Step(done, all)) => told(done, all),
                    Ok(Message::Done(end)) => return Some(end),
                    Err(_) => return None,
                }
            }
        });
        if end.is_none() {
            let mut state = lock(&self.0.0);
            if *state == State::Busy {
                *state = State::TimedOut;
                freed.notify_all();
            }
        }
        end.ok_or(WorkError::TimedOut)
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        *lock(&self.0.0) = State::Idle;
        self.0.1.notify_all();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
