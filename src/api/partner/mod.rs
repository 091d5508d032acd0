//! The partner metrics group.

pub mod booking;
pub mod reports;
pub mod token;
pub mod users;
