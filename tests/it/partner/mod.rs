//! The partner metrics group.

mod gate;
mod outcome;
mod own_bookings;
mod reports;
mod steps;
mod token;
mod users;
