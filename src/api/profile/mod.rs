//! The profile group.

pub mod bookings;
pub mod certificates;
pub mod kiosk_code;
pub mod media;
pub mod passkeys;
pub mod password;
pub mod payments;
pub mod pin;
pub mod questions;
pub mod reauthenticate;
pub mod sessions;
pub mod two_factor;
pub mod user;
pub mod verification;
