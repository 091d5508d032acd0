//! The rules, without clock, file, JSON or SQL.

pub mod booking;
pub mod catalogue;
pub mod currency;
pub mod email;
pub mod minutes;
pub mod passkey;
pub mod password;
pub mod phone;
pub mod questions;
pub mod role;
pub mod throttle;
pub mod username;
