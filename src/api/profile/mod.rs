//! The profile group.

pub(crate) mod bookings;
pub(crate) mod certificates;
pub(crate) mod kiosk_code;
pub(crate) mod media;
pub(crate) mod passkeys;
pub(crate) mod password;
pub(crate) mod payments;
pub(crate) mod pin;
pub(crate) mod questions;
pub(crate) mod reauthenticate;
pub(crate) mod sessions;
pub(crate) mod two_factor;
pub(crate) mod user;
pub(crate) mod verification;
pub(crate) mod waiver;
