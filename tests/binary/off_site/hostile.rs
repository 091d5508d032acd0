//! A place of the off-site copy that somebody else can write: whatever lies there, no other file is touched, no memory, disk or
//! time is used without a limit, and nothing is believed that the site did not write.
//!
//! `TUNNELDESK_HOSTILE_PLACES` sets the number of mutations.

use super::oracle::{Oracle, restored};
use super::storms::{ANSWER_TIME_MAX, lose_disk};
use super::{campaign, second, site, until, wait_for_chain, wait_until_caught_up};
use crate::harness::{BINARY, Desk, Random, Server};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
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
/// The head of a tick.
const HEAD_BYTES: usize = 80;
const ENTRY_BYTES: usize = 4 + 4096;
const SPARSE_BYTES: u64 = 1 << 42;

/// What the mutations are made of.
struct Attack<'d> {
    desk: &'d Desk,
    random: Random,
    /// What the place held some time ago.
    yesterday: PathBuf,
    /// The same of another site.
    others: PathBuf,
}

type Mutation = fn(&mut Attack) -> Option<()>;

#[rustfmt::skip]
const ALL: &[(&str, Mutation)] = &[
    ("a file becomes a link", |a| { let (path, to) = (a.file()?, a.canary()); replace(&path, |path| symlink(to, path)) }),
    ("a folder becomes a link", |a| {
        let (path, to) = (a.folder()?, a.canary().parent()?.to_owned());
        replace(&path, |path| symlink(to, path))
    }),
    ("a link has a name that the site writes", |a| {
        let (path, to) = (a.planted()?, a.canary());
        replace(&path, |path| symlink(to, path))
    }),
    ("a link to nothing, outside", |a| {
        let (path, to) = (a.planted()?, a.desk.path().join("made-through-a-link"));
        replace(&path, |path| symlink(to, path))
    }),
    ("a link to a device", |a| { let path = a.planted()?; replace(&path, |path| symlink("/dev/zero", path)) }),
    ("a second name of a file outside", |a| {
        let (path, to) = (a.planted()?, a.canary());
        replace(&path, |path| std::fs::hard_link(to, path))
    }),
    ("a folder in place of a file", |a| { let path = a.planted()?; replace(&path, |path| std::fs::create_dir(path)) }),
    ("a pipe in place of a file", |a| {
        let path = a.planted()?;
        replace(&path, |path| Command::new("mkfifo").arg(path).status().map(drop))
    }),
    ("an empty file", |a| { let path = a.planted()?; replace(&path, |path| std::fs::write(path, "")) }),
    ("rubbish", |a| {
        let (path, bytes) = (a.planted()?, a.bytes(3_000));
        replace(&path, |path| std::fs::write(path, bytes))
    }),
    ("a sparse file", |a| {
        let path = if a.random.below(2) == 0 { a.file()? } else { a.planted()? };
        replace(&path, |path| File::create(path)?.set_len(SPARSE_BYTES))
    }),
    ("a file that grew", |a| {
        let file = File::options().write(true).open(a.file()?).ok()?;
        file.set_len(file.metadata().ok()?.len() + 1 + a.random.below(1 << 32)).ok()
    }),
    ("a file that was cut", |a| {
        let file = File::options().write(true).open(a.file()?).ok()?;
        file.set_len(a.random.below(file.metadata().ok()?.len().max(1))).ok()
    }),
    ("a flipped bit", |a| {
        let path = a.file()?;
        let mut bytes = std::fs::read(&path).ok().filter(|bytes| !bytes.is_empty())?;
        let at = a.random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << a.random.below(8);
        std::fs::write(path, bytes).ok()
    }),
    ("a file is gone", |a| std::fs::remove_file(a.file()?).ok()),
    ("two files change places", |a| {
        let (one, other) = (a.file()?, a.file()?);
        let aside = a.desk.path().join("second/aside");
        std::fs::rename(&one, &aside).ok()?;
        _ = std::fs::rename(&other, &one);
        std::fs::rename(&aside, &other).ok()
    }),
    ("an older file", |a| { let from = a.yesterday.clone(); a.replay(&from) }),
    ("a file of another site", |a| { let from = a.others.clone(); a.replay(&from) }),
    ("a forged manifest", |a| a.forge_manifest()),
    ("a forged tick", |a| a.forge_tick()),
    ("forged tombstones", |a| a.forge_tombstones()),
    ("odd names", |a| a.odd_names()),
    ("many names", |a| {
        let dir = a.folder()?;
        (0..500).try_for_each(|n| std::fs::write(dir.join(format!("{:010}.tick", 1_000_000 + n * 7)), "")).ok()
    }),
];

fn replace(path: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Option<()> {
    remove(path);
    make(path).ok()
}

fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => _ = std::fs::remove_dir_all(path),
        Ok(_) => _ = std::fs::remove_file(path),
        Err(_) => {}
    }
}

/// All below a directory, without following links.
fn all_in(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(all_in(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

impl Attack<'_> {
    fn pick(&mut self, dir: &Path, is_wanted: fn(&std::fs::Metadata) -> bool) -> Option<PathBuf> {
        let mut all = all_in(dir);
        all.retain(|path| path.symlink_metadata().is_ok_and(|found| is_wanted(&found)));
        self.random.one_of(&all).cloned()
    }

    fn file(&mut self) -> Option<PathBuf> {
        self.pick(&second(self.desk), |found| found.is_file() && found.len() < SPARSE_BYTES / 2)
    }

    fn folder(&mut self) -> Option<PathBuf> {
        self.pick(&second(self.desk), |found| found.is_dir())
    }

    /// A file that nobody but the person who owns it may change.
    fn canary(&mut self) -> PathBuf {
        let all =
            ["guard/canary", "guard/inner/canary", "tunneldesk-data/site.key", "tunneldesk-data/tunneldesk.sqlite"];
        self.desk.path().join(self.random.one_of(&all).unwrap())
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.random.next() as u8).collect()
    }

    /// A name that the site writes or reads, or wrote in an earlier version.
    fn planted(&mut self) -> Option<PathBuf> {
        let place = second(self.desk);
        let epochs = place.join(format!("epochs-{}", self.site_id()?));
        let base = self.base();
        let next = super::ticks(self.desk).len() + 1 + self.random.below(3) as usize;
        let all = [
            place.join(".probe"),
            place.join(".unfinished"),
            place.join("erased.jsonl"),
            place.join("2031-01-01T00-00-00Z"),
            epochs.clone(),
            epochs.join("0000000001"),
            epochs.join("0000009999"),
            base.join("ticks"),
            base.join("ticks/.unfinished"),
            base.join(format!("ticks/{next:010}.tick")),
            base.join("manifest.json"),
            base.join("site.key"),
            base.join("tunneldesk.sqlite"),
            base.join("tunneldesk.sqlite-wal"),
        ];
        let path = self.random.one_of(&all).cloned()?;
        _ = std::fs::create_dir_all(path.parent()?);
        Some(path)
    }

    fn base(&self) -> PathBuf {
        let bases = all_in(&second(self.desk));
        let newest = bases.iter().rfind(|path| path.join("manifest.json").exists());
        newest.cloned().unwrap_or_else(|| second(self.desk).join("2031-01-01T00-00-00Z"))
    }

    fn site_id(&self) -> Option<String> {
        let file = rusqlite::Connection::open(self.desk.database()).ok()?;
        file.query_row("SELECT site_id FROM site", [], |row| row.get(0)).ok()
    }

    /// Puts a file of another place over one of the same kind.
    fn replay(&mut self, from: &Path) -> Option<()> {
        let old = self.pick(from, |found| found.is_file())?;
        let ours = all_in(&second(self.desk));
        let is_alike = |path: &&PathBuf| path.file_name() == old.file_name();
        let alike: Vec<PathBuf> = ours.iter().filter(is_alike).cloned().collect();
        let to = self.random.one_of(&alike).cloned()?;
        replace(&to, |to| std::fs::copy(old, to).map(drop))
    }

    fn forge_manifest(&mut self) -> Option<()> {
        let path = self.base().join("manifest.json");
        let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        let absolute = self.desk.path().join("made-by-a-manifest").to_str()?.to_owned();
        let digest = manifest["files"]["site.key"].clone();
        let numbers = [i64::MAX, i64::MIN, -1, 1 << 50];
        let number = *self.random.one_of(&numbers)?;
        match self.random.below(9) {
            0 => manifest["files"]["../../made-by-a-manifest"] = digest,
            1 => manifest["files"][&absolute] = digest,
            2 => manifest["files"]["tunneldesk.sqlite-wal"] = digest,
            3 => manifest["files"]["tunneldesk.sqlite"]["bytes"] = number.into(),
            4 => manifest["made_at"] = number.into(),
            5 => manifest["rows"]["members"] = number.into(),
            6 => manifest["chain"]["moment"] = number.into(),
            7 => manifest["chain"]["pages"] = u32::MAX.into(),
            _ => manifest["site_id"] = "../../made-by-a-manifest".into(),
        }
        // A checksum that matches.
        manifest["checksum"] = "0".repeat(64).into();
        let text = serde_json::to_string_pretty(&manifest).ok()? + "\n";
        let sum: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        std::fs::write(path, text.replacen(&"0".repeat(64), &sum, 1)).ok()
    }

    fn forge_tick(&mut self) -> Option<()> {
        let ticks = super::ticks(self.desk);
        let path = self.random.one_of(&ticks)?.clone();
        let mut bytes = std::fs::read(&path).ok().filter(|bytes| bytes.len() > HEAD_BYTES + 32)?;
        let text = bytes.len() - 32;
        bytes.truncate(text);
        let huge = [u32::MAX, 4_000_000_000, 0, 1].map(u32::to_be_bytes);
        let number = *self.random.one_of(&huge)?;
        match self.random.below(4) {
            // Pages of the file, pages in the tick, the number of a page, the moment.
            0 => bytes[44..48].copy_from_slice(&number),
            1 => bytes[48..52].copy_from_slice(&number),
            2 => bytes.get_mut(HEAD_BYTES..HEAD_BYTES + 4)?.copy_from_slice(&number),
            _ => bytes[32..36].copy_from_slice(&number),
        }
        if self.random.below(2) == 0 {
            let count = 40_000_u32;
            bytes[48..52].copy_from_slice(&count.to_be_bytes());
            let file = File::create(&path).ok()?;
            file.write_all_at(&bytes, 0).ok()?;
            return file.set_len((HEAD_BYTES + count as usize * ENTRY_BYTES + 32) as u64).ok();
        }
        bytes.extend(Sha256::digest(&bytes));
        std::fs::write(path, bytes).ok()
    }

    fn forge_tombstones(&mut self) -> Option<()> {
        let (site_id, path) = (self.site_id()?, second(self.desk).join("erased.jsonl"));
        let number = *self.random.one_of(&[i64::MAX, i64::MIN, 0, -1, 1 << 52])?;
        let line = format!(
            "{{\"site_id\":\"{site_id}\",\"member_id\":{number},\"join_date\":{},\"erased_at\":{}}}\n",
            self.random.below(1 << 40),
            self.random.next().cast_signed()
        );
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        replace(&path, |path| std::fs::write(path, before + &line))
    }

    fn odd_names(&mut self) -> Option<()> {
        let dir = self.folder()?;
        let names: [&[u8]; 6] =
            [b"\xff\xfe", b"-rf", b"0000000001.tick.age.age", b"manifest.json ", b"a\nb", &[b'x'; 250]];
        names.iter().try_for_each(|name| std::fs::write(dir.join(OsStr::from_bytes(name)), "odd")).ok()
    }
}

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

fn disk_bytes(dir: &Path) -> u64 {
    let blocks = |path: &PathBuf| path.symlink_metadata().map_or(0, |found| found.blocks() * 512);
    all_in(dir).iter().map(blocks).sum()
}

fn peak_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Restores from the hostile place into an empty directory, with little memory. Whether it succeeded.
fn restores(desk: &Desk, elsewhere: &Path) -> bool {
    let limits = format!("ulimit -v {RESTORE_KIB_MAX} && ulimit -f {FILE_BLOCKS_MAX} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limits, BINARY, "restore", "--data", elsewhere.to_str().unwrap()]);
    let ran = command.current_dir(desk.path()).env_clear().output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(matches!(ran.status.code(), Some(0..=3)), "a restore ends with {:?}: {said}", ran.status);
    assert!(!said.contains("panicked") && !said.contains("memory allocation"), "{said}");
    ran.status.success()
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
    for round in 1..=mutations.div_ceil(AT_ONCE) {
        begin_anew(&desk, &server, &mut oracle);
        let disk_before = disk_bytes(&desk.data());
        let mut names = Vec::new();
        while names.len() < AT_ONCE as usize {
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
        let is_restored = restores(&desk, &elsewhere);
        assert!(since.elapsed() < COMMAND_TIME_MAX, "{names:?}: a restore took {:?}", since.elapsed());
        if is_restored {
            restores_made += 1;
            believes_nothing(&desk, &elsewhere, &oracle, &names);
        }
        assert_eq!(guarded(&desk), guarded_before, "round {round}: {names:?}");
        let disk = (disk_bytes(&desk.data()) + disk_bytes(&elsewhere)).saturating_sub(disk_before);
        let memory = peak_kib(&server);
        assert!(disk < DISK_BYTES_MAX && memory < SERVER_KIB_MAX, "{names:?}: {disk} bytes, {memory} KiB");
        _ = std::fs::remove_dir_all(&elsewhere);
    }
    let peak = peak_kib(&server);
    println!("{made:?}: {restores_made} restores and {drills_made} drills succeeded; at most {peak} KiB");
    assert!(restores_made > 0 && drills_made > 0, "nothing was tried");
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
