//! The profile group.

pub mod bookings;
pub mod pin;
pub mod user;
