//! What an operation receives and returns.

pub mod assets;
pub mod body;
pub mod call;
pub mod failure;
pub mod fields;
pub mod gzip;
pub mod kinds;
pub mod reply;
pub mod row;

/// What an operation returns: a reply, or the failure that becomes the refusal envelope or a page that refuses.
pub type Answer = Result<reply::Reply, failure::Failure>;
