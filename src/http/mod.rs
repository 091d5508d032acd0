//! The types that an operation receives and returns.

pub(crate) mod accept;
pub mod answer;
pub(crate) mod assets;
pub mod body;
pub(crate) mod call;
pub(crate) mod chunks;
pub mod failure;
pub mod field_types;
pub(crate) mod fields;
pub(crate) mod forwarded;
pub(crate) mod gzip;
pub(crate) mod json;
mod network;
pub(crate) mod reply;
pub(crate) mod request_id;
pub mod row;

/// The return type of an operation: a reply, or the failure that becomes the error envelope or an error page.
pub(crate) type Answer = Result<reply::Reply, failure::Failure>;
