//! The logbook group.

mod catalogue;
mod category;
mod eligible;
pub mod given;
mod ownership;
mod safety;
mod signers;
pub mod skills;
mod time;
mod whole;
