//! The profile group.

pub mod bookings;
pub mod certificates;
pub mod media;
pub mod password;
pub mod payments;
pub mod pin;
pub mod questions;
pub mod sessions;
pub mod user;
pub mod verification;
