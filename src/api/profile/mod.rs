//! The profile group.

pub mod bookings;
pub mod pin;
pub mod two_factor;
pub mod user;
