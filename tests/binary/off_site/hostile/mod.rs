//! A place of the off-site copy that somebody else can write: whatever lies there, no other file is touched, no memory, disk or
//! time is used without a limit, and nothing is believed that the site did not write.
//!
//! `TUNNELDESK_HOSTILE_PLACES` sets the number of mutations.

mod attack;

use super::oracle::{Oracle, restored};
use super::storms::{ANSWER_TIME_MAX, lose_disk};
use super::{campaign, fact, second, site, until, wait_for_chain, wait_until_caught_up};
use crate::harness::{BINARY, Caller, Desk, Random, Server};
use attack::{ALL, Attack, all_in, forged_epoch, remove};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The number of mutations in the suite, and how many are made before the copy is used.
const MUTATIONS: u64 = 60;
const AT_ONCE: u64 = 5;
/// The memory of the server, beside other tests, and the address space and the largest file of a restore.
const SERVER_KIB_MAX: u64 = 400 * 1024;
const RESTORE_KIB_MAX: u64 = 1_500_000;
const FILE_BLOCKS_MAX: u64 = 400_000;
/// The disk that a round takes beside the hostile place.
const DISK_BYTES_MAX: u64 = 400_000_000;
/// A drill or a restore, beside other tests.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(60);

/// What must stay as it is: the digest of each file that is neither the site's, nor in the hostile place.
fn guarded(desk: &Desk) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_ours = |path: &PathBuf| {
        let ours = [second(desk), desk.data(), desk.path().join("elsewhere")];
        ours.iter().all(|dir| path != dir && !path.starts_with(dir))
    };
    let digest = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap_or_default();
        (path, Sha256::digest(bytes).to_vec())
    };
    let all = all_in(desk.path()).into_iter().filter(is_ours);
    all.chain([desk.data().join("site.key")]).map(digest).collect()
}

/// The files that are in one of the two alone, or have another digest.
fn differences(now: &BTreeMap<PathBuf, Vec<u8>>, before: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let all = now.keys().chain(before.keys());
    all.filter(|path| now.get(*path) != before.get(*path)).cloned().collect()
}

fn disk_bytes(dir: &Path) -> u64 {
    let blocks = |path: &PathBuf| path.symlink_metadata().map_or(0, |found| found.blocks() * 512);
    all_in(dir).iter().map(blocks).sum()
}

fn peak_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Restores from the hostile place into an empty directory, with little memory. Whether there is a site then: a restore that
/// stops before the newest second, at what was damaged, ends with 3.
fn restores(desk: &Desk, site: &str, elsewhere: &Path) -> bool {
    let limits = format!("ulimit -v {RESTORE_KIB_MAX} && ulimit -f {FILE_BLOCKS_MAX} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limits, BINARY, "restore", "--site", site, "--data", elsewhere.to_str().unwrap()]);
    let ran = command.current_dir(desk.path()).env_clear().output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(matches!(ran.status.code(), Some(0..=3)), "a restore ends with {:?}: {said}", ran.status);
    assert!(!said.contains("panicked") && !said.contains("memory allocation"), "{said}");
    matches!(ran.status.code(), Some(0 | 3))
}

/// The fingerprint of the key by which a site signs.
fn fingerprint(desk: &Desk) -> String {
    let said = desk.fact("signature").unwrap().1;
    said.split("the key ").nth(1).unwrap().split('.').next().unwrap().to_owned()
}

/// Empties the place, and has the site begin anew there.
fn begin_anew(desk: &Desk, server: &Server, oracle: &mut Oracle) {
    for entry in std::fs::read_dir(second(desk)).unwrap().flatten() {
        remove(&entry.path());
    }
    until("a copy in the empty place", || (desk.run(&["backup"]).code == Some(0)).then_some(()));
    wait_for_chain(desk, server, oracle);
}

#[test]
fn whoever_can_write_to_the_place_of_the_copy_can_do_no_more_than_destroy_it() {
    let mutations = campaign("TUNNELDESK_HOSTILE_PLACES").unwrap_or(MUTATIONS);
    let seed = Random::seed();
    println!("seed {seed}");
    let (desk, other) = (site(1), site(1));
    desk.add_member("leaver", "member");
    desk.run(&["member", "erase", "leaver", "--yes"]).done();
    for place in ["guard/inner", "guard"] {
        std::fs::create_dir_all(desk.path().join(place)).unwrap();
        std::fs::write(desk.path().join(place).join("canary"), "nobody writes here").unwrap();
    }
    other.run(&["backup"]).done();
    let site = fingerprint(&desk);
    let (mut oracle, server) = (Oracle::new(1), desk.serve());
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    let [yesterday, others] = [(&desk, "yesterday"), (&other, "others")].map(|(from, name)| {
        let to = desk.path().join(name);
        assert!(Command::new("cp").arg("-a").args([&second(from), &to]).status().unwrap().success());
        to
    });
    let (guarded_before, elsewhere) = (guarded(&desk), desk.path().join("elsewhere"));
    let mut attack = Attack { desk: &desk, random: Random::new(seed), yesterday, others };
    let (mut made, mut restores_made, mut drills_made) = (BTreeMap::<&str, u64>::new(), 0, 0);
    // The first round mutates nothing: its drill and its restore succeed.
    for round in 0..=mutations.div_ceil(AT_ONCE) {
        begin_anew(&desk, &server, &mut oracle);
        let disk_before = disk_bytes(&desk.data());
        let mut names = Vec::new();
        while round > 0 && names.len() < AT_ONCE as usize {
            let (name, mutate) = attack.random.one_of(ALL).unwrap();
            if mutate(&mut attack).is_some() {
                names.push(*name);
                *made.entry(name).or_default() += 1;
            }
            let took = oracle.write_once(&server);
            assert!(took < ANSWER_TIME_MAX, "{names:?}: a write took {took:?}");
        }
        let since = Instant::now();
        drills_made += u64::from(desk.run(&["backup", "drill"]).code == Some(0));
        assert!(since.elapsed() < COMMAND_TIME_MAX, "{names:?}: a drill took {:?}", since.elapsed());
        let since = Instant::now();
        let is_restored = restores(&desk, &site, &elsewhere);
        assert!(since.elapsed() < COMMAND_TIME_MAX, "{names:?}: a restore took {:?}", since.elapsed());
        if is_restored {
            restores_made += 1;
            believes_nothing(&desk, &elsewhere, &oracle, &names);
        }
        assert!(round > 0 || (restores_made == 1 && drills_made == 1), "an intact place is not restored");
        let changed: Vec<PathBuf> = differences(&guarded(&desk), &guarded_before);
        assert!(changed.is_empty(), "round {round}: {names:?}: {changed:?}");
        let disk = (disk_bytes(&desk.data()) + disk_bytes(&elsewhere)).saturating_sub(disk_before);
        let memory = peak_kib(&server);
        assert!(disk < DISK_BYTES_MAX && memory < SERVER_KIB_MAX, "{names:?}: {disk} bytes, {memory} KiB");
        _ = std::fs::remove_dir_all(&elsewhere);
    }
    let peak = peak_kib(&server);
    println!("{made:?}: {restores_made} restores and {drills_made} drills succeeded; at most {peak} KiB");
    begin_anew(&desk, &server, &mut oracle);
    wait_until_caught_up(&desk, &server, &mut oracle);
    lose_disk(&desk, server, &oracle);
}

/// Asserts that a restored site is this one, with writes that it made, and can go on.
fn believes_nothing(desk: &Desk, elsewhere: &Path, oracle: &Oracle, names: &[&str]) {
    let there = restored(elsewhere);
    let strange: Vec<&String> = there.iter().filter(|name| !oracle.made(name)).collect();
    assert!(strange.is_empty(), "{names:?}: {strange:?}");
    let listed = desk.json(&["member", "list", "--data", elsewhere.to_str().unwrap()]).to_string();
    assert!(listed.contains("flyer-0") && !listed.contains("leaver"), "{names:?}: {listed}");
    let file = rusqlite::Connection::open(elsewhere.join("tunneldesk.sqlite")).unwrap();
    let given: i64 =
        file.query_row("SELECT seq FROM sqlite_sequence WHERE name = 'members'", [], |row| row.get(0)).unwrap();
    assert!(given < 10_000_000, "{names:?}: the next member gets the number {given}");
}

/// Proves the campaign: a build that takes every signature for right is stopped by an epoch that anybody wrote.
#[test]
fn a_build_that_checks_no_signature_believes_what_anybody_wrote() {
    for args in [&[][..], &["--off-site-fault", "signatures"]] {
        let desk = site(1);
        let (server, mut oracle) = (desk.serve_with_args(args), Oracle::new(1));
        oracle.sign_in(&server);
        wait_for_chain(&desk, &server, &mut oracle);
        let attack = Attack { desk: &desk, random: Random::new(1), yesterday: second(&desk), others: second(&desk) };
        let site_id = attack.site_id().unwrap();
        let epochs = second(&desk).join(format!("epochs-{site_id}"));
        std::fs::create_dir(&epochs).unwrap();
        std::fs::write(epochs.join("0000000001"), forged_epoch(&site_id, 1)).unwrap();
        if args.is_empty() {
            // Writes go on, nothing is copied, and that is said, until the file is gone.
            let said = until("an alarm", || Some(fact(&desk)).filter(|(_, said)| said.contains("epoch 1")));
            assert_eq!(said.0, "alarm", "{}", said.1);
            oracle.write_once(&server);
            std::fs::remove_dir_all(&epochs).unwrap();
            wait_for_chain(&desk, &server, &mut oracle);
        } else {
            let is_replaced = || server.get(&Caller::Anyone, "/readyz").status == 503;
            until("a machine that gave way", || is_replaced().then_some(()));
        }
    }
}

/// Proves the campaign: a build that opens what lies there through links writes into a file outside.
#[test]
fn a_build_that_follows_links_writes_outside() {
    for args in [&[][..], &["--off-site-fault", "links"]] {
        let desk = site(1);
        desk.add_member("leaver", "member");
        let canary = desk.path().join("canary");
        std::fs::write(&canary, "nobody writes here").unwrap();
        let (server, mut oracle) = (desk.serve_with_args(args), Oracle::new(1));
        oracle.sign_in(&server);
        wait_for_chain(&desk, &server, &mut oracle);
        symlink(&canary, second(&desk).join("erased.jsonl")).unwrap();
        desk.run(&["member", "erase", "leaver", "--yes"]);
        let before = Instant::now();
        let is_written = || std::fs::read(&canary).unwrap() != b"nobody writes here";
        while !is_written() && before.elapsed() < Duration::from_secs(4) {
            oracle.write_once(&server);
        }
        assert_eq!(is_written(), !args.is_empty(), "{args:?}");
    }
}
