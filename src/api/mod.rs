//! The operations, one directory a contract group.

pub(crate) mod auth;
pub(crate) mod callbacks;
pub(crate) mod compatibility;
pub mod description;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod logbook;
pub(crate) mod notifications;
pub(crate) mod partner;
pub(crate) mod profile;
pub(crate) mod public;
pub(crate) mod standby;
