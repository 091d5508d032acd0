//! The pages of the front desk: one file a page.

pub mod check_in;
pub mod code;
pub mod kiosks;
pub mod members;
pub mod messages;
pub mod partners;
pub mod payments;
pub mod photo;
pub mod reports;
pub mod setup;
pub mod sign_in;
pub mod sign_offs;
pub mod site;
pub mod today;
pub mod walk_in;
