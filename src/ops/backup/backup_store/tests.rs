//! What counts as a backup, and what is left of one.

use super::*;
use crate::moment::Moment;

fn lay(backup_store: &BackupStore, name: &str, made_at: Moment) {
    let lock = backup_store.lock_own().unwrap();
    lock.begin(&BackupName::parse(name).unwrap())
        .unwrap()
        .finish(&Manifest::blank(made_at), &Signer::new(), None)
        .unwrap();
}

#[test]
fn of_backups_made_in_one_second_the_one_with_the_highest_number_is_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let backup_store = BackupStore::new(dir.path().to_owned());
    for name in ["day-2", "day", "day-10"] {
        lay(&backup_store, name, Moment(100));
    }
    lay(&backup_store, "earlier-30", Moment(99));
    let names: Vec<String> = backup_store.list().iter().map(Backup::name).collect();
    assert_eq!(names, ["day-10", "day-2", "day", "earlier-30"]);
}

#[test]
fn what_a_killed_backup_left_takes_no_room_from_the_next_and_is_no_backup() {
    let dir = tempfile::tempdir().unwrap();
    let backup_store = BackupStore::new(dir.path().to_owned());
    let stamp = file_stamp(Moment(1_800_000_000));
    let text = Manifest::blank(Moment(7)).text();
    lay(&backup_store, "earlier", Moment(99));
    for (nth, left) in [None, Some(""), Some(&text[..1]), Some(&text[..text.len() / 2])].into_iter().enumerate() {
        let killed = dir.path().join(format!("{stamp}-{nth}"));
        std::fs::create_dir(&killed).unwrap();
        std::fs::write(killed.join("site.key"), "key").unwrap();
        left.iter().for_each(|text| std::fs::write(killed.join("manifest.json"), text).unwrap());
        let listing = backup_store.listing();
        assert_eq!((listing.backups.len(), listing.unreadable.len(), listing.unfinished.len()), (1, 0, 1), "{left:?}");
        // In a place that others use too it is kept for a day.
        backup_store.lock().unwrap().remove_unfinished(Moment(1_800_000_000));
        assert!(killed.exists());
        drop(backup_store.lock_own().unwrap());
        assert!(!killed.exists());
    }
    // Other files are left alone, and a backup that fails leaves nothing.
    std::fs::create_dir(dir.path().join("pictures")).unwrap();
    drop(backup_store.lock_own().unwrap().begin(&BackupName::parse(&stamp).unwrap()).unwrap());
    let mut names = Dir::root(dir.path()).unwrap().names().unwrap();
    names.sort();
    assert_eq!(names, ["earlier", "pictures"]);
}

#[test]
fn a_backup_is_made_beside_what_has_its_name_and_is_removed_whole() {
    let dir = tempfile::tempdir().unwrap();
    let backup_store = BackupStore::new(dir.path().to_owned());
    std::os::unix::fs::symlink("/etc", dir.path().join("day")).unwrap();
    lay(&backup_store, "day", Moment(100));
    lay(&backup_store, "day", Moment(101));
    let names: Vec<String> = backup_store.list().iter().map(Backup::name).collect();
    assert_eq!(names, ["day-3", "day-2"]);
    backup_store.lock().unwrap().remove("day-2").unwrap();
    assert!(!dir.path().join("day-2").exists() && dir.path().join("day-3").exists());
}

#[test]
fn a_backup_from_the_future_is_not_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let backup_store = BackupStore::new(dir.path().to_owned());
    for made_at in [100, 200, 900_000] {
        lay(&backup_store, &made_at.to_string(), Moment(made_at));
    }
    let newest = |now| backup_store.newest(now).map(|backup| backup.manifest.made_at);
    assert_eq!(
        [newest(Moment(99)), newest(Moment(300)), newest(Moment(900_000))],
        [None, Some(Moment(200)), Some(Moment(900_000))]
    );
}
