//! The authentication group.

mod factor_model;
mod login;
mod second_factor;
mod signup;
