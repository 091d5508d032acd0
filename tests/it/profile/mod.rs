//! The profile group.

mod pin;
mod two_factor;
mod user;
