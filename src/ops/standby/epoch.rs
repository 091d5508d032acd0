//! The epoch of a site: a number that each promotion raises, so that of two machines with the same site the replaced one knows
//! it. A site that was never promoted has epoch 0.

use crate::moment::Moment;
use crate::site::Site;
use crate::store::engine::data_dir;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) use super::epoch_files::content;
pub(crate) use super::epoch_files::{EPOCH_MAX, Higher, catch_up, claim, find_higher};

const OWN: &str = "epoch.json";
const FENCED: &str = "replaced.json";

/// The claim of a machine to be the main one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub epoch: u64,
    /// Distinguishes two machines that took the same epoch independently: `1` where the epoch is written off site, else `0`, and
    /// random digits. Empty: the machine was never promoted.
    #[serde(default = "off_site_mark")]
    pub mark: String,
}

/// The longest mark: a digit, and 16 bytes in hex.
pub(crate) const MARK_CHARS_MAX: usize = 33;

fn off_site_mark() -> String {
    "1".to_owned()
}

impl Claim {
    pub(super) fn of_promotion(epoch: u64, is_off_site: bool, content: &str) -> Claim {
        let mark = if epoch == 0 { String::new() } else { format!("{}{content}", u8::from(is_off_site)) };
        Claim { epoch, mark }
    }

    /// The claim of a machine whose epoch is written off site.
    pub(super) fn off_site(epoch: u64) -> Claim {
        Claim { epoch, mark: off_site_mark() }
    }
}

/// The epoch of this machine, from its last promotion (`epoch.json`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OwnEpoch {
    pub epoch: u64,
    /// The machine that this one followed. It is asked from the promotion on, because it may be promoted too.
    #[serde(default)]
    pub main: Option<Main>,
    /// The machine whose place this one has taken, where its address is known.
    #[serde(default)]
    pub other: Option<FormerMachine>,
    /// Random, of the last promotion: the content of the epoch's file (hex).
    #[serde(default)]
    pub content: String,
    /// The content of the epoch's file (hex), as long as it could not be written off site.
    #[serde(default)]
    pub unwritten: Option<String>,
}

impl OwnEpoch {
    pub(crate) fn claim(&self) -> Claim {
        Claim::of_promotion(self.epoch, self.unwritten.is_none(), &self.content)
    }
}

/// A machine whose place this one has taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FormerMachine {
    /// Like `https://tunnel.example.org`.
    pub url: String,
    /// Whether it knows that it was replaced.
    pub knows: bool,
}

/// How a standby reaches the machine that it follows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Main {
    /// Like `https://tunnel.example.org`.
    pub url: String,
    pub token_file: PathBuf,
    /// PEM; trusted instead of the public authorities.
    pub ca_file: Option<PathBuf>,
}

/// Another machine has replaced this one (`replaced.json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fenced {
    #[serde(flatten)]
    pub claim: Claim,
    /// Unix seconds.
    pub since: Moment,
    /// Where the epoch was seen.
    pub by: String,
    /// The address of the other machine, where it is known.
    #[serde(default)]
    pub url: Option<String>,
}

impl Display for Fenced {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "epoch {} is in force, as {} says", self.claim.epoch, self.by)?;
        self.url.as_ref().map_or(Ok(()), |url| write!(f, "; the other machine is {url}"))
    }
}

/// The epoch of a data directory. A file that cannot be read counts as 0: at worst a machine then stops writing.
pub(crate) fn own(data: &Path) -> OwnEpoch {
    read(&data.join(OWN)).unwrap_or_default()
}

pub(crate) fn set_own(data: &Path, own: &OwnEpoch) -> io::Result<()> {
    let _alone = lock_own();
    write(data, OWN, own)
}

/// Changes the epoch file of a running server, where several threads may.
pub(crate) fn change_own(data: &Path, change: impl FnOnce(&mut OwnEpoch)) -> io::Result<()> {
    let _alone = lock_own();
    let mut own = own(data);
    change(&mut own);
    write(data, OWN, &own)
}

fn lock_own() -> MutexGuard<'static, ()> {
    static CHANGING: Mutex<()> = Mutex::new(());
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the machine of a data directory was replaced.
pub(crate) fn fenced(data: &Path) -> Option<Fenced> {
    read::<Fenced>(&data.join(FENCED)).filter(|fenced| fenced.claim > own(data).claim())
}

/// Refuses writes from now on, also after a restart. `url`: the address of the other machine.
pub(super) fn fence(site: &Site, claim: &Claim, by: &str, url: Option<&str>) {
    let data = &site.config.data;
    let known = fenced(data);
    let is_news = known.as_ref().is_none_or(|known| known.claim < *claim || known.url.is_none() && url.is_some());
    if !is_news {
        return site.store.writer().monitor.mark_replaced(&by);
    }
    let url =
        url.map(str::to_owned).or(known.filter(|known| known.claim.epoch == claim.epoch).and_then(|known| known.url));
    let fenced = Fenced { claim: claim.clone(), since: site.now(), by: by.to_owned(), url };
    // Before the file: writes end also where the disk does not take it.
    site.store.writer().monitor.mark_replaced(&fenced);
    if let Err(cause) = write(data, FENCED, &fenced) {
        tracing::error!(%cause, "cannot note that another machine has replaced this one");
    }
    site.forget_health();
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&crate::files::read(path).ok()?).ok()
}

/// Replaces a file in one step, flushed.
pub(super) fn write(dir: &Path, name: &str, value: &impl Serialize) -> io::Result<()> {
    let unfinished = dir.join(format!(".{name}.unfinished"));
    let mut file =
        crate::files::open_with(OpenOptions::new().write(true).create(true).truncate(true).mode(0o600), &unfinished)?;
    file.write_all(&serde_json::to_vec_pretty(value)?)?;
    file.sync_all()?;
    std::fs::rename(unfinished, dir.join(name))?;
    File::open(dir)?.sync_all()
}

/// The epoch for a promotion of this data directory: higher than any that is known here.
pub(super) fn next(data: &Path, known: u64) -> u64 {
    let fenced = read::<Fenced>(&data.join(FENCED)).map_or(0, |fenced| fenced.claim.epoch);
    own(data).epoch.max(fenced).max(known) + 1
}

/// Whether a directory holds a site of its own.
pub(super) fn has_site(data: &Path) -> bool {
    data_dir::database(data).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence_at(epoch: u64) -> Fenced {
        Fenced { claim: Claim::off_site(epoch), since: Moment(7), by: "a test".to_owned(), url: None }
    }

    #[test]
    fn of_two_machines_with_one_epoch_the_one_that_could_not_write_it_off_site_gives_way() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path();
        let fenced_at = |epoch| {
            write(data, FENCED, &fence_at(epoch)).unwrap();
            fenced(data).is_some()
        };
        set_own(data, &OwnEpoch { epoch: 2, unwritten: Some("b".to_owned()), ..OwnEpoch::default() }).unwrap();
        assert_eq!([fenced_at(1), fenced_at(2), fenced_at(3)], [false, true, true]);
        change_own(data, |own| own.unwritten = None).unwrap();
        assert_eq!([fenced_at(1), fenced_at(2), fenced_at(3)], [false, false, true]);
    }

    #[test]
    fn a_promotion_is_higher_than_all_that_a_directory_knows() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!((own(data.path()), next(data.path(), 0)), (OwnEpoch::default(), 1));
        write(data.path(), FENCED, &fence_at(4)).unwrap();
        assert_eq!((fenced(data.path()).unwrap().claim.epoch, next(data.path(), 2)), (4, 5));
        set_own(data.path(), &OwnEpoch { epoch: 5, ..OwnEpoch::default() }).unwrap();
        assert_eq!((fenced(data.path()), next(data.path(), 8)), (None, 9));
    }
}
