//! The epoch of a site: a number that each promotion raises, so that of two machines with the same site the replaced one knows
//! it. A site that was never promoted has epoch 0.

use super::claim::Claim;
use crate::keys::{hex, random, unhex};
use crate::ops::outside::object::{FolderName, Object, SiteId};
use crate::ops::replication::target::{Target, Written};
use crate::site::Site;
use crate::store::engine::data_dir;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const OWN: &str = "epoch.json";
const FENCED: &str = "replaced.json";
/// The highest valid epoch. No site is promoted so often, and a wrong number would take all lower ones with it.
pub(crate) const EPOCH_MAX: i64 = 9_999;
/// The random bytes in an epoch's file, which has them in hex.
const CONTENT_BYTES: usize = 16;
/// Invalid files of epochs that are passed over in a bucket, at most: each costs two requests.
const INVALID_MAX: u64 = 4;
/// Epochs that one promotion tries to claim, at most.
const CLAIMS_MAX: u64 = 100;

/// The epoch of this machine, from its last promotion (`epoch.json`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Own {
    pub epoch: u64,
    /// The machine that this one followed. It is asked from the promotion on, because it may be promoted too.
    #[serde(default)]
    pub main: Option<Main>,
    /// The machine whose place this one has taken, where its address is known.
    #[serde(default)]
    pub other: Option<Other>,
    /// Random, of the last promotion: the content of the epoch's file (hex).
    #[serde(default)]
    pub content: String,
    /// The content of the epoch's file (hex), as long as it could not be written off site.
    #[serde(default)]
    pub unwritten: Option<String>,
}

impl Own {
    pub(crate) fn claim(&self) -> Claim {
        Claim::of_promotion(self.epoch, self.unwritten.is_none(), &self.content)
    }
}

/// A machine whose place this one has taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Other {
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
    pub since: i64,
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
pub(crate) fn own(data: &Path) -> Own {
    read(&data.join(OWN)).unwrap_or_default()
}

pub(crate) fn set_own(data: &Path, own: &Own) -> io::Result<()> {
    let _alone = lock_own();
    write(data, OWN, own)
}

/// Changes the epoch file of a running server, where several threads may.
pub(crate) fn change_own(data: &Path, change: impl FnOnce(&mut Own)) -> io::Result<()> {
    let _alone = lock_own();
    let mut own = own(data);
    change(&mut own);
    write(data, OWN, &own)
}

fn lock_own() -> MutexGuard<'static, ()> {
    static CHANGING: Mutex<()> = Mutex::new(());
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Random content for an epoch's file, by which a machine knows its own: 16 bytes in hex.
pub(super) fn content() -> String {
    hex(&random::<CONTENT_BYTES>())
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

/// The folder of a site's epochs on the off-site target.
fn folder_of(target: &Target, site_id: &str) -> io::Result<Target> {
    let site = SiteId::parse(site_id).ok_or_else(|| io::Error::other("the site has an odd id"))?;
    Ok(target.within(FolderName::Epochs(site)))
}

/// An epoch of a site on the off-site target that is higher than `own`. `None`: there is none.
pub(crate) fn find_higher(target: &Target, site_id: &str, own: u64) -> io::Result<Option<u64>> {
    let epochs = folder_of(target, site_id)?;
    match target {
        Target::Directory(_) => Ok(Some(newest_in(&epochs)?).filter(|newest| *newest > own)),
        // One name is cheaper than a list, and no number is left out: see `claim`.
        Target::S3(_) => {
            for epoch in own + 1..=own + INVALID_MAX {
                match read_epoch(&epochs, epoch)? {
                    EpochFile::Missing => return Ok(None),
                    EpochFile::Valid(_) => return Ok(Some(epoch)),
                    EpochFile::Invalid => {}
                }
            }
            Ok(None)
        }
    }
}

/// What has the name of an epoch's file.
enum EpochFile {
    Missing,
    /// What an interrupted promotion left, or something else: a proxy, or another service at the store's address, may answer
    /// every request with success.
    Invalid,
    Valid(String),
}

fn read_epoch(epochs: &Target, epoch: u64) -> io::Result<EpochFile> {
    let is_odd = |e: &io::Error| matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge);
    if epochs.bytes_of(Object::Epoch(epoch))?.is_none() {
        return Ok(EpochFile::Missing);
    }
    let bytes = match epochs.read(Object::Epoch(epoch)) {
        Err(e) if is_odd(&e) => return Ok(EpochFile::Invalid),
        read => read?,
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    let is_valid = unhex(&text).is_some_and(|bytes| bytes.len() == CONTENT_BYTES);
    Ok(if is_valid { EpochFile::Valid(text) } else { EpochFile::Invalid })
}

/// The numbers that are taken, whatever has them.
fn taken_in(epochs: &Target) -> io::Result<Vec<u64>> {
    let number = |object| match object {
        Object::Epoch(number) if (1..=EPOCH_MAX.unsigned_abs()).contains(&number) => Some(number),
        _ => None,
    };
    match epochs.list() {
        Ok(objects) => Ok(objects.into_iter().filter_map(number).collect()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// The highest epoch with a valid file; 0: there is none.
fn newest_in(epochs: &Target) -> io::Result<u64> {
    let mut taken = taken_in(epochs)?;
    taken.sort_unstable();
    for epoch in taken.into_iter().rev() {
        if let EpochFile::Valid(_) = read_epoch(epochs, epoch)? {
            return Ok(epoch);
        }
    }
    Ok(0)
}

/// Claims an epoch of a site on the off-site target: `epoch`, or a higher one where other machines have claimed it. Free lower
/// numbers are claimed as well. `content`: see [`content`].
pub(crate) fn claim(target: &Target, site_id: &str, epoch: u64, content: &str) -> io::Result<u64> {
    let epochs = writable(target, site_id)?;
    let newest = newest_in(&epochs)?;
    let wanted = epoch.max(newest + 1);
    for epoch in newest + 1..wanted + CLAIMS_MAX {
        if put_if_absent(&epochs, epoch, content)? && epoch >= wanted {
            return Ok(epoch);
        }
    }
    Err(io::Error::other("other machines claim every epoch"))
}

/// Writes the epoch of an earlier promotion to the off-site target, and the free lower ones. `Some`: the epoch that is in force
/// there is another machine's.
pub(crate) fn catch_up(target: &Target, site_id: &str, epoch: u64, content: &str) -> io::Result<Option<u64>> {
    let epochs = writable(target, site_id)?;
    let newest = newest_in(&epochs)?;
    if newest > epoch {
        return Ok(Some(newest));
    }
    for missing in newest + 1..=epoch {
        put_if_absent(&epochs, missing, content)?;
    }
    match read_epoch(&epochs, epoch)? {
        EpochFile::Valid(there) => Ok(Some(epoch).filter(|_| there != content)),
        EpochFile::Missing => Err(io::Error::other("the epoch is not there any more")),
        EpochFile::Invalid => Err(io::Error::other("something else has the name of the epoch: remove it")),
    }
}

/// The folder of a site's epochs, once the target is known to take files.
fn writable(target: &Target, site_id: &str) -> io::Result<Target> {
    match target {
        // Shows whether the bucket keeps the first of two files of one name.
        Target::S3(store) => store.probe().map_err(io::Error::other)?,
        Target::Directory(place) if !place.path().is_dir() => {
            return Err(io::Error::other("it is not there: is it mounted?"));
        }
        Target::Directory(_) => {}
    }
    folder_of(target, site_id)
}

/// Puts an epoch's file unless there is one of its name. Returns whether it did.
fn put_if_absent(epochs: &Target, epoch: u64, content: &str) -> io::Result<bool> {
    let put =
        epochs.put(Object::Epoch(epoch), &Mutex::<Written>::default(), &mut |to| to.write_all(content.as_bytes()));
    match put {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&crate::files::read(path).ok()?).ok()
}

/// Replaces a file at once, flushed.
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
        Fenced { claim: Claim::off_site(epoch), since: 7, by: "a test".to_owned(), url: None }
    }

    #[test]
    fn an_epoch_is_taken_once_and_a_higher_one_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::directory(dir.path().to_owned());
        let higher = |site_id: &str, own| find_higher(&target, site_id, own).unwrap();
        assert_eq!(higher("ab", 0), None);
        let claim = |site_id: &str, epoch| claim(&target, site_id, epoch, &content()).unwrap();
        let claims: Vec<u64> = (0..3).map(|_| claim("ab", 1)).collect();
        assert_eq!(claims, [1, 2, 3]);
        assert_eq!(claim("ab", 9), 9);
        assert_eq!([higher("ab", 8), higher("ab", 9), higher("cd", 0)], [Some(9), None, None]);
        let names = taken_in(&folder_of(&target, "ab").unwrap()).unwrap();
        assert_eq!(names.len(), 9, "no number is left out: {names:?}");
        std::thread::scope(|scope| {
            let claiming: Vec<_> = (0..4).map(|_| scope.spawn(|| claim("cd", 1))).collect();
            let mut taken: Vec<u64> = claiming.into_iter().map(|one| one.join().unwrap()).collect();
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), 4, "two machines have one epoch");
        });
    }

    #[test]
    fn only_the_file_of_a_promotion_replaces_a_machine() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::directory(dir.path().to_owned());
        let find = || find_higher(&target, "ab", 0).unwrap();
        let epochs = dir.path().join("epochs-ab");
        std::fs::create_dir(&epochs).unwrap();
        std::fs::write(epochs.join("0000000001"), "").unwrap();
        std::fs::write(epochs.join("0000000002"), "<html>Welcome</html>").unwrap();
        std::fs::write(epochs.join("0000000003"), "a".repeat(100_000)).unwrap();
        std::fs::create_dir(epochs.join("0000000004")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", epochs.join("0000000005")).unwrap();
        std::fs::write(epochs.join("0000999999"), content()).unwrap();
        assert_eq!(find(), None);
        assert_eq!(claim(&target, "ab", 1, &content()).unwrap(), 6, "names that are taken are passed over");
        assert_eq!(find(), Some(6));
        std::fs::write(epochs.join("0000000001"), content()).unwrap();
        assert_eq!(find(), Some(6));
    }

    #[test]
    fn an_epoch_that_could_not_be_written_is_written_later_and_loses_against_another_machines() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::directory(dir.path().join("second"));
        let (a, b) = (content(), content());
        assert!(claim(&target, "ab", 1, &a).unwrap_err().to_string().contains("mounted"), "a place that is away");
        assert!(catch_up(&target, "ab", 1, &a).is_err() && !dir.path().join("second").exists());
        std::fs::create_dir(dir.path().join("second")).unwrap();
        for _ in 0..2 {
            assert_eq!(catch_up(&target, "ab", 2, &a).unwrap(), None);
        }
        assert_eq!(find_higher(&target, "ab", 0).unwrap(), Some(2));
        assert_eq!(catch_up(&target, "ab", 2, &b).unwrap(), Some(2));
        assert_eq!(catch_up(&target, "ab", 1, &b).unwrap(), Some(2));
        assert_eq!(catch_up(&target, "ab", 3, &b).unwrap(), None);

        let data = dir.path();
        let fenced_at = |epoch| {
            write(data, FENCED, &fence_at(epoch)).unwrap();
            fenced(data).is_some()
        };
        set_own(data, &Own { epoch: 2, unwritten: Some("b".to_owned()), ..Own::default() }).unwrap();
        assert_eq!([fenced_at(1), fenced_at(2), fenced_at(3)], [false, true, true]);
        change_own(data, |own| own.unwritten = None).unwrap();
        assert_eq!([fenced_at(1), fenced_at(2), fenced_at(3)], [false, false, true]);
    }

    #[test]
    fn a_promotion_is_higher_than_all_that_a_directory_knows() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!((own(data.path()), next(data.path(), 0)), (Own::default(), 1));
        write(data.path(), FENCED, &fence_at(4)).unwrap();
        assert_eq!((fenced(data.path()).unwrap().claim.epoch, next(data.path(), 2)), (4, 5));
        set_own(data.path(), &Own { epoch: 5, ..Own::default() }).unwrap();
        assert_eq!((fenced(data.path()), next(data.path(), 8)), (None, 9));
    }
}
