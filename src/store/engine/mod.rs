//! How the file is opened, read, written, checked, copied and mended.

#[macro_use]
pub(crate) mod columns;

pub mod alarm;
pub(crate) mod ballast;
pub(crate) mod bell;
pub(crate) mod bulk;
pub(crate) mod capture;
pub(crate) mod changes;
pub(crate) mod checked_file;
pub(crate) mod clock;
pub(crate) mod condition;
pub(crate) mod connection;
pub(crate) mod copy;
pub(crate) mod log_mark;
pub(crate) mod log_match;
pub(crate) mod log_read;
pub(crate) mod migrate;
pub mod place;
#[cfg(debug_assertions)]
pub mod prepared;
pub(crate) mod reader;
pub(crate) mod repair;
pub(crate) mod scrub;
pub(crate) mod soundness;
pub mod statements;
pub(crate) mod sums;
pub(crate) mod writer;
pub(crate) mod writer_held;
