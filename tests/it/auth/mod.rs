//! The authentication group.

mod email;
mod factor_model;
mod login;
mod passkeys;
mod recovery;
mod second_factor;
mod signup;
mod social;
