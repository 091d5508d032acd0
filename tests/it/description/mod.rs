//! The API description: complete, sound, and what the product really answers.

mod codes;
mod judge;
mod kinds;
mod lint;
mod page;
mod table;
