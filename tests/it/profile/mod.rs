//! The profile group.

mod certificates;
mod media;
mod password;
mod payments;
mod pin;
mod questions;
mod security_events;
mod sessions;
mod two_factor;
mod user;
mod verification;
mod ways_in;
