//! The partner metrics group.

mod gate;
mod reports;
mod token;
mod users;
