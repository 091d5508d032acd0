//! The operations, one directory a contract group.

pub mod auth;
pub mod health;
pub mod logbook;
pub mod partner;
pub mod profile;
pub mod unbuilt;
pub mod verify;
