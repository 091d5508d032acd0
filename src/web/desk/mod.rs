//! The pages of the front desk: one file a page.

pub(crate) mod account;
pub(crate) mod bookings;
pub(crate) mod brief_pictures;
pub(crate) mod change_clerk;
pub(crate) mod check_in;
pub(crate) mod kiosks;
pub(crate) mod members;
pub(crate) mod messages;
pub(crate) mod new_member;
pub(crate) mod partners;
pub(crate) mod payments;
pub(crate) mod photo;
pub(crate) mod reports;
pub(crate) mod second_factor;
pub(crate) mod shift_note;
mod shift_note_view;
pub(crate) mod sign_in;
pub(crate) mod sign_offs;
pub(crate) mod signer_proof;
pub(crate) mod site;
mod slip;
pub(crate) mod texts;
pub(crate) mod till;
pub(crate) mod today;
pub(crate) mod totp_setup;
pub(crate) mod waivers;
pub(crate) mod walk_in;
