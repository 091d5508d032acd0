//! The profile group.

mod password;
mod pin;
mod questions;
mod sessions;
mod two_factor;
mod user;
mod verification;
