//! The tombstones of erased members, in a file beside the backups. Lines are only ever added, are signed, and hold numbers and
//! moments alone. When the database is lost, they keep a restored backup from bringing an erased member back.

use super::manifest::MOMENT_MAX;
use crate::domain::ids::MemberId;
use crate::keys::{hex, unhex};
use crate::moment::Moment;
use crate::ops::outside::Dir;
use crate::ops::outside::object::Object;
use crate::ops::replication::target::Target;
use crate::ops::signature::{Kind, Signer, Trust};
use crate::store::queries::erasure::Tombstone;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

/// The number of a member, at most: all of them are numbers of JSON too.
const MEMBER_ID_MAX: i64 = 1 << 53;

#[derive(Serialize, Deserialize)]
struct Line {
    site_id: String,
    member_id: MemberId,
    join_date: Moment,
    erased_at: Moment,
    /// Hex. Lines of earlier versions have none.
    #[serde(default)]
    signature: String,
}

impl Line {
    fn sign(site_id: &str, tombstone: Tombstone, signer: &Signer) -> Line {
        let Tombstone { member_id, join_date, erased_at } = tombstone;
        let mut line = Line { site_id: site_id.to_owned(), member_id, join_date, erased_at, signature: String::new() };
        line.signature = hex(&signer.sign(Kind::Tombstone, &line.parts().each_ref().map(Vec::as_slice)));
        line
    }

    fn parts(&self) -> [Vec<u8>; 4] {
        let [member_id, join_date, erased_at] =
            [self.member_id.0, self.join_date.0, self.erased_at.0].map(|number| number.to_be_bytes().to_vec());
        [self.site_id.clone().into_bytes(), member_id, join_date, erased_at]
    }

    fn is_believed(&self, trust: &Trust) -> bool {
        let signature = unhex(&self.signature).unwrap_or_default();
        trust.verifies(Kind::Tombstone, &self.parts().each_ref().map(Vec::as_slice), &signature)
    }

    fn is_possible(&self) -> bool {
        let is_moment = |moment: Moment| (0..=MOMENT_MAX).contains(&moment.0);
        (1..=MEMBER_ID_MAX).contains(&self.member_id.0) && is_moment(self.join_date) && is_moment(self.erased_at)
    }
}

/// The tombstones of a site in a backup store, as far as they are believed. A line that a crash cut off is passed over. The
/// error is one line: the file is there and cannot be read.
pub(crate) fn list(backup_store: &Path, site_id: &str, trust: &Trust) -> Result<BTreeSet<Tombstone>, String> {
    Ok(parse(&read(backup_store)?, site_id, trust))
}

fn read(backup_store: &Path) -> Result<String, String> {
    match Target::directory(backup_store.to_owned()).read(Object::Erased) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(format!(
            "cannot read who was erased, in {}/{}: {e}; without that list they would come back: mend the disk, or move the \
             file away",
            backup_store.display(),
            Object::Erased
        )),
    }
}

/// The tombstones of a site in the text of such a file.
pub(crate) fn parse(text: &str, site_id: &str, trust: &Trust) -> BTreeSet<Tombstone> {
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    lines
        .filter(|line| line.site_id == site_id && line.is_possible() && line.is_believed(trust))
        .map(|Line { member_id, join_date, erased_at, .. }| Tombstone { member_id, join_date, erased_at })
        .collect()
}

/// Adds the tombstones that a backup store does not have yet, signed, and flushes them.
pub(crate) fn add(backup_store: &Path, site_id: &str, all: &[Tombstone], signer: &Signer) -> io::Result<()> {
    let Some(text) = missing(&read(backup_store).map_err(io::Error::other)?, site_id, all, signer) else {
        return Ok(());
    };
    let dir = Dir::root(backup_store)?;
    let mut file = dir.append(&Object::Erased.to_string())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    dir.flush()
}

/// The lines to add to the text so that it has all tombstones; `None`: it has.
pub(crate) fn missing(text: &str, site_id: &str, all: &[Tombstone], signer: &Signer) -> Option<String> {
    let known = parse(text, site_id, &Trust::Keys(signer.keys()));
    let new: Vec<&Tombstone> = all.iter().filter(|tombstone| !known.contains(tombstone)).collect();
    let mut more = if text.is_empty() || text.ends_with('\n') { String::new() } else { "\n".to_owned() };
    for tombstone in &new {
        more +=
            &serde_json::to_string(&Line::sign(site_id, **tombstone, signer)).expect("a line is numbers and a name");
        more.push('\n');
    }
    (!new.is_empty()).then_some(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JANE: Tombstone = Tombstone { member_id: MemberId(7), join_date: Moment(100), erased_at: Moment(900) };
    const MARK: Tombstone = Tombstone { member_id: MemberId(8), join_date: Moment(200), erased_at: Moment(901) };

    /// A key, and the trust in it.
    fn key() -> (Signer, Trust) {
        let signer = Signer::new();
        let trust = Trust::Keys(signer.keys());
        (signer, trust)
    }

    #[test]
    fn each_tombstone_is_written_once_and_each_site_has_its_own() {
        let (dir, (signer, trust)) = (tempfile::tempdir().unwrap(), key());
        add(dir.path(), "ab", &[JANE], &signer).unwrap();
        add(dir.path(), "ab", &[JANE, MARK], &signer).unwrap();
        add(dir.path(), "cd", &[MARK], &signer).unwrap();
        assert_eq!(list(dir.path(), "ab", &trust).unwrap(), BTreeSet::from([JANE, MARK]));
        assert_eq!(list(dir.path(), "cd", &trust).unwrap(), BTreeSet::from([MARK]));
        assert_eq!(std::fs::read_to_string(dir.path().join(Object::Erased.to_string())).unwrap().lines().count(), 3);
    }

    #[test]
    fn numbers_that_no_site_gives_are_passed_over() {
        let (signer, trust) = key();
        let with = |member_id, join_date, erased_at| {
            let line = Line::sign(
                "ab",
                Tombstone {
                    member_id: MemberId(member_id),
                    join_date: Moment(join_date),
                    erased_at: Moment(erased_at),
                },
                &signer,
            );
            parse(&serde_json::to_string(&line).unwrap(), "ab", &trust).len()
        };
        assert_eq!(with(7, 100, 900), 1);
        let odd = [with(0, 1, 1), with(i64::MAX, 1, 1), with(-7, 1, 1), with(7, -1, 1), with(7, 1, i64::MAX)];
        assert_eq!(odd, [0; 5]);
    }

    #[test]
    fn a_line_that_was_cut_off_spoils_no_other() {
        let (dir, (signer, trust)) = (tempfile::tempdir().unwrap(), key());
        add(dir.path(), "ab", &[JANE], &signer).unwrap();
        let path = dir.path().join(Object::Erased.to_string());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{}", &text[..text.len() / 2])).unwrap();
        add(dir.path(), "ab", &[JANE, MARK], &signer).unwrap();
        assert_eq!(list(dir.path(), "ab", &trust).unwrap(), BTreeSet::from([JANE, MARK]));
    }

    #[test]
    fn a_flipped_bit_spoils_no_other_line_and_a_list_that_cannot_be_read_is_not_empty() {
        let (dir, (signer, trust)) = (tempfile::tempdir().unwrap(), key());
        add(dir.path(), "ab", &[JANE, MARK], &signer).unwrap();
        let path = dir.path().join(Object::Erased.to_string());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[5] |= 0x80;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(list(dir.path(), "ab", &trust).unwrap(), BTreeSet::from([MARK]));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let refused = list(dir.path(), "ab", &trust).unwrap_err();
        assert!(refused.contains("who was erased") && refused.contains("erased.jsonl"), "{refused}");
        assert!(add(dir.path(), "ab", &[JANE], &signer).is_err());
    }

    #[test]
    fn a_line_that_another_key_signed_or_nobody_erases_no_member_and_keeps_none_from_being_listed() {
        let (dir, (signer, trust)) = (tempfile::tempdir().unwrap(), key());
        let (other, other_trust) = key();
        add(dir.path(), "ab", &[JANE], &other).unwrap();
        assert_eq!(list(dir.path(), "ab", &trust).unwrap(), BTreeSet::new());
        assert_eq!(list(dir.path(), "ab", &Trust::Anybody).unwrap(), BTreeSet::new());
        add(dir.path(), "ab", &[JANE], &signer).unwrap();
        for own in [&trust, &other_trust] {
            assert_eq!(list(dir.path(), "ab", own).unwrap(), BTreeSet::from([JANE]));
        }
        let path = dir.path().join(Object::Erased.to_string());
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in
            [("\"member_id\":7", "\"member_id\":8"), ("\"ab\"", "\"cd\""), ("\"erased_at\":900", "\"erased_at\":9")]
        {
            let forged = text.replace(from, to);
            assert!(
                forged != text && parse(&forged, "ab", &trust).is_empty() && parse(&forged, "cd", &trust).is_empty()
            );
        }
        // A list of an earlier version.
        let unsigned = r#"{"site_id":"ab","member_id":8,"join_date":200,"erased_at":901}"#;
        assert!(parse(unsigned, "ab", &trust).is_empty());
        assert_eq!(parse(unsigned, "ab", &Trust::Unsigned), BTreeSet::from([MARK]));
        assert!(missing(unsigned, "ab", &[MARK], &signer).unwrap().starts_with('\n'));
    }
}
