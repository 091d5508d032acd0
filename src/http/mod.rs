//! The types that an operation receives and returns.

pub(crate) mod accept;
pub(crate) mod assets;
pub mod body;
pub(crate) mod call;
pub mod failure;
pub(crate) mod fields;
pub(crate) mod gzip;
pub mod kinds;
pub(crate) mod pieces;
pub(crate) mod reply;
pub mod row;

/// The return type of an operation: a reply, or the failure that becomes the refusal envelope or a page that refuses.
pub(crate) type Answer = Result<reply::Reply, failure::Failure>;
