//! The WAL mark: a small file that says how far the WAL reached at the last commit, so that a lost WAL is noticed.
//! SQLite itself treats a WAL that is missing, empty or damaged at its head as one that was never written.
//!
//! The mark is written after each commit is on the disk, and is not flushed: after a kill it is exact, and after a
//! power cut it is at most older. Before the WAL is truncated, an empty mark is written and flushed. A WAL whose salt follows
//! the mark's is a later one, because a WAL restarts only when all of the last one is in the database; with any other salt
//! it is an earlier one, or one of another file.

use super::capture::Appended;
use super::page_checksums::sum;
use super::wal_format::{FRAME_HEADER_BYTES, HEADER_BYTES, Position, chain, word};
use super::{alarm, data_dir};
use crate::clock::{Clock, since_1970};
use crate::files;
use crate::moment::Moment;
use rusqlite::{Connection, ffi};
use std::cell::Cell;
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The mark's format. A mark of another format is ignored.
const MAGIC: &[u8; 8] = b"tdlogmk2";
/// The mark with its own checksum. What earlier versions do not write follows: the moment of the commit and its complement.
const MARK_BYTES: usize = 32;
const MOMENT_BYTES: usize = 16;
const WAL_MAGIC: u32 = 0x377f_0682;
const PAGE_BYTES_MAX: usize = 65_536;
/// Restarts of the WAL between a mark that a power cut left and the WAL itself, at most. The kernel writes the mark to the disk
/// within a minute, and a restart takes a thousand pages.
const RESTARTS_MAX: u32 = 1 << 20;

thread_local! {
    /// Frames in the WAL after the last commit on this thread; 0: the commit wrote none.
    static COMMITTED: Cell<u32> = const { Cell::new(0) };
}

/// The last commit in a WAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// The WAL's salt, which changes each time that the WAL restarts.
    salt: [u8; 8],
    /// Frames up to the end of the commit; 0: nothing in the WAL is needed.
    frames: u32,
    /// The page number of the last frame.
    page: u32,
    /// The checksum (CRC-32) of that page, against faults and not against forgery.
    sum: u32,
}

/// The mark of a database that this process writes.
pub(crate) struct WalMark {
    /// `None`: it cannot be opened.
    file: Option<File>,
}

/// Notes how many frames the WAL has after the commit that is under way on this thread.
pub(crate) fn note(frames: i32) {
    COMMITTED.set(frames.max(0).cast_unsigned());
}

impl WalMark {
    /// The mark of a database. Does nothing where the mark cannot be opened.
    pub(crate) fn of(database: &Path) -> WalMark {
        WalMark { file: open(database).ok() }
    }

    /// Writes the mark after a commit on this thread at a moment (Unix seconds), and returns what the commit appended to the
    /// WAL. To be called before the commit is acknowledged.
    pub(crate) fn follow(&self, conn: &Connection, moment: Moment) -> Appended {
        let frames = COMMITTED.take();
        if frames == 0 {
            return Appended::Nothing;
        }
        let Some(mark) = Mark::of_wal(conn, frames) else { return Appended::Unreadable };
        if let Some(file) = &self.file {
            _ = file.write_all_at(&[&mark.bytes()[..], &moment_bytes(moment)].concat(), 0);
        }
        Appended::To(Position { salt: mark.salt, frames: mark.frames })
    }
}

fn open(database: &Path) -> io::Result<File> {
    let path = data_dir::wal_mark(database.parent().unwrap_or(database));
    files::open_with(File::options().read(true).write(true).create(true).truncate(false).mode(0o600), &path)
}

/// Writes an empty mark. To be called before the WAL is truncated.
pub(crate) fn clear(database: &Path) {
    let empty = Mark { salt: [0; 8], frames: 0, page: 0, sum: 0 };
    let written = open(database).and_then(|file| file.write_all_at(&empty.bytes(), 0).and_then(|()| file.sync_data()));
    if let Err(cause) = written {
        tracing::warn!(%cause, "the mark of the write-ahead log was not written, and is removed");
        // The mark of an earlier WAL would accuse the next one.
        _ = std::fs::remove_file(data_dir::wal_mark(database.parent().unwrap_or(database)));
    }
}

/// Finds out whether the WAL lost frames since the last process ended, and says in one line what is missing. `None`: no
/// loss can be seen. Only for a database that no process has open.
pub(crate) fn find_loss(database: &Path) -> Option<String> {
    let mark = read(database).ok().flatten().filter(|mark| mark.frames > 0)?;
    let wal = files::read(&data_dir::wal_of(database)).unwrap_or_default();
    let (left, is_earlier) = match WalBytes::of(&wal) {
        Some(wal) if wal.salt == mark.salt => (wal.committed_frames(), false),
        Some(wal) if is_restarted(wal.salt, mark.salt) => return None,
        Some(_) => (0, true),
        None => (0, false),
    };
    if left >= mark.frames || is_moved(database, &mark) {
        return None;
    }
    let state = match wal.len() {
        0 => "is missing or empty".to_owned(),
        _ if is_earlier => "is of an earlier state, or of another file".to_owned(),
        _ => format!("ends after {left} of {} pages", mark.frames),
    };
    Some(format!("the write-ahead log {state}: the last writes before the last stop are lost"))
}

/// Raises the alarm where [`find_loss`] finds one.
pub(super) fn report_loss(database: &Path) {
    let Some(loss) = find_loss(database) else { return };
    tracing::error!(cause = loss, "what was acknowledged may be missing; the doctor says what to do");
    // A machine without a battery may have started in 1970.
    let now = Clock::machine(marked_moment(database).unwrap_or(Moment(0))).now();
    let last = last_moment(database);
    alarm::raise_after(database.parent().unwrap_or(database), alarm::Kind::LostLog, now, &loss, last);
}

/// The moment of the last commit of which the mark knows (Unix seconds, by the site's clock). `None` in a mark of an earlier
/// version.
fn marked_moment(database: &Path) -> Option<Moment> {
    let mut bytes = [0; MARK_BYTES + MOMENT_BYTES];
    files::open(&data_dir::wal_mark(database.parent().unwrap_or(database))).ok()?.read_exact(&mut bytes).ok()?;
    let half = |at: usize| i64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    (half(MARK_BYTES) == !half(MARK_BYTES + 8)).then(|| Moment(half(MARK_BYTES)))
}

fn moment_bytes(moment: Moment) -> [u8; MOMENT_BYTES] {
    (u128::from(moment.0.cast_unsigned()) << 64 | u128::from(!moment.0.cast_unsigned())).to_be_bytes()
}

/// Whether the mark was written since the machine was started. Otherwise it may be older than the last commit, after a power
/// cut.
fn is_of_this_boot(database: &Path) -> bool {
    let written = std::fs::metadata(data_dir::wal_mark(database.parent().unwrap_or(database)));
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ago = written.map(|mark| since_1970().as_secs().cast_signed() - mark.mtime());
    ago.is_ok_and(|ago| (0..up.tv_sec).contains(&ago))
}

/// The moment of the last commit, as far as it is known (Unix seconds, by the site's clock).
pub(crate) fn last_moment(database: &Path) -> Option<Moment> {
    let now = Clock::machine(marked_moment(database).unwrap_or(Moment(0))).now();
    // After a power cut the mark may be older than the last commit, which is earlier than this start.
    marked_moment(database).map(|at| if is_of_this_boot(database) { at } else { at.max(now - 1) })
}

/// The end of the last commit in the WAL. `None`: it has none.
pub(crate) fn last_commit(database: &Path) -> Option<Position> {
    let wal = files::read(&data_dir::wal_of(database)).ok()?;
    let wal = WalBytes::of(&wal)?;
    Some(Position { salt: wal.salt, frames: wal.committed_frames() }).filter(|end| end.frames > 0)
}

/// Whether the WAL is the one that this program wrote last, with every commit up to the mark. `false` also where no mark
/// says so, as after some power cuts.
pub(super) fn is_own_and_whole(database: &Path) -> bool {
    let Ok(Some(mark)) = read(database) else { return false };
    let wal = files::read(&data_dir::wal_of(database)).unwrap_or_default();
    let matches = |wal: &WalBytes| wal.salt == mark.salt && wal.committed_frames() >= mark.frames;
    mark.frames > 0 && WalBytes::of(&wal).is_some_and(|wal| matches(&wal))
}

/// Whether the WAL has commits, and is neither the one that this program wrote last, nor a later one: a copy from an earlier
/// time, or of another file. `false` also where no mark says so, and where the database has what the mark stands for.
pub(super) fn is_of_another_time(database: &Path) -> bool {
    let Ok(Some(mark)) = read(database) else { return false };
    let wal = files::read(&data_dir::wal_of(database)).unwrap_or_default();
    let is_other =
        |wal: &WalBytes| wal.salt != mark.salt && !is_restarted(wal.salt, mark.salt) && wal.committed_frames() > 0;
    mark.frames > 0 && WalBytes::of(&wal).is_some_and(|wal| is_other(&wal)) && !is_moved(database, &mark)
}

/// Whether a WAL with the salt `later` can be one with the salt `earlier` after it restarted: SQLite then adds 1 to the first
/// half of the salt. A WAL that is created has a salt at random, but for that the mark is empty.
fn is_restarted(later: [u8; 8], earlier: [u8; 8]) -> bool {
    (1..=RESTARTS_MAX).contains(&word(&later, 0).wrapping_sub(word(&earlier, 0)))
}

/// Whether the last page of the WAL is in the database, because another program ran a checkpoint.
fn is_moved(database: &Path, mark: &Mark) -> bool {
    let page = || -> io::Result<Vec<u8>> {
        let file = files::open(database)?;
        let mut head = [0; 18];
        file.read_exact_at(&mut head, 0)?;
        let bytes = match u16::from_be_bytes([head[16], head[17]]) {
            1 => PAGE_BYTES_MAX,
            bytes => usize::from(bytes),
        };
        let mut page = vec![0; bytes];
        file.read_exact_at(&mut page, u64::from(mark.page.saturating_sub(1)) * bytes as u64)?;
        Ok(page)
    };
    page().is_ok_and(|page| sum(&page) == mark.sum)
}

fn read(database: &Path) -> io::Result<Option<Mark>> {
    let mut bytes = [0; MARK_BYTES];
    files::open(&data_dir::wal_mark(database.parent().unwrap_or(database)))?.read_exact(&mut bytes)?;
    Ok(Mark::from_bytes(&bytes))
}

impl Mark {
    /// The commit after which the connection's WAL has this number of frames.
    fn of_wal(conn: &Connection, frames: u32) -> Option<Mark> {
        let mut wal: *mut ffi::sqlite3_file = std::ptr::null_mut();
        // SAFETY: the connection is open; SQLite writes one pointer.
        let code = unsafe {
            let answer: *mut c_void = (&raw mut wal).cast();
            ffi::sqlite3_file_control(conn.handle(), c"main".as_ptr(), ffi::SQLITE_FCNTL_JOURNAL_POINTER, answer)
        };
        if code != ffi::SQLITE_OK || wal.is_null() {
            return None;
        }
        // SAFETY: the file is the connection's own, and lives as long as it has a WAL.
        let read = |at: u64, to: &mut [u8]| unsafe {
            let methods = wal.as_ref().and_then(|file| file.pMethods.as_ref())?;
            let code = methods.xRead?(wal, to.as_mut_ptr().cast(), to.len() as i32, at as i64);
            (code == ffi::SQLITE_OK).then_some(())
        };
        let mut header = [0; HEADER_BYTES];
        read(0, &mut header)?;
        let page_bytes = word(&header, 8) as usize;
        if !(512..=PAGE_BYTES_MAX).contains(&page_bytes) {
            return None;
        }
        let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes];
        read(HEADER_BYTES as u64 + u64::from(frames - 1) * frame.len() as u64, &mut frame)?;
        let salt = header[16..24].try_into().ok()?;
        Some(Mark { salt, frames, page: word(&frame, 0), sum: sum(&frame[FRAME_HEADER_BYTES..]) })
    }

    fn bytes(&self) -> [u8; MARK_BYTES] {
        let mut bytes = [0; MARK_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.salt);
        bytes[16..20].copy_from_slice(&self.frames.to_be_bytes());
        bytes[20..24].copy_from_slice(&self.page.to_be_bytes());
        bytes[24..28].copy_from_slice(&self.sum.to_be_bytes());
        let own = sum(&bytes[..28]);
        bytes[28..].copy_from_slice(&own.to_be_bytes());
        bytes
    }

    /// `None`: the mark is torn, damaged, or of another format.
    fn from_bytes(bytes: &[u8; MARK_BYTES]) -> Option<Mark> {
        let whole = bytes[..8] == *MAGIC && word(bytes, 28) == sum(&bytes[..28]);
        let salt = bytes[8..16].try_into().expect("eight bytes");
        whole.then(|| Mark { salt, frames: word(bytes, 16), page: word(bytes, 20), sum: word(bytes, 24) })
    }
}

/// The bytes of a WAL whose header is sound (<https://www.sqlite.org/fileformat2.html#walformat>).
struct WalBytes<'b> {
    bytes: &'b [u8],
    salt: [u8; 8],
    page_bytes: usize,
    big_endian: bool,
}

impl WalBytes<'_> {
    fn of(bytes: &[u8]) -> Option<WalBytes<'_>> {
        let header = bytes.get(..HEADER_BYTES)?;
        let (magic, page_bytes) = (word(header, 0), word(header, 8) as usize);
        let big_endian = magic & 1 == 1;
        let sound = magic & !1 == WAL_MAGIC
            && (512..=PAGE_BYTES_MAX).contains(&page_bytes)
            && chain((0, 0), &header[..24], big_endian) == (word(header, 24), word(header, 28));
        sound.then(|| WalBytes { bytes, salt: header[16..24].try_into().expect("eight bytes"), page_bytes, big_endian })
    }

    /// Frames up to the end of the last commit that SQLite would accept.
    fn committed_frames(&self) -> u32 {
        let mut sums = (word(self.bytes, 24), word(self.bytes, 28));
        let (mut frames, mut committed) = (0, 0);
        for frame in self.bytes[HEADER_BYTES..].chunks_exact(FRAME_HEADER_BYTES + self.page_bytes) {
            sums = chain(sums, &frame[..8], self.big_endian);
            sums = chain(sums, &frame[FRAME_HEADER_BYTES..], self.big_endian);
            if frame[8..16] != self.salt || word(frame, 0) == 0 || sums != (word(frame, 16), word(frame, 20)) {
                break;
            }
            frames += 1;
            if word(frame, 4) > 0 {
                committed = frames;
            }
        }
        committed
    }
}

#[cfg(test)]
mod tests;
