//! The continuous off-site copy: after the loss of a disk, a new machine has all but the last seconds; any second can
//! be restored; an off-site target that hangs, goes away or is set back is reported, catches up, and slows no request.
//!
//! `TUNNELDESK_DISK_LOSSES`, `TUNNELDESK_SECONDS` and `TUNNELDESK_ERASURES` set the number of losses, of seconds, and
//! of restores after erasures.

mod foreign;
mod hostile;
mod in_bucket;
pub mod oracle;
mod resume;
mod store;
mod storms;
mod truth;

use crate::harness::{Desk, Random, Server, text};
use oracle::{LIMITS, Oracle, restored};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The number of losses in the suite.
const LOSSES: u64 = 2;
const SECONDS: u64 = 2;
const ERASURES: u64 = 3;
/// The number of disk losses for which one site is used; with more, its restores and audits would take longer than its
/// writes.
const LOSSES_A_SITE: u64 = 25;
/// Restores to a random second after each member's erasure.
const RESTORES_PER_ERASURE: u64 = 10;
/// The age of the most recent writes that a lost disk may take along. Every write acknowledged earlier must be in the
/// off-site copy.
const LOST_TIME_MAX: Duration = Duration::from_secs(3);
/// The time to wait for a copy beside other tests, or for a target that answers again.
const WAIT_TIME_MAX: Duration = Duration::from_secs(90);

pub fn campaign(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|rounds| rounds.parse().expect("a number of rounds"))
}

/// Repeats `ask` until it returns a value.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(since.elapsed() < WAIT_TIME_MAX, "not within {WAIT_TIME_MAX:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A site with members who write, and an off-site target.
fn site(clients: usize) -> Desk {
    let desk = Desk::with_site();
    (0..clients).for_each(|n| _ = desk.add_member(&format!("flyer-{n}"), "member"));
    std::fs::create_dir(second(&desk)).unwrap();
    let settings = format!("{LIMITS}[backup]\noff_site = {:?}\n", second(&desk).to_str().unwrap());
    std::fs::write(desk.path().join("tunneldesk.toml"), settings).unwrap();
    desk
}

fn second(desk: &Desk) -> PathBuf {
    desk.path().join("second")
}

/// The ticks behind the newest base in the off-site target.
fn ticks(desk: &Desk) -> Vec<PathBuf> {
    let entries = |dir: &Path| {
        let all = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut all: Vec<PathBuf> =
            all.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.')).collect();
        all.sort();
        all
    };
    let bases = entries(&second(desk));
    let base = bases.iter().rfind(|path| path.join("manifest.json").exists());
    base.map(|base| entries(&base.join("ticks"))).unwrap_or_default()
}

/// Whether the path is a finished backup.
fn is_base(path: &Path) -> bool {
    !path.file_name().unwrap().to_string_lossy().starts_with('.') && path.join("manifest.json").exists()
}

/// The current fact of the doctor about the off-site copy.
fn fact(desk: &Desk) -> (String, String) {
    desk.fact("off_site").unwrap()
}

/// Writes until the off-site copy has all but the last second.
fn wait_until_caught_up(desk: &Desk, server: &Server, oracle: &mut Oracle) {
    until("all of it off site", || {
        oracle.write_once(server);
        let (_, said) = fact(desk);
        ["is 0 s behind", "is 1 s behind"].iter().any(|close| said.contains(close)).then_some(())
    });
}

/// Writes until a tick of this server process is in the off-site target.
fn wait_for_chain(desk: &Desk, server: &Server, oracle: &mut Oracle) {
    until("a tick on the off-site target", || {
        oracle.write_once(server);
        // An earlier process left ticks there too, so the state must also say that this server has a chain of its own.
        (fact(desk).1.contains("behind the last write") && !ticks(desk).is_empty()).then_some(())
    });
}

#[test]
fn a_lost_disk_costs_the_last_seconds_and_no_more() {
    let campaign = campaign("TUNNELDESK_DISK_LOSSES");
    let (losses, clients) = (campaign.unwrap_or(LOSSES), if campaign.is_some() { 64 } else { 6 });
    let mut random = Random::new(Random::seed());
    let (mut desk, mut oracle) = (site(clients), Oracle::new(clients));
    let mut lost = Vec::new();
    for loss in 1..=losses {
        if loss % LOSSES_A_SITE == 0 {
            (desk, oracle) = (site(clients), Oracle::new(clients));
        }
        let server = desk.serve();
        oracle.sign_in(&server);
        wait_for_chain(&desk, &server, &mut oracle);
        let written_for = Duration::from_millis(3_500 + random.below(2_500));
        let seconds = lose_disk(&desk, server, &mut oracle, written_for);
        println!("loss {loss}: {seconds:?} lost");
        assert!(seconds <= LOST_TIME_MAX, "a write acknowledged {seconds:?} before the loss is gone");
        lost.push(seconds);
    }
    lost.sort();
    println!("lost: median {:?}, worst {:?}", lost[lost.len() / 2], lost.last().unwrap());
}

/// All clients write, the server is killed and its disk lost. Returns the age, at the kill, of the oldest acknowledged
/// write that a restore from the off-site target does not bring back.
fn lose_disk(desk: &Desk, server: Server, oracle: &mut Oracle, written_for: Duration) -> Duration {
    let killed_at = oracle.write_until(&server, written_for, || server.kill());
    drop(server);
    let log_bytes = std::fs::metadata(desk.data().join("tunneldesk.sqlite-wal")).map_or(0, |log| log.len());
    println!("{} ticks, {log_bytes} bytes of log", ticks(desk).len());
    std::fs::remove_dir_all(desk.data()).unwrap();
    desk.run(&["restore"]).back();
    let there = restored(&desk.data());
    let lost = oracle.lost(&there, killed_at);
    oracle.forget_lost(&there);
    lost
}

/// Proves the audit above: with an injected fault in the server it must fail.
#[test]
fn with_an_injected_fault_a_lost_disk_costs_more() {
    for fault in ["gate", "confirmation"] {
        let desk = site(6);
        let mut oracle = Oracle::new(6);
        let server = desk.serve_with_args(&["--off-site-fault", fault]);
        oracle.sign_in(&server);
        until("a base off site", || {
            let bases = std::fs::read_dir(second(&desk)).unwrap().flatten().map(|entry| entry.path());
            bases.filter(|path| is_base(path)).last()
        });
        // The kill comes before the server replaces the lost chain by a new base.
        let lost = lose_disk(&desk, server, &mut oracle, 2 * LOST_TIME_MAX);
        assert!(lost > LOST_TIME_MAX, "{fault}: only {lost:?} lost");
    }
}

#[test]
fn any_second_can_be_restored() {
    let campaign = campaign("TUNNELDESK_SECONDS");
    let seconds = campaign.unwrap_or(SECONDS);
    let (mut random, clients) = (Random::new(Random::seed()), if campaign.is_some() { 6 } else { 2 });
    let desk = site(clients);
    desk.add_member("leaver", "member");
    // With a limit this high, no tick is written before its second is over, however much is written.
    let settings = std::fs::read_to_string(desk.path().join("tunneldesk.toml")).unwrap();
    std::fs::write(desk.path().join("tunneldesk.toml"), settings + "unconfirmed_mib = 4096\n").unwrap();
    let mut oracle = Oracle::new(clients);
    let started = oracle::now();
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    let begun = oracle::now();
    // The erasure rewrites the database, and the backup makes the chain continue from a new base, while clients write.
    let written_for = Duration::from_secs(if campaign.is_some() { 20 } else { 2 });
    let mut seconds_of_note = Vec::new();
    for deed in [&["member", "erase", "leaver", "--yes"][..], &["backup"], &["member", "list"]] {
        oracle.write_until(&server, written_for, || {
            seconds_of_note.push(oracle::now());
            desk.run(deed).done();
            seconds_of_note.push(oracle::now());
        });
    }
    assert_eq!(server.stop().code, Some(0));
    let ended = oracle::now();
    // Clients write all the time, yet a round has one tick for each second that it meets, two at most, and one more
    // when the WAL restarts. A round that never ends would have hundreds.
    let (ticks, rounds) = (ticks(&desk).len(), (ended - started) as usize + 2);
    assert!(ticks <= 3 * rounds, "{ticks} ticks in {rounds} seconds");
    let drawn = (0..seconds).map(|_| begun + random.below((ended - begun) as u64) as i64);
    for at in drawn.chain(seconds_of_note) {
        let shown = oracle::shown(at);
        let elsewhere = desk.path().join("elsewhere");
        let said = desk.json(&["restore", "--at", &shown, "--data", elsewhere.to_str().unwrap()]);
        assert!(said["moment"].as_i64().unwrap() <= at, "{shown}: {said}");
        let there = restored(&elsewhere);
        let (missing, early) = oracle.differences(&there, at);
        assert!(missing.is_empty() && early.is_empty(), "{shown}: {missing:?} missing, {early:?} too early: {said}");
        std::fs::remove_dir_all(&elsewhere).unwrap();
    }
    // A clean stop ships all writes, and a dry run of a restore says so.
    let said = desk.json(&["restore", "--dry-run"]);
    assert_eq!((&said["dry_run"], &said["replaced"]), (&true.into(), &Value::Null), "{said}");
    std::fs::remove_dir_all(desk.data()).unwrap();
    desk.run(&["restore"]).done();
    assert_eq!(oracle.lost(&restored(&desk.data()), Instant::now()), Duration::ZERO);
    let base = self::ticks(&desk)[0].ancestors().nth(2).unwrap().to_owned();
    foreign::restores_the_same(&base, &self::ticks(&desk), &desk.path().join("foreign"));
    drills_from_the_off_site_copy(&desk, begun - 60);
}

/// Without local backups the drill restores a second of the last day from the off-site target, and finds damage there.
fn drills_from_the_off_site_copy(desk: &Desk, begun: i64) {
    let drill = desk.json(&["backup", "drill"]);
    let moment = drill["moment"].as_i64().unwrap();
    assert!((begun..=oracle::now()).contains(&moment) && drill["rows"].as_i64() > Some(0), "{drill}");
    assert_eq!((text(&drill["trouble"]), &drill["is_half"]), ("", &false.into()), "{drill}");
    let said = desk.run(&["backup", "list"]).done();
    assert!(said.contains("the off-site copy brings back the site as it was at"), "{said}");
    let tick = &ticks(desk)[0];
    let mut bytes = std::fs::read(tick).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(tick, bytes).unwrap();
    let said = until("a drill to a second behind that tick", || {
        let drilled = desk.run(&["backup", "drill"]);
        (drilled.code != Some(0)).then_some(drilled.err)
    });
    assert!(said.contains("0000000001.tick is damaged"), "{said}");
}

#[test]
fn a_restore_to_a_moment_can_be_undone() {
    let desk = site(1);
    let mut oracle = Oracle::new(1);
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    let at = oracle::now();
    until("the next second", || (oracle::now() > at).then_some(()));
    oracle.write_once(&server);
    assert_eq!(server.stop().code, Some(0));
    assert!(fact(&desk).1.contains("while the server runs"), "{:?}", fact(&desk));
    let all = restored(&desk.data());
    let ran = desk.run(&["restore", "--at", "yesterday"]);
    assert!(ran.code != Some(0) && ran.err.contains("is no moment like"), "{}", ran.err);
    let said = desk.run(&["restore", "--at", "2020-01-01 00:00:00"]).trouble(1);
    assert!(said.contains("no backup from before 2020-01-01 00:00:00+01:00"), "{said}");
    // A restore never gives another moment than the requested one: neither a later one, nor the present for a time of
    // another time zone.
    let later = desk.json(&["backup", "list"])["backups"][0]["name"].as_str().unwrap().to_owned();
    let said = desk.run(&["restore", &later, "--at", "2020-01-01 00:00:00"]).trouble(1);
    assert!(said.contains("without its name the newest from before then is taken"), "{said}");
    let said = desk.run(&["restore", "--at", &oracle::shown(oracle::now() + 3_600)]).trouble(1);
    assert!(said.contains("is yet to come"), "{said}");
    assert_eq!(restored(&desk.data()), all);
    let said = desk.run(&["restore", "--at", &oracle::shown(at), "--dry-run"]).done();
    assert!(said.contains("would be as it was on") && said.contains("Nothing was changed"), "{said}");
    assert_eq!(restored(&desk.data()), all);
    let said = desk.run(&["restore", "--at", &oracle::shown(at)]).done();
    assert!(said.contains("restore --undo"), "{said}");
    assert_eq!(restored(&desk.data()).len(), all.len() - 1);
    desk.run(&["restore", "--undo"]).done();
    assert_eq!(restored(&desk.data()), all);
    // Writes made while no server ran are in the next base, and in no tick.
    desk.add_member("newcomer", "member");
    let between = oracle::now();
    until("the next second", || (oracle::now() > between).then_some(()));
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    assert_eq!(server.stop().code, Some(0));
    let dry = |at: i64| desk.json(&["restore", "--dry-run", "--at", &oracle::shown(at)]);
    assert!(dry(between)["gap_until"].as_i64() > Some(between), "{}", dry(between));
    let said = desk.run(&["restore", "--dry-run", "--at", &oracle::shown(between)]).done();
    assert!(said.contains("may be missing: the off-site copy began anew"), "{said}");
    for whole in [at, oracle::now()] {
        assert_eq!(dry(whole)["gap_until"], Value::Null);
    }
}

#[test]
fn no_erased_member_comes_back_at_any_second() {
    let tries = campaign("TUNNELDESK_ERASURES").unwrap_or(ERASURES);
    let mut random = Random::new(Random::seed());
    let (desk, mut oracle) = (site(1), Oracle::new(1));
    let mut begun = None;
    for round in 0..tries.div_ceil(RESTORES_PER_ERASURE) {
        let leaver = format!("leaver-{round}");
        desk.add_member(&leaver, "member");
        let server = desk.serve();
        oracle.sign_in(&server);
        wait_for_chain(&desk, &server, &mut oracle);
        let begun = *begun.get_or_insert_with(oracle::now);
        (0..random.below(20)).for_each(|_| _ = oracle.write_once(&server));
        desk.run(&["member", "erase", &leaver, "--yes"]).done();
        (0..random.below(3)).for_each(|_| _ = oracle.write_once(&server));
        server.kill();
        drop(server);
        std::fs::remove_dir_all(desk.data()).unwrap();
        for _ in 0..RESTORES_PER_ERASURE.min(tries) {
            let at = oracle::shown(begun + random.below((oracle::now() - begun + 1) as u64) as i64);
            let elsewhere = desk.path().join("elsewhere");
            desk.run(&["restore", "--at", &at, "--data", elsewhere.to_str().unwrap()]).back();
            knows_nobody_who_left(&desk, &elsewhere, &at);
            std::fs::remove_dir_all(&elsewhere).unwrap();
        }
        desk.run(&["restore"]).back();
        knows_nobody_who_left(&desk, &desk.data(), "the end");
    }
}

/// Asserts that every member who left is erased: neither a list nor any byte of the database contains them.
fn knows_nobody_who_left(desk: &Desk, data: &Path, at: &str) {
    let names = desk.json(&["member", "list", "--data", data.to_str().unwrap()]).to_string();
    assert!(names.contains("flyer-0") && !names.contains("leaver-"), "at {at}: {names}");
    let bytes = std::fs::read(data.join("tunneldesk.sqlite")).unwrap();
    assert!(!bytes.windows(7).any(|piece| piece == b"leaver-"), "at {at}: a name is left in the file");
}

#[test]
fn an_encrypted_off_site_copy_is_restored_with_its_key_alone() {
    let desk = site(1);
    let (recipient, key) = crate::backups::key(&desk, "key.txt");
    let settings = std::fs::read_to_string(desk.path().join("tunneldesk.toml")).unwrap();
    std::fs::write(desk.path().join("tunneldesk.toml"), format!("{settings}recipient = {recipient:?}\n")).unwrap();
    let mut oracle = Oracle::new(1);
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    assert!(ticks(&desk).iter().all(|tick| tick.to_string_lossy().ends_with(".tick.age")));
    assert_eq!(server.stop().code, Some(0));
    // The drill cannot test the off-site copy, because the secret key is not on this machine.
    let drill = desk.json(&["backup", "drill"]);
    assert_eq!(
        (text(&drill["trouble"]), &drill["moment"], &drill["is_half"]),
        ("", &Value::Null, &false.into()),
        "{drill}"
    );
    // The local base is not encrypted, but its ticks off site are.
    let said = desk.run(&["restore"]).trouble(1);
    assert!(said.contains("--identity"), "{said}");
    std::fs::remove_dir_all(desk.data()).unwrap();
    desk.run(&["restore", "--identity", key.to_str().unwrap()]).done();
    assert_eq!(oracle.lost(&restored(&desk.data()), Instant::now()), Duration::ZERO);
}
