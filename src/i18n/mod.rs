//! Languages: the catalogues of texts, and dates and moments in words.

pub mod date;
pub mod language;
