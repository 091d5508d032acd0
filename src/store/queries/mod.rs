//! Queries and changes that involve several tables.

pub(crate) mod board;
pub(crate) mod ends;
pub mod erasure;
pub(crate) mod hall;
pub mod holdings;
pub(crate) mod hours;
pub(crate) mod joining;
pub(crate) mod lists;
pub(crate) mod logbook;
pub(crate) mod member_search;
pub(crate) mod mentions;
pub(crate) mod personal_data;
pub(crate) mod reports;
pub(crate) mod sealed;
pub(crate) mod standing;
pub(crate) mod timeline;
