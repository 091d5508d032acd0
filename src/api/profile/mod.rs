//! The profile group.

pub mod bookings;
pub mod passkeys;
pub mod pin;
pub mod user;
