//! The epochs of a site on the off-site target: a file for each promotion, signed by the machine that was promoted. Others can
//! write there too, and only a machine of the site replaces one.

use crate::keys::{hex, random, unhex};
use crate::ops::outside::object::{FolderName, Object, SiteId};
use crate::ops::replication::target::{Target, Written};
use crate::ops::signature::{Kind, PublicKey, Signer, Trust};
use std::io;
use std::sync::Mutex;

/// The highest valid epoch. No site is promoted so often, and a wrong number would take all lower ones with it.
pub(crate) const EPOCH_MAX: i64 = 9_999;
/// The random bytes in an epoch's file, which has them in hex.
const CONTENT_BYTES: usize = 16;
/// Files of epochs that are read in one search, at most.
const READ_MAX: usize = 200;
/// Epochs that one promotion tries to claim, at most.
const CLAIMS_MAX: u64 = 100;

/// Random content for an epoch's file, by which a machine knows its own: 16 bytes in hex.
pub(super) fn content() -> String {
    hex(&random::<CONTENT_BYTES>())
}

/// The folder of a site's epochs on the off-site target.
fn folder_of(target: &Target, site_id: &str) -> io::Result<Target> {
    let site = SiteId::parse(site_id).ok_or_else(|| io::Error::other("the site has an odd id"))?;
    Ok(target.within(FolderName::Epochs(site)))
}

/// The epochs off site that are higher than one.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Higher {
    /// The highest that a machine of this site wrote.
    pub believed: Option<u64>,
    /// One that is signed by a key that is not known here, or by none: that of a machine that was restored from off site, or
    /// somebody's who can write there.
    pub strange: Option<u64>,
}

/// The epochs of a site on the off-site target that are higher than `own`.
pub(crate) fn find_higher(target: &Target, site_id: &str, own: u64, trust: &Trust) -> io::Result<Higher> {
    let epochs = Epochs { at: folder_of(target, site_id)?, site_id, trust };
    if matches!(target, Target::Directory(_)) {
        return epochs.higher_than(own);
    }
    // One name is cheaper than a list, and no number is left out: see `claim`.
    match epochs.read(own + 1)? {
        EpochFile::Missing => Ok(Higher::default()),
        EpochFile::Valid(_) => {
            let next = Higher { believed: Some(own + 1), strange: None };
            Ok(epochs.higher_than(own).unwrap_or(next))
        }
        EpochFile::Invalid | EpochFile::Strange => epochs.higher_than(own),
    }
}

/// What has the name of an epoch's file.
enum EpochFile {
    Missing,
    /// What an interrupted promotion left, or something else: a proxy, or another service at the store's address, may answer
    /// every request with success.
    Invalid,
    /// See [`Higher::strange`].
    Strange,
    /// The content by which a machine knows its own.
    Valid(String),
}

/// The folder of a site's epochs, and who writes there.
struct Epochs<'t> {
    at: Target,
    site_id: &'t str,
    trust: &'t Trust,
}

/// The text of an epoch's file: content, public key and signature.
fn text_of(site_id: &str, epoch: u64, content: &str, signer: &Signer) -> String {
    let signature = signer.sign(Kind::Epoch, &[site_id.as_bytes(), &epoch.to_be_bytes(), content.as_bytes()]);
    format!("{content} {} {}", signer.public(), hex(&signature))
}

impl Epochs<'_> {
    fn read(&self, epoch: u64) -> io::Result<EpochFile> {
        let is_odd = |e: &io::Error| matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge);
        if self.at.bytes_of(Object::Epoch(epoch))?.is_none() {
            return Ok(EpochFile::Missing);
        }
        match self.at.read(Object::Epoch(epoch)) {
            Err(e) if is_odd(&e) => Ok(EpochFile::Invalid),
            read => Ok(self.parse(epoch, &String::from_utf8(read?).unwrap_or_default())),
        }
    }

    fn parse(&self, epoch: u64, text: &str) -> EpochFile {
        let words: Vec<&str> = text.split(' ').collect();
        let is_content = |text: &str| unhex(text).is_some_and(|bytes| bytes.len() == CONTENT_BYTES);
        match words[..] {
            // Of an earlier version.
            [content] if is_content(content) => EpochFile::Strange,
            [content, key, signature] if is_content(content) => {
                let signed = [self.site_id.as_bytes(), &epoch.to_be_bytes(), content.as_bytes()];
                let signature = unhex(signature).unwrap_or_default();
                match PublicKey::parse(key).filter(|key| key.verifies(Kind::Epoch, &signed, &signature)) {
                    None => EpochFile::Invalid,
                    Some(key) if self.trust.believes(Some(&key)) => EpochFile::Valid(content.to_owned()),
                    Some(_) => EpochFile::Strange,
                }
            }
            _ => EpochFile::Invalid,
        }
    }

    /// The numbers that are taken, whatever has them.
    fn taken(&self) -> io::Result<Vec<u64>> {
        let number = |object| match object {
            Object::Epoch(number) if (1..=EPOCH_MAX.unsigned_abs()).contains(&number) => Some(number),
            _ => None,
        };
        match self.at.list() {
            Ok(objects) => Ok(objects.into_iter().filter_map(number).collect()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }

    fn higher_than(&self, own: u64) -> io::Result<Higher> {
        let (mut taken, mut found) = (self.taken()?, Higher::default());
        taken.retain(|epoch| *epoch > own);
        taken.sort_unstable();
        for epoch in taken.into_iter().rev().take(READ_MAX) {
            match self.read(epoch)? {
                EpochFile::Valid(_) => {
                    found.believed = Some(epoch);
                    break;
                }
                EpochFile::Strange => found.strange = found.strange.or(Some(epoch)),
                EpochFile::Missing | EpochFile::Invalid => {}
            }
        }
        Ok(found)
    }

    /// The highest epoch of a machine of this site; 0: there is none.
    fn newest(&self) -> io::Result<u64> {
        Ok(self.higher_than(0)?.believed.unwrap_or(0))
    }
}

/// Claims an epoch of a site on the off-site target: `epoch`, or a higher one where other machines have claimed it. Free lower
/// numbers are claimed as well. `content`: see [`content`].
pub(crate) fn claim(target: &Target, site_id: &str, epoch: u64, content: &str, signer: &Signer) -> io::Result<u64> {
    let epochs = Epochs { at: writable(target, site_id)?, site_id, trust: &Trust::Keys(signer.keys()) };
    let newest = epochs.newest()?;
    let wanted = epoch.max(newest + 1);
    for epoch in newest + 1..wanted + CLAIMS_MAX {
        if put_if_absent(&epochs.at, epoch, &text_of(site_id, epoch, content, signer))? && epoch >= wanted {
            return Ok(epoch);
        }
    }
    Err(io::Error::other("other machines claim every epoch"))
}

/// Writes the epoch of an earlier promotion to the off-site target, and the free lower ones. `Some`: the epoch that is in force
/// there is another machine's.
pub(crate) fn catch_up(
    target: &Target,
    site_id: &str,
    epoch: u64,
    content: &str,
    signer: &Signer,
) -> io::Result<Option<u64>> {
    let epochs = Epochs { at: writable(target, site_id)?, site_id, trust: &Trust::Keys(signer.keys()) };
    let newest = epochs.newest()?;
    if newest > epoch {
        return Ok(Some(newest));
    }
    for missing in newest + 1..=epoch {
        put_if_absent(&epochs.at, missing, &text_of(site_id, missing, content, signer))?;
    }
    match epochs.read(epoch)? {
        EpochFile::Valid(there) => Ok(Some(epoch).filter(|_| there != content)),
        EpochFile::Missing => Err(io::Error::other("the epoch is not there any more")),
        EpochFile::Invalid | EpochFile::Strange => {
            Err(io::Error::other("something else has the name of the epoch: remove it"))
        }
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
fn put_if_absent(epochs: &Target, epoch: u64, text: &str) -> io::Result<bool> {
    let put = epochs.put(Object::Epoch(epoch), &Mutex::<Written>::default(), &mut |to| to.write_all(text.as_bytes()));
    match put {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key, and the trust in it.
    fn key() -> (Signer, Trust) {
        let signer = Signer::new();
        let trust = Trust::Keys(signer.keys());
        (signer, trust)
    }

    #[test]
    fn an_epoch_that_another_key_signed_replaces_nobody_and_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::directory(dir.path().to_owned());
        let ((ours, trust), (theirs, _)) = (key(), key());
        let epochs = dir.path().join("epochs-ab");
        std::fs::create_dir(&epochs).unwrap();
        let forge = |epoch: u64, text: &str| std::fs::write(epochs.join(format!("{epoch:010}")), text).unwrap();
        let find = |own| find_higher(&target, "ab", own, &trust).unwrap();
        forge(1, &text_of("ab", 1, &content(), &theirs));
        assert_eq!(find(0), Higher { believed: None, strange: Some(1) });
        assert_eq!(claim(&target, "ab", 1, &content(), &ours).unwrap(), 2);
        assert_eq!(find(0), Higher { believed: Some(2), strange: None });
        // Another number, another site, and an epoch without a signature, as earlier versions wrote it.
        for (nth, forged) in
            [text_of("ab", 2, &content(), &ours), text_of("cd", 3, &content(), &ours)].iter().enumerate()
        {
            forge(3, forged);
            assert_eq!(find(2), Higher::default(), "{nth}");
        }
        forge(3, &content());
        assert_eq!(find(0), Higher { believed: Some(2), strange: Some(3) });
        // A machine of the same site that has a new key still knows the earlier one.
        let later = Trust::Keys(ours.successor().keys());
        assert_eq!(find_higher(&target, "ab", 0, &later).unwrap().believed, Some(2));
    }

    #[test]
    fn an_epoch_is_taken_once_and_a_higher_one_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::directory(dir.path().to_owned());
        let (signer, trust) = key();
        let higher = |site_id: &str, own| find_higher(&target, site_id, own, &trust).unwrap().believed;
        assert_eq!(higher("ab", 0), None);
        let claim = |site_id: &str, epoch| claim(&target, site_id, epoch, &content(), &signer).unwrap();
        let claims: Vec<u64> = (0..3).map(|_| claim("ab", 1)).collect();
        assert_eq!(claims, [1, 2, 3]);
        assert_eq!(claim("ab", 9), 9);
        assert_eq!([higher("ab", 8), higher("ab", 9), higher("cd", 0)], [Some(9), None, None]);
        let names = folder_of(&target, "ab").unwrap().list().unwrap();
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
        let (signer, trust) = key();
        let find = || find_higher(&target, "ab", 0, &trust).unwrap().believed;
        let epochs = dir.path().join("epochs-ab");
        std::fs::create_dir(&epochs).unwrap();
        std::fs::write(epochs.join("0000000001"), "").unwrap();
        std::fs::write(epochs.join("0000000002"), "<html>Welcome</html>").unwrap();
        std::fs::write(epochs.join("0000000003"), "a".repeat(100_000)).unwrap();
        std::fs::create_dir(epochs.join("0000000004")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", epochs.join("0000000005")).unwrap();
        std::fs::write(epochs.join("0000999999"), content()).unwrap();
        assert_eq!(find(), None);
        assert_eq!(claim(&target, "ab", 1, &content(), &signer).unwrap(), 6, "names that are taken are passed over");
        assert_eq!(find(), Some(6));
        std::fs::write(epochs.join("0000000001"), text_of("ab", 1, &content(), &signer)).unwrap();
        assert_eq!(find(), Some(6));
    }

    #[test]
    fn an_epoch_that_could_not_be_written_is_written_later_and_loses_against_another_machines() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::directory(dir.path().join("second"));
        let ((a, b), (signer, trust)) = ((content(), content()), key());
        assert!(
            claim(&target, "ab", 1, &a, &signer).unwrap_err().to_string().contains("mounted"),
            "a place that is away"
        );
        assert!(catch_up(&target, "ab", 1, &a, &signer).is_err() && !dir.path().join("second").exists());
        std::fs::create_dir(dir.path().join("second")).unwrap();
        for _ in 0..2 {
            assert_eq!(catch_up(&target, "ab", 2, &a, &signer).unwrap(), None);
        }
        assert_eq!(find_higher(&target, "ab", 0, &trust).unwrap().believed, Some(2));
        assert_eq!(catch_up(&target, "ab", 2, &b, &signer).unwrap(), Some(2));
        assert_eq!(catch_up(&target, "ab", 1, &b, &signer).unwrap(), Some(2));
        assert_eq!(catch_up(&target, "ab", 3, &b, &signer).unwrap(), None);
    }
}
