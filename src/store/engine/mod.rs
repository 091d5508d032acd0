//! The engine around SQLite: opening, reading, writing, checking, copying and repairing the database.

#[macro_use]
pub(crate) mod columns;

pub mod alarm;
pub(crate) mod capture;
pub(crate) mod change_feed;
pub(crate) mod checked_file;
pub(crate) mod condition;
pub(crate) mod connection;
pub(crate) mod copy;
pub mod data_dir;
pub(crate) mod hot_journal;
pub(crate) mod integrity;
pub(crate) mod lineage;
pub(crate) mod migrate;
pub(crate) mod outbox_signal;
pub(crate) mod pace;
pub(crate) mod page_checksums;
#[cfg(debug_assertions)]
pub mod prepared;
mod quick_check;
pub(crate) mod reader;
pub(crate) mod repair;
pub(crate) mod reserve;
pub(crate) mod rewrite;
pub(crate) mod scrub;
pub(crate) mod statements;
pub(crate) mod wal_format;
pub(crate) mod wal_mark;
pub(crate) mod wal_match;
pub(crate) mod wal_read;
pub(crate) mod write_scope;
pub(crate) mod writer;
