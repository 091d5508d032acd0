//! The profile group.

mod certificates;
mod media;
mod payments;
mod pin;
mod user;
