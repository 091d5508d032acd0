//! How the file is opened, read, written, checked, copied and mended.

#[macro_use]
pub mod columns;

pub mod alarm;
pub mod ballast;
pub mod bell;
pub mod bulk;
pub mod checked_file;
pub mod clock;
pub mod condition;
pub mod connection;
pub mod copy;
pub mod log_mark;
pub mod log_match;
pub mod migrate;
pub mod place;
#[cfg(debug_assertions)]
pub mod prepared;
pub mod reader;
pub mod repair;
pub mod scrub;
pub mod soundness;
pub mod sums;
pub mod writer;
pub mod writer_held;
