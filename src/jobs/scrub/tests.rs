//! Flipped bits in a backup.

use super::*;
use crate::config::Config;
use crate::domain::audit::Actor;
use crate::ops::tests::new_site;
use crate::store::CheckSpeed;
use crate::store::data_dir::DataDir;

fn site(dir: &Path) -> Site {
    let data_dir = DataDir::lock(dir).unwrap();
    let config = Config { data: dir.to_owned(), ..Config::defaults() };
    new_site(&data_dir, config)
}

/// Runs a whole walk, and returns the cause of its alarm.
fn walk(site: &Site) -> Option<String> {
    let mut backups = Backups::default();
    // The first step lists the backups, the second reads them, the third reports.
    (0..3).for_each(|_| backups.read(site, u64::from(u32::MAX)));
    alarm::find(&site.config.data, alarm::Kind::SpoiltBackup).map(|alarm| alarm.cause)
}

#[test]
fn any_bit_of_a_backup_that_flips_is_an_alarm_until_the_backup_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    let actor = Actor::job("backup");
    let backup = crate::ops::backup::make(&site, &actor, CheckSpeed::Full, &mut |_, _, _| ()).unwrap().backup;
    assert_eq!(walk(&site), None);
    let files: Vec<PathBuf> =
        std::fs::read_dir(backup.at.path().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 3);
    for path in files {
        let whole = std::fs::read(&path).unwrap();
        for nth in 0..5 {
            let bit = whole.len() * 8 / 5 * nth + nth;
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            assert_eq!(walk(&site), Some(backup.name()), "bit {bit} of {}", path.display());
        }
        std::fs::write(&path, whole).unwrap();
        assert_eq!(walk(&site), None);
    }
    std::fs::write(backup.at.path().unwrap().join("site.key"), "").unwrap();
    assert!(walk(&site).is_some());
    std::fs::remove_dir_all(backup.at.path().unwrap()).unwrap();
    assert_eq!(walk(&site), None);
}

#[test]
fn a_file_whose_sum_is_known_is_an_alarm_when_it_changes_and_none_when_it_is_whole_again() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    let backup =
        crate::ops::backup::make(&site, &Actor::job("backup"), CheckSpeed::Full, &mut |_, _, _| ()).unwrap().backup;
    let mut backups = Backups::default();
    let mut walk = || {
        (0..3).for_each(|_| backups.read(&site, u64::from(u32::MAX)));
        (alarm::find(&site.config.data, alarm::Kind::SpoiltBackup).map(|alarm| alarm.cause), backups.known.len())
    };
    let (none, all) = walk();
    assert!(none.is_none() && all > 1);
    let path = backup.at.path().unwrap().join(backup.manifest.digests().next().unwrap().0.to_string());
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&path, flipped).unwrap();
    assert_eq!(walk(), (Some(backup.name()), all - 1));
    std::fs::write(&path, whole).unwrap();
    assert_eq!(walk(), (None, all));
}
