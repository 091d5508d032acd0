//! What a failed statement means: for the state of the store, and for the caller.

use crate::http::failure::{DiskFault, Failure};
use rusqlite::Error;
use rusqlite::ffi::{
    SQLITE_IOERR_DATA, SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE,
};

/// The extended codes of writes and flushes that failed.
const WRITES: [i32; 4] = [SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE];

/// The meaning of a failed statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DbError {
    /// The disk is full.
    Full,
    /// A page is damaged, or the file is no database.
    Damaged,
    /// The checksum of a page is wrong.
    BadPage,
    /// The disk did not give a page, perhaps only once.
    Unreadable,
    /// A write or a flush failed; its pages may be lost.
    Unwritable,
    /// The statement took too long, or another connection was in its way.
    Busy,
    /// A mistake of the program.
    Broken,
}

impl DbError {
    pub(crate) fn of(error: &Error) -> DbError {
        use rusqlite::ErrorCode::*;
        let extended = error.sqlite_error().map_or(0, |error| error.extended_code);
        match error.sqlite_error_code() {
            Some(DiskFull) => DbError::Full,
            Some(DatabaseCorrupt | NotADatabase) => DbError::Damaged,
            Some(SystemIoFailure) if extended == SQLITE_IOERR_DATA => DbError::BadPage,
            Some(SystemIoFailure) if WRITES.contains(&extended) => DbError::Unwritable,
            Some(SystemIoFailure) => DbError::Unreadable,
            Some(OperationInterrupted | DatabaseBusy | DatabaseLocked) => DbError::Busy,
            _ => DbError::Broken,
        }
    }

    /// The fault of the disk that it shows.
    pub(crate) fn disk_fault(self) -> Option<DiskFault> {
        match self {
            DbError::Full => Some(DiskFault::Full),
            DbError::Damaged | DbError::BadPage | DbError::Unreadable => Some(DiskFault::Unreadable),
            DbError::Unwritable => Some(DiskFault::Unwritable),
            DbError::Busy | DbError::Broken => None,
        }
    }
}

/// The fault of the disk that a failed statement shows.
pub(crate) fn disk_fault(error: &Error) -> Option<DiskFault> {
    DbError::of(error).disk_fault()
}

/// Whether the checksum of a page is wrong.
pub(crate) fn is_of_bad_page(error: &Error) -> bool {
    DbError::of(error) == DbError::BadPage
}

impl From<Error> for Failure {
    /// A failed statement is a fault of the program, the disk or the load, and never "not found".
    fn from(error: Error) -> Failure {
        let meaning = DbError::of(&error);
        let failure = match meaning {
            DbError::Full => Failure::disk_full(),
            DbError::Damaged | DbError::BadPage => Failure::store_damaged(),
            DbError::Busy => Failure::overloaded(),
            DbError::Unreadable | DbError::Unwritable | DbError::Broken => Failure::broken(),
        };
        failure.because(&error).with_disk_fault(meaning.disk_fault())
    }
}
