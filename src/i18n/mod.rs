//! Languages: the catalogues of texts, and formats of dates and numbers.

pub(crate) mod date;
pub mod language;
pub(crate) mod number;
mod text;
