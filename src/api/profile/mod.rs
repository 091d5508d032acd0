//! The profile group.

pub mod bookings;
pub mod certificates;
pub mod media;
pub mod payments;
pub mod pin;
pub mod user;
