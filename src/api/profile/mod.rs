//! The profile group.

pub mod bookings;
pub mod password;
pub mod pin;
pub mod questions;
pub mod sessions;
pub mod two_factor;
pub mod user;
pub mod verification;
