//! A check by a foreign program: Litestream replays the ticks, translated into the LTX format (version 3), from the
//! base to the same database.
//!
//! The contents of a tick's head are those of LTX; the encoding and the page checksums differ. Litestream refuses files that
//! carry checksums of the database before and after them, so the test compares the ticks' own.

use crc::{CRC_32_ISO_HDLC, CRC_64_GO_ISO, Crc};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

static CRC: Crc<u64> = Crc::<u64>::new(&CRC_64_GO_ISO);
static PAGE_CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const PAGE_BYTES: usize = 4096;
/// The size of a tick's head, and of the SHA-256 and the signature behind its pages.
const HEAD_BYTES: usize = 80;
const DIGEST_BYTES: usize = 32 + 64;
/// LTX sets this bit in every checksum, so that none is zero.
const SUM_FLAG: u64 = 1 << 63;
/// The header flag for a file without checksums of the database.
const NO_SUMS: u32 = 2;
/// The page header flag for a size of the page's data that follows.
const HAS_SIZE: u16 = 1;

/// The change from one state of the database to the next.
struct Change<'t> {
    /// Counted from 1, which is the base.
    transaction: u64,
    /// In Unix seconds.
    moment: u64,
    /// The size of the database after the change, in pages.
    size: u32,
    /// The checksums of the database before and after the change.
    before: u64,
    after: u64,
    pages: Vec<(u32, &'t [u8])>,
}

/// An LTX file being written. All bytes except those of pages are added to the checksum as they are written.
struct Encoder {
    bytes: Vec<u8>,
    sum: crc::Digest<'static, u64>,
}

impl Encoder {
    fn put(&mut self, part: &[u8]) {
        self.sum.update(part);
        self.bytes.extend(part);
    }

    /// Writes a page as LZ4 encodes incompressible data: literals alone.
    fn put_page(&mut self, page: &[u8]) {
        let length = page.len() - 15;
        let head = [&[0xf0][..], &vec![0xff; length / 255], &[(length % 255) as u8]].concat();
        self.put(&((head.len() + page.len()) as u32).to_be_bytes());
        self.sum.update(page);
        self.bytes.extend(head);
        self.bytes.extend(page);
    }

    fn put_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.put(&[number as u8 | 0x80]);
            number >>= 7;
        }
        self.put(&[number as u8]);
    }
}

impl Change<'_> {
    fn to_ltx(&self) -> Vec<u8> {
        let mut ltx = Encoder { bytes: Vec::new(), sum: CRC.digest() };
        let mut head = Vec::from(*b"LTX1");
        [NO_SUMS, PAGE_BYTES as u32, self.size].iter().for_each(|part| head.extend(part.to_be_bytes()));
        let parts = [self.transaction, self.transaction, self.moment * 1_000];
        parts.iter().for_each(|part| head.extend(part.to_be_bytes()));
        head.resize(100, 0);
        ltx.put(&head);
        let mut index = Vec::new();
        for (page, bytes) in &self.pages {
            let begin = ltx.bytes.len() as u64;
            ltx.put(&page.to_be_bytes());
            ltx.put(&HAS_SIZE.to_be_bytes());
            ltx.put_page(bytes);
            index.push([u64::from(*page), begin, ltx.bytes.len() as u64 - begin]);
        }
        ltx.put(&[0; 6]);
        let begin = ltx.bytes.len();
        index.into_iter().flatten().for_each(|number| ltx.put_number(number));
        ltx.put_number(0);
        ltx.put(&((ltx.bytes.len() - begin) as u64).to_be_bytes());
        ltx.put(&[0; 8]);
        let Encoder { mut bytes, sum } = ltx;
        bytes.extend((sum.finalize() | SUM_FLAG).to_be_bytes());
        bytes
    }

    /// Writes the file where Litestream looks for it: snapshots are of level 9.
    fn put(&self, replica: &Path) {
        let level = replica.join(if self.transaction == 1 { "ltx/9" } else { "ltx/0" });
        std::fs::create_dir_all(&level).unwrap();
        std::fs::write(level.join(format!("{0:016x}-{0:016x}.ltx", self.transaction)), self.to_ltx()).unwrap();
    }
}

fn numbered(file: &[u8]) -> Vec<(u32, &[u8])> {
    (1..).zip(file.chunks_exact(PAGE_BYTES)).collect()
}

/// The checksum of a database: that of each page with its number, mixed as SplitMix64 ends, and XORed.
fn sum(file: &[u8]) -> u64 {
    let sum_of = |(number, bytes): (u32, &[u8])| {
        let mut mixed = u64::from(number) << 32 | u64::from(PAGE_CRC.checksum(bytes).max(1));
        for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)] {
            mixed = (mixed ^ (mixed >> shift)).wrapping_mul(factor);
        }
        mixed ^ (mixed >> 31)
    };
    numbered(file).into_iter().map(sum_of).fold(0, |all, one| all ^ one)
}

fn tick(bytes: &[u8]) -> Change<'_> {
    let word = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
    let pages = bytes[HEAD_BYTES..bytes.len() - DIGEST_BYTES].chunks_exact(4 + PAGE_BYTES);
    Change {
        transaction: word(24) + 1,
        moment: word(32),
        size: u32::from_be_bytes(bytes[44..48].try_into().unwrap()),
        before: word(52),
        after: word(60),
        pages: pages.map(|page| (u32::from_be_bytes(page[..4].try_into().unwrap()), &page[4..])).collect(),
    }
}

/// Has Litestream restore a base and its ticks into `to`, and compares the checksum of every page with that of the last
/// tick.
pub fn restores_the_same(base: &Path, ticks: &[PathBuf], to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(Command::new(root.join("tests/install-litestream")).stdout(Stdio::null()).status().unwrap().success());
    let replica = to.join("replica");
    let file = std::fs::read(base.join("tunneldesk.sqlite")).unwrap();
    let ticks: Vec<Vec<u8>> = ticks.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let ticks: Vec<Change> = ticks.iter().map(|bytes| tick(bytes)).collect();
    assert_eq!(sum(&file), ticks[0].before);
    let (size, after) = ((file.len() / PAGE_BYTES) as u32, sum(&file));
    let (moment, pages) = (ticks[0].moment, numbered(&file));
    Change { transaction: 1, moment, size, before: 0, after, pages }.put(&replica);
    ticks.iter().for_each(|tick| tick.put(&replica));
    let restored = to.join("tunneldesk.sqlite");
    let mut command = Command::new(root.join("target/litestream/python/bin/litestream"));
    command.args(["restore", "-o", restored.to_str().unwrap(), &format!("file://{}", replica.display())]);
    let ran = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr) + String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}");
    let last = ticks.last().unwrap();
    let file = std::fs::read(&restored).unwrap();
    assert_eq!((file.len() / PAGE_BYTES, sum(&file)), (last.size as usize, last.after), "{said}");
}
