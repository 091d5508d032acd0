//! A backup with the wrong key, and a restore with tombstones that cannot be.

use super::*;
use crate::config::Config;
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::ops::tests::new_site;
use crate::store::engine::data_dir::DataDir;
use crate::store::queries::erasure::Tombstone;
use crate::store::tables::members;

fn site(dir: &Path) -> Site {
    let data_dir = DataDir::lock(dir).unwrap();
    new_site(&data_dir, Config { data: dir.to_owned(), ..Config::defaults() })
}

#[test]
fn a_backup_with_another_key_than_that_of_its_file_is_none_and_raises_an_alarm() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    let make = || make(&site, &Actor::job("backup"), CheckSpeed::Full, &mut |_, _, _| ());
    let alarm = || alarm::find(dir.path(), alarm::Kind::Backup).is_some();
    assert!(make().is_ok() && !alarm());
    let key = data_dir::key(dir.path());
    let whole = std::fs::read(&key).unwrap();
    std::fs::write(&key, "erased people\n").unwrap();
    let cause = make().unwrap_err();
    assert!(cause.contains("is not the key of this site") && alarm(), "{cause}");
    assert_eq!(local_store(dir.path()).listing().unfinished.len(), 0);
    std::fs::write(&key, whole).unwrap();
    assert!(make().is_ok() && !alarm());
}

#[test]
fn tombstones_with_numbers_that_the_site_never_gave_leave_the_next_number_alone() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    let last = || site.store.read(|tx| Ok(members::last_id(tx)?)).unwrap();
    let erase = |member_id| {
        let tombstone = Tombstone { member_id: MemberId(member_id), join_date: Moment(100), erased_at: Moment(900) };
        erasure::erase_again(&site, &[tombstone], &mut |_, _, _| ()).unwrap();
    };
    let before = last();
    erase(i64::MAX - 1);
    erase(before + 50_000_000);
    assert_eq!(last(), before);
    // A member who joined after the backup was made.
    erase(before + 7);
    assert_eq!(last(), before + 7);
}
