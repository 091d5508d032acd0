//! Import and export of lists, and erasure of members.

mod erasure;
mod import_export;
