//! The operations of the contract's partner metrics group: a partner's user records and bookings, and the reports about
//! bookings and partners' history, which the desk reads.

pub(crate) mod bookings;
pub(crate) mod reports;
pub(crate) mod token;
pub(crate) mod users;
