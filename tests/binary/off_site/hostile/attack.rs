//! The mutations of the place of a copy.

use super::super::{second, ticks};
use crate::harness::{Desk, Random, SigningKey, hex};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The head of a tick.
const HEAD_BYTES: usize = 80;
const ENTRY_BYTES: usize = 4 + 4096;
/// A digest and a signature.
const TAIL_BYTES: usize = 32 + 64;
const SPARSE_BYTES: u64 = 1 << 42;

/// What the mutations are made of.
pub struct Attack<'d> {
    pub desk: &'d Desk,
    pub random: Random,
    /// What the place held some time ago.
    pub yesterday: PathBuf,
    /// The same of another site.
    pub others: PathBuf,
}

pub type Mutation = fn(&mut Attack) -> Option<()>;

#[rustfmt::skip]
pub const ALL: &[(&str, Mutation)] = &[
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
    ("a forged base", |a| a.forge_base()),
    ("a forged epoch", |a| a.forge_epoch()),
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

pub fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => _ = std::fs::remove_dir_all(path),
        Ok(_) => _ = std::fs::remove_file(path),
        Err(_) => {}
    }
}

/// Whether a mutation that writes to this file writes to no other: neither through a link, nor to a second name.
fn is_of_place(found: &std::fs::Metadata) -> bool {
    found.is_file() && found.nlink() == 1 && found.len() < SPARSE_BYTES / 2
}

fn read_of_place(path: &Path) -> Option<Vec<u8>> {
    path.symlink_metadata().ok().filter(is_of_place)?;
    std::fs::read(path).ok()
}

/// All below a directory, without following links.
pub fn all_in(dir: &Path) -> Vec<PathBuf> {
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

/// A key of another site.
fn forger() -> SigningKey {
    SigningKey::from_seed([7; 32])
}

/// The text of an epoch's file.
pub fn forged_epoch(site_id: &str, epoch: u64) -> String {
    let (forger, content) = (forger(), "4f".repeat(16));
    let signature = forger.sign("Epoch", &[site_id.as_bytes(), &epoch.to_be_bytes(), content.as_bytes()]);
    format!("{content} {} {}", forger.public(), hex(&signature))
}

fn tombstone(site_id: &str, member_id: i64, join_date: i64, erased_at: i64) -> String {
    let numbers = [member_id, join_date, erased_at].map(i64::to_be_bytes);
    let parts = [site_id.as_bytes(), &numbers[0], &numbers[1], &numbers[2]];
    let signature = hex(&forger().sign("Tombstone", &parts));
    let line = json!({ "site_id": site_id, "member_id": member_id, "join_date": join_date, "erased_at": erased_at,
                       "signature": signature });
    format!("{line}\n")
}

impl Attack<'_> {
    fn pick(&mut self, dir: &Path, is_wanted: fn(&std::fs::Metadata) -> bool) -> Option<PathBuf> {
        let mut all = all_in(dir);
        all.retain(|path| path.symlink_metadata().is_ok_and(|found| is_wanted(&found)));
        self.random.one_of(&all).cloned()
    }

    /// A file of the place that is written to in place.
    fn file(&mut self) -> Option<PathBuf> {
        self.pick(&second(self.desk), is_of_place)
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
        let next = ticks(self.desk).len() + 1 + self.random.below(3) as usize;
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
        let (path, place) = (self.random.one_of(&all).cloned()?, second(self.desk));
        let leads_away = |dir: &&Path| dir.symlink_metadata().is_ok_and(|found| !found.is_dir());
        if path.parent()?.ancestors().take_while(|dir| **dir != place).any(|dir| leads_away(&dir)) {
            return None;
        }
        _ = std::fs::create_dir_all(path.parent()?);
        Some(path)
    }

    fn base(&self) -> PathBuf {
        let bases = all_in(&second(self.desk));
        let newest = bases.iter().rfind(|path| path.join("manifest.json").exists());
        newest.cloned().unwrap_or_else(|| second(self.desk).join("2031-01-01T00-00-00Z"))
    }

    pub fn site_id(&self) -> Option<String> {
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
        let mut manifest: Value = serde_json::from_slice(&read_of_place(&path)?).ok()?;
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
        // The old signature stays.
        std::fs::write(path, text.replacen(&"0".repeat(64), &hex(&Sha256::digest(&text)), 1)).ok()
    }

    fn forge_tick(&mut self) -> Option<()> {
        let all = ticks(self.desk);
        let path = self.random.one_of(&all)?.clone();
        let mut bytes = read_of_place(&path).filter(|bytes| bytes.len() > HEAD_BYTES + TAIL_BYTES)?;
        let tail = bytes.split_off(bytes.len() - TAIL_BYTES);
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
            return file.set_len((HEAD_BYTES + count as usize * ENTRY_BYTES + TAIL_BYTES) as u64).ok();
        }
        // As an earlier version wrote it; with the signature of what it was; with one of another key.
        let way = self.random.below(3);
        if way == 0 {
            bytes[..8].copy_from_slice(b"tdtick01");
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest);
        match way {
            0 => {}
            1 => bytes.extend(&tail[32..]),
            _ => {
                let signature = forger().sign("Tick", &[&bytes[8..24], &bytes[24..32], &digest]);
                bytes.extend(signature);
            }
        }
        std::fs::write(path, bytes).ok()
    }

    fn forge_tombstones(&mut self) -> Option<()> {
        let (site_id, path) = (self.site_id()?, second(self.desk).join("erased.jsonl"));
        let number = *self.random.one_of(&[i64::MAX, i64::MIN, 0, -1, 1 << 52])?;
        let (join_date, erased_at) = (self.random.below(1 << 40), self.random.next().cast_signed());
        let line = tombstone(&site_id, number, join_date.cast_signed(), erased_at);
        // A member of the site is in it, with the date of joining: the number and the date are in an unencrypted copy.
        let member = self.member()?;
        let line = line + &tombstone(&site_id, member.0, member.1, member.1);
        let before = String::from_utf8(read_of_place(&path).unwrap_or_default()).unwrap_or_default();
        replace(&path, |path| std::fs::write(path, before + &line))
    }

    /// A base that another key signed, dated after those of the site.
    fn forge_base(&mut self) -> Option<()> {
        let (base, name) = (self.base(), "2030-01-01T00-00-00Z");
        let mut manifest: Value = serde_json::from_slice(&read_of_place(&base.join("manifest.json"))?).ok()?;
        let forged = second(self.desk).join(name);
        std::fs::create_dir(&forged).ok()?;
        for file in ["tunneldesk.sqlite", "site.key"] {
            std::fs::write(forged.join(file), read_of_place(&base.join(file))?).ok()?;
        }
        manifest["made_at"] = (manifest["made_at"].as_i64()? + 1).into();
        forger().write_manifest(&forged, manifest);
        Some(())
    }

    fn forge_epoch(&mut self) -> Option<()> {
        let site_id = self.site_id()?;
        let epochs = second(self.desk).join(format!("epochs-{site_id}"));
        _ = std::fs::create_dir(&epochs);
        let epoch = 1 + self.random.below(4);
        let text = match self.random.below(2) {
            0 => hex(&self.bytes(16)),
            _ => forged_epoch(&site_id, epoch),
        };
        let path = epochs.join(format!("{epoch:010}"));
        path.symlink_metadata().map_or(true, |found| is_of_place(&found)).then_some(())?;
        std::fs::write(path, text).ok()
    }

    /// The number of a member, and when it joined.
    fn member(&self) -> Option<(i64, i64)> {
        let file = rusqlite::Connection::open(self.desk.database()).ok()?;
        let sql = "SELECT member_id, join_date FROM members WHERE username = 'flyer-0'";
        file.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).ok()
    }

    fn odd_names(&mut self) -> Option<()> {
        let dir = self.folder()?;
        let names: [&[u8]; 6] =
            [b"\xff\xfe", b"-rf", b"0000000001.tick.age.age", b"manifest.json ", b"a\nb", &[b'x'; 250]];
        names.iter().try_for_each(|name| std::fs::write(dir.join(OsStr::from_bytes(name)), "odd")).ok()
    }
}
