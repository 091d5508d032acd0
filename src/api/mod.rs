//! The operations, one directory a contract group.

pub mod auth;
pub mod callbacks;
pub mod description;
pub mod health;
pub mod logbook;
pub mod neighbours;
pub mod notifications;
pub mod partner;
pub mod profile;
pub mod public;
