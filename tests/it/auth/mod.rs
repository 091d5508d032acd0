//! The authentication group.

mod email;
mod factor_model;
mod login;
mod recovery;
mod second_factor;
mod signup;
