//! The API description: complete, valid, and equal to the product's answers.

mod clients;
mod codes;
mod collection;
mod first_booking;
mod generators;
mod judge;
mod kinds;
mod lint;
mod page;
mod table;
