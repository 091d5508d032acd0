//! What an operation receives and returns.

pub mod call;
pub mod failure;
pub mod fields;
pub mod gzip;
pub mod reply;
