//! All that a site writes and reads outside, and what it is called there.

use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// The suffix of an encrypted file's name.
pub(crate) const SUFFIX: &str = ".age";
const TICK: &str = ".tick";
/// Digits of a number in a name, so that names sort as their numbers do.
const DIGITS: usize = 10;
/// The longest name of a backup.
const NAME_LENGTH_MAX: usize = 64;
/// More than the manifest of a site with five hundred tables has.
const MANIFEST_BYTES_MAX: u64 = 32 * 1024;
/// A hundred thousand tombstones.
const ERASED_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// More than an epoch's file has.
const EPOCH_BYTES_MAX: u64 = 1024;
/// The longest log of which a tick is made (`backup.unconfirmed_mib` may be 4,096), with the heads of its pages.
const TICK_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024;
/// Files of a site have no limit of their own: their sizes are in the manifest.
const SITE_FILE_BYTES_MAX: u64 = i64::MAX.cast_unsigned();

/// A file of a site that a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum SiteFile {
    #[serde(rename = "site.key")]
    Key,
    #[serde(rename = "tunneldesk.sqlite")]
    Database,
}

/// The same, encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum SealedFile {
    #[serde(rename = "site.key.age")]
    Key,
    #[serde(rename = "tunneldesk.sqlite.age")]
    Database,
}

impl SiteFile {
    pub(crate) fn sealed(self) -> SealedFile {
        match self {
            SiteFile::Key => SealedFile::Key,
            SiteFile::Database => SealedFile::Database,
        }
    }
}

/// A file outside. There is no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Object {
    /// In the folder of a backup.
    Manifest,
    Site(SiteFile),
    Sealed(SealedFile),
    /// In the folder of a chain.
    Tick {
        number: u64,
        is_sealed: bool,
    },
    /// In the folder of a site's epochs.
    Epoch(u64),
    /// Beside the backups.
    Erased,
    Probe,
    /// In a bucket, in the folder of a backup: by whom the folder is filled.
    Claim,
}

impl Object {
    /// The object of a name that was listed. `None`: not one of ours.
    pub(crate) fn parse(name: &str) -> Option<Object> {
        let (number, object): (&str, fn(u64) -> Object) = match name.strip_suffix(SUFFIX) {
            Some(rest) => (rest.strip_suffix(TICK)?, |number| Object::Tick { number, is_sealed: true }),
            None => match name.strip_suffix(TICK) {
                Some(rest) => (rest, |number| Object::Tick { number, is_sealed: false }),
                None => (name, Object::Epoch),
            },
        };
        let object = object(number.parse().ok()?);
        (object.to_string() == name).then_some(object)
    }

    /// The size of such a file, at most.
    pub(crate) fn bytes_max(self) -> u64 {
        match self {
            Object::Manifest => MANIFEST_BYTES_MAX,
            Object::Site(_) | Object::Sealed(_) => SITE_FILE_BYTES_MAX,
            Object::Tick { .. } => TICK_BYTES_MAX,
            Object::Epoch(_) | Object::Probe | Object::Claim => EPOCH_BYTES_MAX,
            Object::Erased => ERASED_BYTES_MAX,
        }
    }
}

impl Display for Object {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let name = match self {
            Object::Manifest => "manifest.json",
            Object::Site(SiteFile::Key) => "site.key",
            Object::Site(SiteFile::Database) => "tunneldesk.sqlite",
            Object::Sealed(SealedFile::Key) => "site.key.age",
            Object::Sealed(SealedFile::Database) => "tunneldesk.sqlite.age",
            Object::Tick { number, is_sealed } => {
                let suffix = if *is_sealed { SUFFIX } else { "" };
                return write!(f, "{number:0DIGITS$}{TICK}{suffix}");
            }
            Object::Epoch(number) => return write!(f, "{number:0DIGITS$}"),
            Object::Erased => "erased.jsonl",
            Object::Probe => ".probe",
            Object::Claim => ".claim",
        };
        f.write_str(name)
    }
}

/// A folder outside. There is no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FolderName {
    Backup(BackupName),
    /// The ticks behind a base, in the base's folder.
    Ticks,
    /// The epochs of a site.
    Epochs(SiteId),
}

impl Display for FolderName {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            FolderName::Backup(name) => f.write_str(&name.0),
            FolderName::Ticks => f.write_str("ticks"),
            FolderName::Epochs(site) => write!(f, "epochs-{}", site.0),
        }
    }
}

/// The name of a backup: letters, digits and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BackupName(String);

/// The id of a site, as a part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SiteId(String);

impl BackupName {
    pub(crate) fn parse(name: &str) -> Option<BackupName> {
        is_plain(name).then(|| BackupName(name.to_owned()))
    }

    /// The name of a backup of that moment, with more behind it.
    pub(crate) fn of_moment(moment: Moment, more: &str) -> BackupName {
        BackupName::parse(&format!("{}{more}", file_stamp(moment))).expect("a moment is digits and hyphens")
    }

    /// The name with a number behind it, where there is more than one.
    pub(crate) fn numbered(&self, number: u32) -> BackupName {
        if number == 1 { self.clone() } else { BackupName(format!("{}-{number}", self.0)) }
    }

    /// Whether the name begins as [`file_stamp`] writes it. What has another name was not made by a site.
    pub(crate) fn is_stamp(&self) -> bool {
        is_stamp(&self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl SiteId {
    pub(crate) fn parse(id: &str) -> Option<SiteId> {
        is_plain(id).then(|| SiteId(id.to_owned()))
    }
}

fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=NAME_LENGTH_MAX).contains(&name.len()) && name.chars().all(is_plain)
}

/// A moment in UTC as part of a file name: `2026-11-21T12-00-00Z`.
pub(crate) fn file_stamp(moment: Moment) -> String {
    let moment = jiff::Timestamp::from_second(moment.0).unwrap_or_default();
    moment.strftime("%Y-%m-%dT%H-%M-%SZ").to_string()
}

/// Whether a name or path begins with the name of a backup.
pub(crate) fn is_stamp(name: &str) -> bool {
    const STAMP: &str = "0000-00-00T00-00-00Z";
    let is_like = |(one, like): (char, char)| if like == '0' { one.is_ascii_digit() } else { one == like };
    name.len() >= STAMP.len() && name.chars().zip(STAMP.chars()).all(is_like)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_listed_is_an_object_only_if_it_is_the_one_that_a_site_writes() {
        for object in [
            Object::Tick { number: 7, is_sealed: false },
            Object::Tick { number: u64::MAX, is_sealed: true },
            Object::Epoch(9_999),
        ] {
            assert_eq!(Object::parse(&object.to_string()), Some(object));
        }
        for odd in
            ["7.tick", "+000000007.tick", "../0000000007.tick", "00000000007.tick", "0000000007.tick.age.age", "", "7"]
        {
            assert_eq!(Object::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn no_name_of_a_backup_leads_elsewhere_and_other_files_are_not_taken_for_backups() {
        for odd in ["", ".", "..", "a/b", "../a", "/etc", "a b", ".unfinished-a", "ä", &"a".repeat(65)] {
            assert!(BackupName::parse(odd).is_none() && SiteId::parse(odd).is_none(), "{odd}");
        }
        let stamp = file_stamp(Moment(1_800_000_000));
        let name = BackupName::parse(&stamp).unwrap();
        assert!(name.is_stamp() && name.numbered(2).is_stamp() && name.numbered(1) == name);
        assert!(is_stamp(&format!("{}-2/site.key", file_stamp(Moment(0)))));
        assert!(!is_stamp("0-photos") && !is_stamp("2026") && !is_stamp("2026-11-21 holiday pictures"));
    }
}
