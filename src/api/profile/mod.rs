//! The profile group.

pub mod bookings;
pub mod passkeys;
pub mod password;
pub mod pin;
pub mod questions;
pub mod sessions;
pub mod user;
pub mod verification;
