//! The partner metrics group.

pub(crate) mod reports;
pub(crate) mod token;
pub(crate) mod users;
