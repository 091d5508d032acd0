//! Tests of losses that the WAL mark shows, and of states that are none.

use super::super::alarm;
use super::super::data_dir::DataDir;
use super::super::integrity::recover;
use super::super::migrate;
use super::*;
use crate::moment::Moment;
use crate::store::Store;

/// The files of a site that was killed after `writes` writes and `also`.
fn killed(writes: i64, also: impl Fn(&Store)) -> (tempfile::TempDir, DataDir) {
    let (dir, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data_dir = DataDir::lock(dir.path()).unwrap();
    migrate::create(&data_dir).unwrap();
    let store = Store::open(&data_dir.database()).unwrap();
    store.truncate_wal().unwrap();
    for n in 0..writes {
        store
            .write(Moment(n), |tx| Ok(tx.run("INSERT INTO failed_attempts (hour, attempts) VALUES (?1, 1)", [n])?))
            .unwrap();
    }
    also(&store);
    for name in ["tunneldesk.sqlite", "tunneldesk.sqlite-sums", "tunneldesk.sqlite-wal", "log-mark"] {
        std::fs::copy(dir.path().join(name), left.path().join(name)).unwrap();
    }
    drop(store);
    let data_dir = DataDir::lock(left.path()).unwrap();
    (left, data_dir)
}

fn restart_wal(store: &Store) {
    let sql = "PRAGMA wal_checkpoint(RESTART)";
    store.writer().exclusive(|conn| conn.query_row(sql, [], |_| Ok(())).unwrap());
}

#[test]
fn a_complete_wal_is_no_loss() {
    let also: [fn(&Store); 4] = [
        |_| (),
        |store| store.truncate_wal().unwrap(),
        // All of the WAL is in the database, and the next write restarts it.
        restart_wal,
        |store| {
            restart_wal(store);
            store.write(Moment(9_999), |tx| Ok(tx.run("DELETE FROM failed_attempts", [])?)).unwrap();
        },
    ];
    for also in also {
        let (_dir, data_dir) = killed(40, also);
        assert_eq!(find_loss(&data_dir.database()), None);
    }
    // A mark from before the WAL was restarted, as a power cut leaves it.
    let older = tempfile::tempdir().unwrap();
    let mark = older.path().join("log-mark");
    let (dir, data_dir) = killed(40, |store| {
        std::fs::copy(data_dir::wal_mark(store.path().parent().unwrap()), &mark).unwrap();
        for hour in 0..3 {
            restart_wal(store);
            store
                .write(Moment(9_999), |tx| Ok(tx.run("DELETE FROM failed_attempts WHERE hour = ?1", [hour])?))
                .unwrap();
        }
    });
    std::fs::copy(&mark, dir.path().join("log-mark")).unwrap();
    assert_eq!(find_loss(&data_dir.database()), None);
    recover(&data_dir.database()).unwrap();
    std::fs::write(dir.path().join("log-mark"), [7; MARK_BYTES]).unwrap();
    assert_eq!(find_loss(&data_dir.database()), None, "a damaged mark is ignored");
}

#[test]
fn the_wal_of_an_earlier_time_over_the_one_of_a_kill_is_refused_until_it_is_moved_away() {
    // WALs of the same process, of one before, and of another file.
    let kept = tempfile::tempdir().unwrap();
    let keep = |store: &Store, name: &str| {
        std::fs::copy(data_dir::wal(store.path().parent().unwrap()), kept.path().join(name)).unwrap();
    };
    let (dir, data_dir) = killed(40, |store| {
        for name in ["first", "second", "third"] {
            keep(store, name);
            restart_wal(store);
            let sql = "UPDATE failed_attempts SET attempts = attempts + 1 WHERE hour < 9";
            store.write(Moment(9_999), |tx| Ok(tx.run(sql, [])?)).unwrap();
        }
    });
    let (stranger, _) = killed(60, |_| ());
    let (wal, database) = (data_dir::wal(dir.path()), data_dir.database());
    let sound =
        [&wal, &database, &dir.path().join("log-mark")].map(|file| (file.clone(), std::fs::read(file).unwrap()));
    let earlier = ["first", "second", "third"].map(|name| kept.path().join(name));
    for other in earlier.iter().chain([&data_dir::wal(stranger.path())]) {
        std::fs::copy(other, &wal).unwrap();
        assert!(find_loss(&database).unwrap().contains("earlier state"), "{}", other.display());
        let said = recover(&database).unwrap_err();
        assert!(said.contains("move ") && said.contains("tunneldesk doctor") && !said.contains('\n'), "{said}");
        assert!(std::fs::read(&database).unwrap() == sound[1].1, "{} went into the file", other.display());
    }
    // With the right log back in its place nothing is lost.
    std::fs::write(&wal, &sound[0].1).unwrap();
    recover(&database).unwrap();
    assert_eq!(alarm::find(dir.path(), alarm::Kind::LostLog), None);
    // Without any the site starts with the alarm.
    sound.iter().for_each(|(file, bytes)| std::fs::write(file, bytes).unwrap());
    std::fs::remove_file(&wal).unwrap();
    recover(&database).unwrap();
    assert!(alarm::find(dir.path(), alarm::Kind::LostLog).is_some());
}

#[test]
fn a_wal_of_an_earlier_time_beside_a_file_that_is_not_sound_alone_is_an_alarm_and_no_refusal() {
    let (earlier, _) = killed(20, |_| ());
    let (dir, data_dir) = killed(40, |_| ());
    std::fs::copy(data_dir::wal(earlier.path()), data_dir::wal(dir.path())).unwrap();
    std::fs::write(data_dir.database(), vec![7; 4096]).unwrap();
    assert!(is_of_another_time(&data_dir.database()));
    super::super::wal_match::check_time(&data_dir.database()).unwrap();
    assert!(find_loss(&data_dir.database()).is_some());
}

#[test]
fn a_wal_that_another_program_checkpointed_is_no_loss() {
    let (dir, data_dir) = killed(40, |_| ());
    drop(Connection::open(data_dir.database()).unwrap().execute_batch("SELECT count(*) FROM failed_attempts"));
    std::fs::remove_file(dir.path().join("tunneldesk.sqlite-wal")).unwrap_or_default();
    assert_eq!(find_loss(&data_dir.database()), None);
}

#[test]
fn a_wal_that_is_missing_empty_truncated_or_flipped_anywhere_is_a_loss() {
    let (dir, data_dir) = killed(40, |_| ());
    let wal = dir.path().join("tunneldesk.sqlite-wal");
    let whole = std::fs::read(&wal).unwrap();
    let lost = |bytes: &[u8]| {
        std::fs::write(&wal, bytes).unwrap();
        find_loss(&data_dir.database()).is_some()
    };
    assert!(!lost(&whole));
    for short in [0, 16, HEADER_BYTES, whole.len() / 2, whole.len() - 1] {
        assert!(lost(&whole[..short]), "{short} bytes");
    }
    for nth in 0..200 {
        let bit = nth * 8 * whole.len() / 200 + nth % 8;
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(lost(&flipped), "bit {bit}");
    }
    std::fs::remove_file(&wal).unwrap();
    assert!(find_loss(&data_dir.database()).unwrap().contains("missing"));
}

#[test]
fn what_a_damaged_wal_holds_up_to_the_damage_is_served_with_an_alarm() {
    let (dir, data_dir) = killed(40, |_| ());
    let mut wal = std::fs::read(data_dir::wal(dir.path())).unwrap();
    wal[HEADER_BYTES + 9 * (FRAME_HEADER_BYTES + 4096) + 2_000] ^= 8;
    std::fs::write(data_dir::wal(dir.path()), &wal).unwrap();
    recover(&data_dir.database()).unwrap();
    let told = alarm::find(dir.path(), alarm::Kind::LostLog).expect("it is told");
    assert!(told.cause.contains("ends after"), "{}", told.cause);
    let store = Store::open(&data_dir.database()).unwrap();
    let rows = store.read(|tx| Ok(tx.get::<i64>("SELECT count(*) FROM failed_attempts", [])?)).unwrap();
    assert!((1..40).contains(&rows), "{rows}");
}

#[test]
fn the_moment_of_the_last_commit_is_that_of_the_site_also_where_the_machine_starts_in_1970() {
    let in_2040 = Moment(2_209_000_000);
    let (dir, data_dir) = killed(40, |store| {
        store.write(in_2040, |tx| Ok(tx.run("DELETE FROM failed_attempts WHERE hour = 1", [])?)).unwrap();
    });
    let lose = || {
        std::fs::remove_file(data_dir::wal(dir.path())).unwrap();
        recover(&data_dir.database()).unwrap();
        let told = alarm::find(dir.path(), alarm::Kind::LostLog).unwrap();
        (told.since, told.last_good)
    };
    // The machine's clock is behind the site's.
    assert_eq!(lose(), (in_2040, Some(in_2040)));
}

#[test]
fn a_mark_of_an_earlier_version_has_no_moment() {
    let (dir, data_dir) = killed(3, |_| ());
    let mark = data_dir::wal_mark(dir.path());
    assert_eq!(marked_moment(&data_dir.database()), Some(Moment(2)));
    let bytes = std::fs::read(&mark).unwrap();
    std::fs::write(&mark, &bytes[..MARK_BYTES]).unwrap();
    assert_eq!(marked_moment(&data_dir.database()), None);
    assert!(is_own_and_whole(&data_dir.database()));
}
