//! The profile group.

mod password;
mod pin;
mod questions;
mod sessions;
mod user;
mod verification;
