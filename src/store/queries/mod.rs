//! Questions and changes that go over several tables.

pub mod erasure;
pub mod held;
pub mod holdings;
pub mod hours;
pub mod lists;
pub mod logbook;
pub mod member_search;
pub mod mentions;
pub mod reports;
pub mod sealed;
pub mod standing;
