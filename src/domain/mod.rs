//! The rules, without clock, file, JSON or SQL.

pub mod booking;
pub mod catalogue;
pub mod certificate;
pub mod currency;
pub mod email;
pub mod minutes;
pub mod passkey;
pub mod password;
pub mod phone;
pub mod questions;
pub mod recovery_code;
pub mod role;
pub mod throttle;
pub mod totp;
pub mod username;
