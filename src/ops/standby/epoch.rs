//! The epoch of a site: a number that each promotion raises, so that of two machines with the same site one knows that it was
//! replaced. A site that was never promoted has epoch 0.

use crate::keys::random;
use crate::ops::backup::shelf;
use crate::ops::replication::target::{Target, Written};
use crate::site::Site;
use crate::store::engine::place;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const OWN: &str = "epoch.json";
const FENCED: &str = "replaced.json";
/// As many promotions in vain are no race.
const CLAIMS_MAX: u64 = 100;

/// The epoch of this machine, by the last promotion here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Own {
    pub epoch: u64,
    /// The machine that was replaced, until it knows.
    #[serde(default)]
    pub main: Option<Main>,
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

/// Another machine has taken this one's place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fenced {
    pub epoch: u64,
    /// In Unix seconds.
    pub since: i64,
    /// Who said so.
    pub by: String,
}

impl Display for Fenced {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "epoch {} is in force, as {} says", self.epoch, self.by)
    }
}

/// Of a data directory. One that cannot be read is 0: the worst that comes of it is a machine that stops.
pub(crate) fn own(data: &Path) -> Own {
    read(&data.join(OWN)).unwrap_or_default()
}

pub(crate) fn set_own(data: &Path, own: &Own) -> io::Result<()> {
    write(data, OWN, own)
}

/// Whether the machine of a data directory was replaced.
pub(crate) fn fenced(data: &Path) -> Option<Fenced> {
    read::<Fenced>(&data.join(FENCED)).filter(|fenced| fenced.epoch > own(data).epoch)
}

/// Refuses writes from now on, also after a restart, where an epoch is higher than this machine's. Whether it is.
pub(crate) fn fence_if_higher(site: &Site, epoch: u64, by: &str) -> bool {
    let data = &site.config.data;
    if epoch <= own(data).epoch {
        return false;
    }
    let fenced = Fenced { epoch, since: site.now(), by: by.to_owned() };
    // At once: a disk that does not take the note is no reason to write on.
    site.store.writer().watched.replace(&fenced);
    if self::fenced(data).is_none_or(|known| known.epoch < epoch)
        && let Err(cause) = write(data, FENCED, &fenced)
    {
        tracing::error!(%cause, "cannot note that another machine has taken this one's place");
    }
    site.forget_health();
    true
}

/// The folder of a site's epochs in a second place.
fn folder_of(site_id: &str) -> String {
    format!("epochs-{site_id}")
}

fn name_of(epoch: u64) -> String {
    format!("{epoch:010}")
}

/// An epoch of a site in a second place that is higher than the own; `None`: there is none.
pub(crate) fn find_higher(second: &Target, site_id: &str, own: u64) -> io::Result<Option<u64>> {
    let epochs = second.within(&folder_of(site_id));
    match second {
        Target::Directory(_) => Ok(Some(newest_in(&epochs)?).filter(|newest| *newest > own)),
        // A list costs more than a look at one name, and none is left out: see `claim`.
        Target::S3(_) => Ok(epochs.bytes_of(&name_of(own + 1))?.map(|_| own + 1)),
    }
}

/// The highest one; 0: there is none.
fn newest_in(epochs: &Target) -> io::Result<u64> {
    match epochs.list() {
        Ok(names) => Ok(names.iter().filter_map(|name| name.parse().ok()).max().unwrap_or_default()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(e) => Err(e),
    }
}

/// Takes the next epoch of a site in a second place, `epoch` or higher, and every lower one that nobody took: one that is
/// taken is another machine's.
pub(crate) fn claim(second: &Target, site_id: &str, epoch: u64) -> io::Result<u64> {
    if let Target::S3(store) = second {
        // It shows by this whether it keeps the first of two files.
        store.probe().map_err(io::Error::other)?;
    }
    let epochs = second.within(&folder_of(site_id));
    let newest = newest_in(&epochs)?;
    let wanted = epoch.max(newest + 1);
    let machine = random::<16>();
    for epoch in newest + 1..wanted + CLAIMS_MAX {
        match put(&epochs, &name_of(epoch), &machine) {
            Ok(()) if epoch >= wanted => return Ok(epoch),
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("other machines take every epoch"))
}

/// A file that is there once; [`io::ErrorKind::AlreadyExists`]: another machine's is.
fn put(epochs: &Target, name: &str, machine: &[u8]) -> io::Result<()> {
    let Target::Directory(dir) = epochs else {
        return epochs.put(name, &Written::default(), &mut |to| to.write_all(machine)).map(|_| ());
    };
    shelf::make_dir(dir)?;
    dir.parent().map_or(Ok(()), |second| File::open(second)?.sync_all())?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(dir.join(name))?;
    file.write_all(machine)?;
    file.sync_all()?;
    File::open(dir)?.sync_all()
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// The file is there whole or not at all, and flushed.
pub(super) fn write(dir: &Path, name: &str, value: &impl Serialize) -> io::Result<()> {
    let beside = dir.join(format!(".{name}.unfinished"));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(value)?)?;
    file.sync_all()?;
    std::fs::rename(beside, dir.join(name))?;
    File::open(dir)?.sync_all()
}

/// The epoch of a promotion of this data directory: higher than any that is known here.
pub(super) fn next(data: &Path, known: u64) -> u64 {
    let fenced = read::<Fenced>(&data.join(FENCED)).map_or(0, |fenced| fenced.epoch);
    own(data).epoch.max(fenced).max(known) + 1
}

/// Whether a directory holds a site of its own.
pub(super) fn has_site(data: &Path) -> bool {
    place::database(data).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_taken_once_and_a_higher_one_is_seen() {
        let second = tempfile::tempdir().unwrap();
        let second = Target::Directory(second.path().to_owned());
        let higher = |site_id: &str, own| find_higher(&second, site_id, own).unwrap();
        assert_eq!(higher("ab", 0), None);
        let claims: Vec<u64> = (0..3).map(|_| claim(&second, "ab", 1).unwrap()).collect();
        assert_eq!(claims, [1, 2, 3]);
        assert_eq!(claim(&second, "ab", 9).unwrap(), 9);
        assert_eq!([higher("ab", 8), higher("ab", 9), higher("cd", 0)], [Some(9), None, None]);
        let names = second.within(&folder_of("ab")).list().unwrap();
        assert_eq!(names.len(), 9, "no number is left out: {names:?}");
        std::thread::scope(|scope| {
            let claim = || claim(&second, "cd", 1).unwrap();
            let claiming: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
            let mut taken: Vec<u64> = claiming.into_iter().map(|one| one.join().unwrap()).collect();
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), 4, "two machines have one epoch");
        });
    }

    #[test]
    fn a_promotion_is_higher_than_all_that_a_directory_knows() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!((own(data.path()), next(data.path(), 0)), (Own::default(), 1));
        write(data.path(), FENCED, &Fenced { epoch: 4, since: 7, by: "a test".to_owned() }).unwrap();
        assert_eq!((fenced(data.path()).unwrap().epoch, next(data.path(), 2)), (4, 5));
        set_own(data.path(), &Own { epoch: 5, main: None }).unwrap();
        assert_eq!((fenced(data.path()), next(data.path(), 8)), (None, 9));
    }
}
