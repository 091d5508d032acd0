//! Languages: the catalogues of texts, and dates and moments in words.

pub(crate) mod date;
pub mod language;
pub(crate) mod number;
