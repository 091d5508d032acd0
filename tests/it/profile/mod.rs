//! The profile group.

mod pin;
mod user;
