//! Tests of a crash in the middle of a checkpoint: the database file has some pages of the WAL already. After a kill
//! these are the first pages that the checkpoint moves, after a power cut any of them.

use super::*;
use crate::moment::Moment;
use crate::store::Store;
use crate::store::engine::data_dir::DataDir;
use crate::store::engine::integrity::recover;
use crate::store::engine::{data_dir, migrate};
use std::os::unix::fs::FileExt;

const PAGE_BYTES: usize = 4096;
/// A kill is tried each time a checkpoint has moved this number of pages.
const KILL_EVERY_PAGES: usize = 7;
const POWER_CUTS: usize = 25;

const SITE: &str = "
    INSERT INTO tunnels (tunnel_id, name, country, created_at) VALUES (1, 'Here', 'CH', 0);
    INSERT INTO site (only, site_id, tunnel_id, key_check, clock_high_water, created_at) VALUES (1, 'ab', 1, x'', 9000, 0);
    INSERT INTO partners (partner_id, client_id, name, created_at) VALUES (1, 'a', 'A', 0);
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 600)
    INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at)
    SELECT 'u' || n, 's' || n, hex(n * 7919) || ' ' || hex(n * 104729), 'm' || n || '@example.com', 0, 0 FROM n;";
const RENAMED: &str = "UPDATE members SET real_name = hex(member_id * 15485863) || ' ' || hex(member_id * 32452843)";
/// Frees the pages of the search index for other tables; [`SEARCH_REBUILT`] builds the index again.
const NAMES_GONE: &str = "DELETE FROM former_names WHERE member_id % 3 = 0";
const SEARCH_EMPTIED: &str = "INSERT INTO members_search (members_search) VALUES ('delete-all')";
const SEARCH_REBUILT: &str = "INSERT INTO members_search (members_search) VALUES ('rebuild')";
const EVENTS: &str = "
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500)
    INSERT INTO events (partner_id, type, at, history_seq) SELECT 1, 'token.issued', 0, (SELECT count(*) FROM events) + row_number() OVER () FROM n;";
const SOME_EVENTS: &str = "INSERT INTO events (partner_id, type, at, history_seq) SELECT 1, 'token.issued', 0, (SELECT count(*) FROM events) + row_number() OVER () FROM members";
const SET_BACK: &str = "
    INSERT INTO audit (seq, at, actor, action, subject, origin, detail, hash)
    SELECT audit_seq + 1, 0, 'shell:x', 'clock.set_back', 'site', '', '{}', zeroblob(32) FROM site;
    UPDATE site SET audit_seq = audit_seq + 1, audit_hash = zeroblob(32), clock_high_water = 5000;";

/// A site with changes in its WAL, and the database file that a complete checkpoint makes of both.
struct Moving {
    data_dir: DataDir,
    file: Vec<u8>,
    wal: Vec<u8>,
    whole: Vec<u8>,
    _dir: tempfile::TempDir,
}

/// Opens a connection without automatic checkpoints.
fn open(path: &Path) -> Connection {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = connection::open_checked(path, flags).unwrap();
    conn.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = off").unwrap();
    conn
}

fn truncate_wal(conn: &Connection) {
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

impl Moving {
    fn of(before: &[&str], changes: &[&str]) -> Moving {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let path = data_dir.database();
        let conn = open(&path);
        [&[SITE], before].concat().iter().for_each(|sql| conn.execute_batch(sql).unwrap());
        truncate_wal(&conn);
        let file = std::fs::read(&path).unwrap();
        changes.iter().for_each(|sql| conn.execute_batch(sql).unwrap());
        let wal = std::fs::read(wal_of(&path)).unwrap();
        truncate_wal(&conn);
        drop(conn);
        let whole = std::fs::read(&path).unwrap();
        Moving { data_dir, file, wal, whole, _dir: dir }
    }

    /// The pages that a checkpoint moves, by their offset in the file.
    fn pages(&self) -> Vec<usize> {
        let page = |bytes: &[u8], at: usize| bytes.get(at..at + PAGE_BYTES).map(<[u8]>::to_vec);
        let changed = |at: &usize| page(&self.file, *at) != page(&self.whole, *at);
        (0..self.whole.len()).step_by(PAGE_BYTES).filter(changed).collect()
    }

    /// Leaves the directory as a crash does after the checkpoint moved these pages into the database file.
    fn lay(&self, moved: &[usize]) {
        let path = self.data_dir.database();
        std::fs::write(&path, &self.file).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        moved.iter().for_each(|at| file.write_all_at(&self.whole[*at..*at + PAGE_BYTES], *at as u64).unwrap());
        std::fs::write(wal_of(&path), &self.wal).unwrap();
        _ = std::fs::remove_file(data_dir::wal_index(self.data_dir.dir()));
    }

    /// Recovers from every crash, and checks that the file is the complete one then. Returns how often the file alone
    /// was ahead of file and WAL together.
    fn survives(&self) -> usize {
        let pages = self.pages();
        assert!(pages.len() > 3, "{} pages", pages.len());
        let kills = (0..=pages.len()).step_by(KILL_EVERY_PAGES).map(|count| pages[..count].to_vec());
        let mut seed = 1_u64;
        let mut is_moved = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 63 == 1
        };
        let cuts: Vec<Vec<usize>> =
            (0..POWER_CUTS).map(|_| pages.iter().copied().filter(|_| is_moved()).collect()).collect();
        let path = self.data_dir.database();
        let mut ahead = 0;
        for moved in kills.chain(cuts) {
            self.lay(&moved);
            let alone = connection::open_immutable(&path).and_then(|conn| Progress::read(&conn));
            let both = Progress::read(&open(&path)).unwrap();
            ahead += usize::from(alone.is_ok_and(|alone| !both.can_follow(&alone)));
            recover(&path).unwrap_or_else(|e| panic!("after {} of {} pages: {e}", moved.len(), pages.len()));
            assert!(std::fs::read(&path).unwrap() == self.whole, "after {} pages", moved.len());
        }
        ahead
    }
}

#[test]
fn a_crash_during_a_checkpoint_is_recovered_whatever_a_page_was_before() {
    // A page of the search index becomes one of the events.
    Moving::of(&[EVENTS, RENAMED], &[SEARCH_EMPTIED, SOME_EVENTS, SEARCH_REBUILT]).survives();
}

#[test]
fn a_crash_while_a_vacuum_or_a_set_back_clock_is_checkpointed_is_recovered() {
    Moving::of(&[EVENTS, RENAMED], &[NAMES_GONE, "DELETE FROM members WHERE member_id % 3 = 0", "VACUUM", EVENTS])
        .survives();
    Moving::of(&[EVENTS], &[SET_BACK]).survives();
}

/// Puts a file there without checksums of its pages.
fn lay_alone(path: &Path, file: &[u8]) {
    std::fs::write(path, file).unwrap();
    _ = std::fs::remove_file(data_dir::page_checksums_of(path));
}

#[test]
fn a_wal_of_an_older_state_or_of_another_file_is_refused_without_the_advice_to_restore() {
    let clock = "UPDATE site SET clock_high_water = clock_high_water + 60";
    let other = "UPDATE site SET site_id = 'cd'";
    let ours = Moving::of(&[], &[clock]);
    let path = ours.data_dir.database();
    for (what, file) in [
        ("an older log", Moving::of(&[], &[clock, clock]).whole),
        ("a log of before more was recorded", Moving::of(&[], &[EVENTS]).whole),
        ("a log of before the clock was set back", Moving::of(&[], &[SET_BACK]).whole),
        ("the log of another site", Moving::of(&[other], &[]).whole),
    ] {
        lay_alone(&path, &file);
        std::fs::write(wal_of(&path), &ours.wal).unwrap();
        let said = recover(&path).expect_err(what);
        assert!(said.contains("does not belong") && !said.contains("tunneldesk restore"), "{what}: {said}");
        assert!(said.contains("move ") && !said.contains('\n'), "{what}: {said}");
        assert!(std::fs::read(&path).unwrap() == file, "{what} went into the file");
        // Following the advice of the error makes the start succeed.
        std::fs::remove_file(wal_of(&path)).unwrap();
        recover(&path).unwrap();
    }
}

#[test]
fn a_wal_that_makes_a_sound_database_unsound_is_refused() {
    let newer = Moving::of(&[RENAMED, EVENTS], &[EVENTS]);
    let file = Moving::of(&[], &[EVENTS]).whole;
    let path = newer.data_dir.database();
    lay_alone(&path, &file);
    std::fs::write(wal_of(&path), &newer.wal).unwrap();
    let said = recover(&path);
    assert!(said.as_ref().is_err_and(|said| said.contains("does not belong")), "{said:?}");
    assert!(std::fs::read(&path).unwrap() == file);
}

#[test]
fn a_wal_of_an_older_state_is_refused_although_its_mark_came_with_it() {
    let site = Moving::of(&[], &[]);
    let path = site.data_dir.database();
    recover(&path).unwrap();
    let store = Store::open(&path).unwrap();
    let add_events = || store.write(Moment(9_000), |tx| Ok(tx.run(SOME_EVENTS, [])?)).unwrap();
    add_events();
    let older = [wal_of(&path), data_dir::wal_mark(site.data_dir.dir())].map(|file| {
        let bytes = std::fs::read(&file).unwrap();
        (file, bytes)
    });
    add_events();
    store.truncate_wal().unwrap();
    drop(store);
    let closed = std::fs::read(&path).unwrap();
    older.iter().for_each(|(file, bytes)| std::fs::write(file, bytes).unwrap());
    assert!(wal_mark::is_own_and_whole(&path));
    let said = recover(&path).unwrap_err();
    assert!(said.contains("does not belong") && said.contains("move "), "{said}");
    assert!(std::fs::read(&path).unwrap() == closed, "the older log went into the file");
    std::fs::remove_file(wal_of(&path)).unwrap();
    recover(&path).unwrap();
    assert!(std::fs::read(&path).unwrap() == closed);
}
