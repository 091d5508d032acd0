//! An SQLite VFS over the system's own that verifies the checksum of each page as it is read, and records that of each
//! page as it is written ([`PageChecksums`]). Everything else is forwarded.

use super::page_checksums::{PAGE_BYTES, PageChecksums, Part, flipped_bit, place_of, sum};
use super::wal_format::{FRAME_HEADER_BYTES, HEADER_BYTES, is_in_chain};
use rusqlite::{Connection, ffi};
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

const NAME: &CStr = c"checked";
const FRAME_BYTES: usize = FRAME_HEADER_BYTES + PAGE_BYTES;

/// SQLite's default VFS.
struct System(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite's default VFS is static and thread-safe.
unsafe impl Send for System {}
unsafe impl Sync for System {}

static SYSTEM: OnceLock<System> = OnceLock::new();

/// An open file as SQLite sees it. The file of the default VFS follows in the same memory.
#[repr(C)]
struct Checked {
    base: ffi::sqlite3_file,
    part: Part,
    checksums: *const PageChecksums,
}

/// Registers the VFS at the first call, and returns its name.
pub(super) fn name() -> &'static CStr {
    SYSTEM.get_or_init(|| {
        // SAFETY: the first call initializes SQLite; the copy lives as long as the process.
        unsafe {
            let system = ffi::sqlite3_vfs_find(std::ptr::null());
            let mut ours = *system;
            ours.szOsFile += size_of::<Checked>() as c_int;
            ours.pNext = std::ptr::null_mut();
            ours.zName = NAME.as_ptr();
            ours.xOpen = Some(open);
            ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 0);
            System(system)
        }
    });
    NAME
}

/// The default VFS's file behind ours.
unsafe fn below(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    unsafe { file.byte_add(size_of::<Checked>()) }
}

/// Calls a method of the default VFS's file.
macro_rules! system {
    ($file:ident, $method:ident $(, $arg:expr)*) => {{
        let file = below($file);
        match (*(*file).pMethods).$method {
            Some(method) => method(file $(, $arg)*),
            None => ffi::SQLITE_IOERR,
        }
    }};
}

/// Methods that are forwarded unchanged.
macro_rules! forward {
    ($($name:ident = $method:ident($($arg:ident: $kind:ty),*);)*) => {$(
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file $(, $arg: $kind)*) -> c_int {
            unsafe { system!(file, $method $(, $arg)*) }
        }
    )*};
}

forward! {
    file_size = xFileSize(bytes: *mut i64);
    take_lock = xLock(level: c_int);
    leave_lock = xUnlock(level: c_int);
    is_reserved = xCheckReservedLock(answer: *mut c_int);
    control = xFileControl(op: c_int, with: *mut c_void);
    sector_size = xSectorSize();
    characteristics = xDeviceCharacteristics();
    map_shared = xShmMap(page: c_int, bytes: c_int, extends: c_int, to: *mut *mut c_void);
    lock_shared = xShmLock(offset: c_int, count: c_int, flags: c_int);
    unmap_shared = xShmUnmap(deletes: c_int);
}

unsafe extern "C" fn fence_shared(file: *mut ffi::sqlite3_file) {
    unsafe {
        let file = below(file);
        if let Some(fence) = (*(*file).pMethods).xShmBarrier {
            fence(file);
        }
    }
}

/// Version 2 of the methods, without memory-mapped reads, which could not be verified.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(take_lock),
    xUnlock: Some(leave_lock),
    xCheckReservedLock: Some(is_reserved),
    xFileControl: Some(control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: Some(map_shared),
    xShmLock: Some(lock_shared),
    xShmBarrier: Some(fence_shared),
    xShmUnmap: Some(unmap_shared),
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    let Some(System(system)) = SYSTEM.get() else { return ffi::SQLITE_MISUSE };
    let part = match flags {
        _ if name.is_null() => None,
        _ if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 => Some(Part::Database),
        _ if flags & ffi::SQLITE_OPEN_WAL != 0 => Some(Part::Wal),
        _ => None,
    };
    // SAFETY: SQLite gives memory for our file and the default VFS's behind it, and names that it made itself.
    unsafe {
        let Some(open) = (**system).xOpen else { return ffi::SQLITE_MISUSE };
        let Some(part) = part else { return open(*system, name, file, flags, flags_out) };
        (*file).pMethods = std::ptr::null();
        (*below(file)).pMethods = std::ptr::null();
        let code = open(*system, name, below(file), flags, flags_out);
        if code != ffi::SQLITE_OK {
            return code;
        }
        let database = if part == Part::Wal { ffi::sqlite3_filename_database(name) } else { name };
        let mut bytes = 0;
        if part == Part::Database {
            let code = system!(file, xFileSize, &raw mut bytes);
            if code != ffi::SQLITE_OK {
                _ = system!(file, xClose);
                return code;
            }
        }
        let database = Path::new(OsStr::from_bytes(CStr::from_ptr(database).to_bytes()));
        let checksums = Arc::into_raw(PageChecksums::of(database, bytes as usize / PAGE_BYTES));
        file.cast::<Checked>().write(Checked {
            base: ffi::sqlite3_file { pMethods: &raw const METHODS },
            part,
            checksums,
        });
        ffi::SQLITE_OK
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the file is one that `open` made, and SQLite uses it no more.
    unsafe {
        let checksums = Arc::from_raw((*file.cast::<Checked>()).checksums);
        let code = system!(file, xClose);
        PageChecksums::release(checksums);
        code
    }
}

/// The page that a read or write of `amount` bytes at `offset` contains entirely: its index from 0, and its offset in
/// these bytes.
fn page_in(part: Part, amount: usize, offset: usize) -> Option<(usize, usize)> {
    match part {
        Part::Database => {
            (amount == PAGE_BYTES && offset.is_multiple_of(PAGE_BYTES)).then_some((offset / PAGE_BYTES, 0))
        }
        Part::Wal => {
            let at = offset.checked_sub(HEADER_BYTES)?;
            match (at % FRAME_BYTES, amount) {
                (0, FRAME_BYTES) => Some((at / FRAME_BYTES, FRAME_HEADER_BYTES)),
                (FRAME_HEADER_BYTES, PAGE_BYTES) => Some((at / FRAME_BYTES, 0)),
                _ => None,
            }
        }
    }
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, to: *mut c_void, amount: c_int, offset: i64) -> c_int {
    // SAFETY: the file is one that `open` made, and SQLite gives a buffer of `amount` bytes.
    unsafe {
        let code = system!(file, xRead, to, amount, offset);
        let Checked { part, checksums, .. } = &*file.cast::<Checked>();
        let page = page_in(*part, amount as usize, offset as usize);
        let (Some((index, begin)), ffi::SQLITE_OK) = (page, code) else { return code };
        let checksums = &**checksums;
        let page = || &std::slice::from_raw_parts(to.cast::<u8>(), amount as usize)[begin..begin + PAGE_BYTES];
        if checksums.agrees(*part, index, page()) {
            return ffi::SQLITE_OK;
        }
        // Another thread may be writing the page, or the disk failed once: reads again while no page is written.
        let _writing = checksums.lock_writes(*part);
        let code = system!(file, xRead, to, amount, offset);
        if code != ffi::SQLITE_OK {
            return code;
        }
        if !checksums.agrees(*part, index, page()) {
            if *part == Part::Database || !is_valid_frame(file, index) {
                if checksums.is_accepted(*part, index) {
                    return ffi::SQLITE_OK;
                }
                checksums.note_bad(*part, index);
                return ffi::SQLITE_IOERR_DATA;
            }
            checksums.note(*part, index, Some(page()));
        }
        checksums.note_good(*part, index);
        ffi::SQLITE_OK
    }
}

/// Whether a frame of the WAL matches SQLite's own checksum, as a frame does that another program wrote.
unsafe fn is_valid_frame(file: *mut ffi::sqlite3_file, index: usize) -> bool {
    let read = |to: &mut [u8], offset: usize| unsafe {
        system!(file, xRead, to.as_mut_ptr().cast(), to.len() as c_int, offset as i64) == ffi::SQLITE_OK
    };
    let (mut header, mut before, mut frame) = ([0; HEADER_BYTES], [0; 8], vec![0; FRAME_BYTES]);
    let begin = HEADER_BYTES + index * FRAME_BYTES;
    let before_at = if index == 0 { HEADER_BYTES - before.len() } else { begin - FRAME_BYTES + 16 };
    read(&mut header, 0)
        && read(&mut before, before_at)
        && read(&mut frame, begin)
        && is_in_chain(&header, &before, &frame)
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, amount: c_int, offset: i64) -> c_int {
    // SAFETY: the file is one that `open` made, and SQLite gives a buffer of `amount` bytes.
    unsafe {
        let Checked { part, checksums, .. } = &*file.cast::<Checked>();
        let checksums = &**checksums;
        let bytes = std::slice::from_raw_parts(from.cast::<u8>(), amount as usize);
        let (amount_bytes, at) = (amount as usize, offset as usize);
        let _writing = checksums.lock_writes(*part);
        let code = system!(file, xWrite, from, amount, offset);
        match page_in(*part, amount_bytes, at) {
            _ if code != ffi::SQLITE_OK => note_unknown(checksums, *part, amount_bytes, at),
            Some((index, begin)) => checksums.note(*part, index, Some(&bytes[begin..begin + PAGE_BYTES])),
            // The WAL restarts.
            None if *part == Part::Wal && at == 0 => checksums.cut(Part::Wal, 0),
            None => note_unknown(checksums, *part, amount_bytes, at),
        }
        code
    }
}

/// Forgets the checksums of the pages that these bytes touch.
fn note_unknown(checksums: &PageChecksums, part: Part, amount: usize, offset: usize) {
    let (first, last) = match part {
        Part::Database => (offset / PAGE_BYTES, (offset + amount).div_ceil(PAGE_BYTES)),
        // The header of a frame does not change its page.
        Part::Wal if amount == FRAME_HEADER_BYTES => return,
        Part::Wal => {
            let at = |byte: usize| byte.saturating_sub(HEADER_BYTES);
            (at(offset) / FRAME_BYTES, at(offset + amount).div_ceil(FRAME_BYTES))
        }
    };
    (first..last).for_each(|index| checksums.note(part, index, None));
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, bytes: i64) -> c_int {
    // SAFETY: the file is one that `open` made.
    unsafe {
        let Checked { part, checksums, .. } = &*file.cast::<Checked>();
        let _writing = (**checksums).lock_writes(*part);
        let code = system!(file, xTruncate, bytes);
        let pages = match part {
            Part::Database => bytes as usize / PAGE_BYTES,
            Part::Wal => (bytes as usize).saturating_sub(HEADER_BYTES) / FRAME_BYTES,
        };
        if code == ffi::SQLITE_OK {
            (**checksums).cut(*part, pages);
        }
        code
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: the file is one that `open` made.
    unsafe {
        let Checked { part, checksums, .. } = &*file.cast::<Checked>();
        if *part == Part::Database {
            match (**checksums).save() {
                Ok(()) => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                    return ffi::SQLITE_FULL;
                }
                Err(_) => return ffi::SQLITE_IOERR_FSYNC,
            }
        }
        system!(file, xSync, flags)
    }
}

/// The open database file or WAL of a connection.
pub(super) struct Handle<'c> {
    file: *mut ffi::sqlite3_file,
    _conn: &'c Connection,
}

impl<'c> Handle<'c> {
    /// The connection's file of this part; `None` where there is no such file, or it was not opened through this VFS.
    pub(super) fn of(conn: &'c Connection, part: Part) -> Option<Handle<'c>> {
        let op = match part {
            Part::Database => ffi::SQLITE_FCNTL_FILE_POINTER,
            Part::Wal => ffi::SQLITE_FCNTL_JOURNAL_POINTER,
        };
        let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
        // SAFETY: the connection is open; SQLite writes one pointer.
        unsafe {
            let answer: *mut c_void = (&raw mut file).cast();
            let code = ffi::sqlite3_file_control(conn.handle(), c"main".as_ptr(), op, answer);
            let is_ours = code == ffi::SQLITE_OK
                && file.as_ref().is_some_and(|file| std::ptr::eq(file.pMethods, &raw const METHODS))
                && (*file.cast::<Checked>()).part == part;
            is_ours.then_some(Handle { file, _conn: conn })
        }
    }

    pub(super) fn checksums(&self) -> &PageChecksums {
        // SAFETY: the file is one that `open` made, and is open as long as its connection.
        unsafe { &*(*self.file.cast::<Checked>()).checksums }
    }

    /// The present size of the file in pages.
    pub(super) fn pages(&self) -> usize {
        let mut bytes = 0;
        let file = self.file;
        // SAFETY: the file is one that `open` made, and is open as long as its connection.
        match unsafe { system!(file, xFileSize, &raw mut bytes) } {
            ffi::SQLITE_OK => bytes as usize / PAGE_BYTES,
            _ => 0,
        }
    }

    /// Reads a page (from 0) and verifies it. The error is SQLite's code.
    pub(super) fn read(&self, part: Part, index: usize, page: &mut [u8; PAGE_BYTES]) -> Result<(), c_int> {
        // SAFETY: the file is one that `open` made, is open as long as its connection, and the page has that many bytes.
        match unsafe { read(self.file, page.as_mut_ptr().cast(), PAGE_BYTES as c_int, offset_of(part, index)) } {
            ffi::SQLITE_OK => Ok(()),
            code => Err(code),
        }
    }

    /// Reads a page without verifying it. The error is SQLite's code.
    pub(super) fn read_unchecked(&self, part: Part, index: usize, page: &mut [u8; PAGE_BYTES]) -> Result<(), c_int> {
        let file = self.file;
        // SAFETY: the file is one that `open` made, is open as long as its connection, and the page has that many bytes.
        match unsafe { system!(file, xRead, page.as_mut_ptr().cast(), PAGE_BYTES as c_int, offset_of(part, index)) } {
            ffi::SQLITE_OK => Ok(()),
            code => Err(code),
        }
    }

    /// Flips the bit back because of which a page does not match its checksum, and flushes the file. Returns `false`, and
    /// changes nothing, where no single bit explains it. The error is SQLite's code.
    pub(super) fn flip_back(&self, part: Part, index: usize) -> Result<bool, c_int> {
        let (checksums, file, mut page) = (self.checksums(), self.file, [0; PAGE_BYTES]);
        let _writing = checksums.lock_writes(part);
        self.read_unchecked(part, index, &mut page)?;
        let bit = checksums.known(part, index).and_then(|known| flipped_bit(known, sum(&page)));
        let Some((at, mask)) = bit.map(place_of) else { return Ok(false) };
        let (byte, offset) = (page[at] ^ mask, offset_of(part, index) + at as i64);
        // SAFETY: the file is one that `open` made, and is open as long as its connection; one byte is written.
        let codes = unsafe {
            let code = system!(file, xWrite, (&raw const byte).cast(), 1, offset);
            [code, system!(file, xSync, ffi::SQLITE_SYNC_NORMAL)]
        };
        match codes.into_iter().find(|code| *code != ffi::SQLITE_OK) {
            Some(code) => Err(code),
            None => {
                checksums.note_good(part, index);
                Ok(true)
            }
        }
    }
}

/// The offset of a page in its file.
fn offset_of(part: Part, index: usize) -> i64 {
    let offset = match part {
        Part::Database => index * PAGE_BYTES,
        Part::Wal => HEADER_BYTES + index * FRAME_BYTES + FRAME_HEADER_BYTES,
    };
    offset as i64
}
