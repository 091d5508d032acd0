//! The authentication group.

mod devices;
mod email;
mod factor_model;
mod letters;
mod login;
pub mod passkeys;
mod recovery;
mod recovery_model;
mod second_factor;
mod second_steps;
mod signup;
mod social;
mod strangers;
mod timing;
