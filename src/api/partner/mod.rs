//! The partner metrics group.

pub mod reports;
pub mod token;
pub mod users;
