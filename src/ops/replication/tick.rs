//! A tick: a file with the last version of each page that the commits of a second changed, and checksums that bind it to the
//! tick before.
//!
//! All numbers are big-endian: the head ([`Head`]), then each page's number (4 bytes) and bytes in ascending order, then the
//! SHA-256 of all that, then the signature of lineage, number and digest. The contents of the head are those of the LTX format;
//! the encoding is simpler: LTX adds an index of pages and LZ4, which nothing here needs. The sums are the page checksums that
//! are kept beside the file.

use crate::moment::Moment;
use crate::ops::signature::{Kind, SIGNATURE_BYTES, Signer, Trust};
use crate::store::engine::capture::{End, Position};
use crate::store::engine::page_checksums;
use crate::store::engine::wal_read::{Changes, PAGE_BYTES, WalReader};
use sha2::{Digest, Sha256};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"tdtick03";
const HEAD_BYTES: usize = 80;
const DIGEST_BYTES: usize = 32;
/// What follows the pages.
const TAIL_BYTES: usize = DIGEST_BYTES + SIGNATURE_BYTES;
/// What a page takes in a tick.
const ENTRY_BYTES: u64 = 4 + PAGE_BYTES as u64;
/// A file grows by the pages that a tick holds, and by pages that were free again when it was written. SQLite lists those on
/// pages that it writes, fewer than this on each.
const FREE_PAGES_LISTED_MAX: u64 = PAGE_BYTES as u64 / 4;

/// The random id of a chain, in every tick of it.
pub(crate) type Lineage = [u8; 16];

/// The sum of a page (from 1): its checksum, and its number, so that pages that change places have other sums.
pub(crate) fn page_sum(page: u32, bytes: &[u8]) -> u64 {
    mix(u64::from(page) << 32 | u64::from(page_checksums::sum(bytes)))
}

/// The last step of the generator SplitMix64. Without it the sums of two pages could be exchanged without a change of the
/// sum of all.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The sums of all pages of a file: 8 bytes a page.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct PageSums {
    sums: Vec<u64>,
    whole: u64,
}

impl PageSums {
    /// Of a database without writers.
    pub(crate) fn of_file(path: &Path) -> io::Result<PageSums> {
        let (file, mut sums) = (crate::files::open(path)?, PageSums::default());
        let pages = file.metadata()?.len() / PAGE_BYTES as u64;
        let (mut file, mut page) = (BufReader::with_capacity(64 * PAGE_BYTES, file), vec![0; PAGE_BYTES]);
        for number in 1..=pages as u32 {
            file.read_exact(&mut page)?;
            sums.push(page_sum(number, &page));
        }
        Ok(sums)
    }

    pub(super) fn push(&mut self, sum: u64) {
        self.sums.push(sum);
        self.whole ^= sum;
    }

    pub(crate) fn pages(&self) -> u32 {
        self.sums.len() as u32
    }

    /// The sum of the first page.
    pub(super) fn first(&self) -> u64 {
        self.sums.first().copied().unwrap_or_default()
    }

    /// The sum of the whole file: all page sums XORed.
    pub(crate) fn whole(&self) -> u64 {
        self.whole
    }

    /// Changes the number of pages. New ones hold zeros.
    fn resize(&mut self, size: u32) {
        while self.sums.len() > size as usize {
            self.whole ^= self.sums.pop().unwrap_or_default();
        }
        while self.sums.len() < size as usize {
            self.push(page_sum(self.pages() + 1, &[0; PAGE_BYTES]));
        }
    }

    /// Updates the sums to those after a tick.
    pub(super) fn change(&mut self, size: u32, pages: impl Iterator<Item = (u32, u64)>) {
        self.resize(size);
        for (page, sum) in pages {
            let Some(known) = self.sums.get_mut(page as usize - 1) else { continue };
            self.whole ^= *known ^ sum;
            *known = sum;
        }
    }
}

/// The head of a tick.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub lineage: Lineage,
    /// From 1, without a gap.
    pub number: u64,
    /// The second of its commits, in Unix seconds.
    pub moment: Moment,
    /// Pages of the file after the tick.
    pub size: u32,
    /// Pages in the tick.
    pub count: u32,
    /// The sums of the whole file before and after the tick.
    pub before: u64,
    pub after: u64,
    /// Where the last commit ended in the WAL.
    pub end: Position,
}

impl Head {
    fn bytes(&self) -> [u8; HEAD_BYTES] {
        let parts: [&[u8]; 11] = [
            MAGIC,
            &self.lineage,
            &self.number.to_be_bytes(),
            &self.moment.0.to_be_bytes(),
            &(PAGE_BYTES as u32).to_be_bytes(),
            &self.size.to_be_bytes(),
            &self.count.to_be_bytes(),
            &self.before.to_be_bytes(),
            &self.after.to_be_bytes(),
            &self.end.salt,
            &self.end.frames.to_be_bytes(),
        ];
        let mut bytes = [0; HEAD_BYTES];
        let mut at = 0;
        for part in parts {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        bytes
    }

    /// The size of the tick's file without its tail.
    fn text_bytes(&self) -> u64 {
        HEAD_BYTES as u64 + u64::from(self.count) * ENTRY_BYTES
    }

    /// The digest, and a signature over it with lineage and number, so that a tick of another chain or place is refused.
    fn tail(&self, digest: &[u8], signer: &Signer) -> Vec<u8> {
        let signature = signer.sign(Kind::Tick, &[&self.lineage, &self.number.to_be_bytes(), digest]);
        [digest, &signature].concat()
    }

    /// Whether a file of `pages` pages can have the tick's size after it.
    pub(crate) fn fits(&self, pages: u32) -> bool {
        let growth = (u64::from(self.count) + 1) * FREE_PAGES_LISTED_MAX;
        (1..=u64::from(pages) + growth).contains(&u64::from(self.size))
    }

    fn parse(bytes: &[u8]) -> Option<Head> {
        let bytes = bytes.get(..HEAD_BYTES)?;
        let half = |at: usize| Some(u32::from_be_bytes(bytes[at..at + 4].try_into().ok()?));
        let word = |at: usize| Some(u64::from_be_bytes(bytes[at..at + 8].try_into().ok()?));
        let is_ours = bytes[..8] == *MAGIC && half(40)? as usize == PAGE_BYTES;
        let end = Position { salt: bytes[68..76].try_into().ok()?, frames: half(76)? };
        is_ours.then_some(Head {
            lineage: bytes[8..24].try_into().ok()?,
            number: word(24)?,
            moment: Moment(word(32)?.cast_signed()),
            size: half(44)?,
            count: half(48)?,
            before: word(52)?,
            after: word(60)?,
            end,
        })
    }
}

/// A tick to be written. Its pages are in the WAL.
#[derive(Debug)]
pub(crate) struct Tick {
    pub head: Head,
    changes: Changes,
}

impl Tick {
    /// The next tick of a chain whose file has these sums.
    pub(crate) fn next(lineage: Lineage, number: u64, end: &End, changes: Changes, sums: &PageSums) -> Tick {
        // Computes the sum of the whole file without a copy of all page sums.
        let known = |page: u32| sums.sums.get(page as usize - 1).copied();
        let mut after = sums.whole();
        for page in changes.size + 1..=sums.pages() {
            after ^= known(page).unwrap_or_default();
        }
        for page in sums.pages() + 1..=changes.size {
            let is_changed = changes.pages.contains_key(&page);
            after ^= if is_changed { 0 } else { page_sum(page, &[0; PAGE_BYTES]) };
        }
        for (page, (_, sum)) in &changes.pages {
            after ^= sum ^ known(*page).unwrap_or_default();
        }
        let (before, size, count) = (sums.whole(), changes.size, changes.pages.len() as u32);
        let head = Head { lineage, number, moment: end.moment, size, count, before, after, end: end.position };
        Tick { head, changes }
    }

    /// The size of the written tick.
    pub(crate) fn bytes(&self) -> u64 {
        self.head.text_bytes() + TAIL_BYTES as u64
    }

    /// Updates the sums to those after the tick.
    pub(crate) fn apply_to(&self, sums: &mut PageSums) {
        sums.change(self.head.size, self.changes.pages.iter().map(|(page, (_, sum))| (*page, *sum)));
        debug_assert_eq!(sums.whole(), self.head.after);
    }

    /// Writes the tick from the WAL, signed. The error: a page has changed since it was first read.
    pub(crate) fn write(&self, wal: &WalReader, signer: &Signer, to: &mut dyn Write) -> io::Result<()> {
        let (mut digest, mut bytes) = (Sha256::new(), [0; PAGE_BYTES]);
        let mut put = |part: &[u8]| {
            digest.update(part);
            to.write_all(part)
        };
        put(&self.head.bytes())?;
        for (page, (frame, sum)) in &self.changes.pages {
            wal.page(*frame, &mut bytes)?;
            if page_sum(*page, &bytes) != *sum {
                return Err(io::Error::other("the write-ahead log was overwritten before it was off the site"));
            }
            put(&page.to_be_bytes())?;
            put(&bytes)?;
        }
        to.write_all(&self.head.tail(&digest.finalize(), signer))
    }
}

/// A tick that was read back and is intact.
pub(crate) struct ReadTick {
    pub head: Head,
    bytes: Vec<u8>,
}

/// Why bytes are no tick.
#[derive(Debug, PartialEq)]
pub(crate) enum NoTick {
    /// The beginning of one.
    Cut,
    Damaged,
}

impl ReadTick {
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<ReadTick, NoTick> {
        let cut = |is_cut: bool| if is_cut { NoTick::Cut } else { NoTick::Damaged };
        let head = Head::parse(&bytes).ok_or(cut(bytes.len() < HEAD_BYTES))?;
        let (length, wanted) = (bytes.len() as u64, head.text_bytes() + TAIL_BYTES as u64);
        if length != wanted {
            return Err(cut(length < wanted));
        }
        let (text, end) = bytes.split_at(bytes.len() - TAIL_BYTES);
        if *Sha256::digest(text) != end[..DIGEST_BYTES] {
            return Err(NoTick::Damaged);
        }
        let tick = ReadTick { head, bytes };
        let is_rising = tick.pages().try_fold(0, |last, (page, _)| (page > last).then_some(page));
        match is_rising {
            Some(last) if last <= tick.head.size && tick.head.size > 0 => Ok(tick),
            _ => Err(NoTick::Damaged),
        }
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it is signed by a key that is believed.
    pub(crate) fn is_believed(&self, trust: &Trust) -> bool {
        let (digest, signature) = self.bytes[self.bytes.len() - TAIL_BYTES..].split_at(DIGEST_BYTES);
        trust.verifies(Kind::Tick, &[&self.head.lineage, &self.head.number.to_be_bytes(), digest], signature)
    }

    /// Each page's number (from 1) and bytes.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let pages = self.bytes[HEAD_BYTES..self.bytes.len() - TAIL_BYTES].chunks_exact(4 + PAGE_BYTES);
        pages.map(|page| (u32::from_be_bytes(page[..4].try_into().expect("four bytes")), &page[4..]))
    }

    /// Updates the sums to those after the tick.
    pub(crate) fn apply_to(&self, sums: &mut PageSums) {
        sums.change(self.head.size, self.pages().map(|(page, bytes)| (page, page_sum(page, bytes))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(pages: &[u8]) -> PageSums {
        let mut sums = PageSums::default();
        pages.iter().zip(1..).for_each(|(byte, page)| sums.push(page_sum(page, &[*byte; PAGE_BYTES])));
        sums
    }

    #[test]
    fn the_sum_of_the_whole_file_follows_each_tick_also_where_it_grows_or_shrinks() {
        let before = sums(&[1, 2, 3]);
        let end = End { position: Position::default(), moment: Moment(7) };
        let after = |size, pages: &[(u32, u8)], wanted: &[u8]| {
            let pages = pages.iter().map(|(page, byte)| (*page, (0, page_sum(*page, &[*byte; PAGE_BYTES])))).collect();
            let tick = Tick::next([0; 16], 1, &end, Changes { pages, size }, &before);
            let mut after = before.clone();
            tick.apply_to(&mut after);
            assert_eq!((after.whole(), after), (tick.head.after, sums(wanted)));
        };
        after(3, &[(2, 9)], &[1, 9, 3]);
        after(2, &[(1, 8)], &[8, 2]);
        after(6, &[(4, 4), (6, 6)], &[1, 2, 3, 4, 0, 6]);
    }

    #[test]
    fn no_bit_of_a_tick_changes_unnoticed() {
        let head = Head {
            lineage: [3; 16],
            number: 5,
            moment: Moment(1_800_000_000),
            size: 9,
            count: 1,
            before: 1,
            after: 2,
            end: Position { salt: [4; 8], frames: 77 },
        };
        let (signer, text) = (Signer::new(), [&head.bytes()[..], &7_u32.to_be_bytes(), &[5; PAGE_BYTES]].concat());
        let trust = Trust::Keys(signer.keys());
        let bytes = [&text[..], &head.tail(&Sha256::digest(&text), &signer)].concat();
        let read = ReadTick::parse(bytes.clone()).ok().unwrap();
        assert_eq!((&read.head, read.pages().next().unwrap()), (&head, (7, &[5; PAGE_BYTES][..])));
        for bit in (0..bytes.len() * 8).step_by(61) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!ReadTick::parse(flipped).is_ok_and(|tick| tick.is_believed(&trust)), "bit {bit}");
        }
        assert!(read.is_believed(&trust) && !read.is_believed(&Trust::Keys(Signer::new().keys())));
        let elsewhere = Head { lineage: [4; 16], ..head.clone() };
        let later = Head { number: 6, ..head.clone() };
        for (nth, replayed) in [elsewhere, later].iter().enumerate() {
            let text = [&replayed.bytes()[..], &text[HEAD_BYTES..]].concat();
            let signature = &bytes[bytes.len() - SIGNATURE_BYTES..];
            let forged = [&text[..], &Sha256::digest(&text), signature].concat();
            assert!(ReadTick::parse(forged).ok().is_some_and(|tick| !tick.is_believed(&trust)), "{nth}");
        }
        let cut = |length: usize| ReadTick::parse(bytes[..length].to_vec()).err();
        assert!((0..bytes.len()).step_by(97).all(|length| cut(length) == Some(NoTick::Cut)));
    }

    #[test]
    fn a_tick_has_only_pages_of_its_file_and_makes_no_file_larger_than_a_second_can() {
        let tick = |size, pages: &[u32]| {
            let (end, count) = (Position::default(), pages.len() as u32);
            let head = Head { lineage: [0; 16], number: 1, moment: Moment(7), size, count, before: 1, after: 2, end };
            let entry = |page: &u32| [&page.to_be_bytes()[..], &[5; PAGE_BYTES]].concat();
            let mut bytes = head.bytes().to_vec();
            pages.iter().for_each(|page| bytes.extend(entry(page)));
            bytes.extend(head.tail(&Sha256::digest(&bytes), &Signer::new()));
            ReadTick::parse(bytes)
        };
        assert!(tick(9, &[1, 7, 9]).is_ok());
        for odd in [tick(9, &[0]), tick(9, &[10]), tick(9, &[7, 7]), tick(9, &[7, 1]), tick(0, &[])] {
            assert_eq!(odd.err(), Some(NoTick::Damaged));
        }
        let fits = |size, pages| tick(size, &[1]).ok().unwrap().head.fits(pages);
        assert!(fits(3, 9) && fits(2_000, 9) && fits(u32::MAX, u32::MAX));
        assert!(!fits(4_000, 9) && !fits(4_000_000_000, 1_000));
    }
}
