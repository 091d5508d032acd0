//! What the product does: one function an effect, called by every edge.

pub mod erasure;
pub mod import_export;
pub mod notice;
