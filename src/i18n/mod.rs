//! Languages: the catalogues of texts, and formats of dates and numbers.

pub(crate) mod date;
pub mod language;
mod languages;
pub(crate) mod number;
mod text;
