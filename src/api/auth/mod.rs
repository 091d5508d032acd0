//! The authentication group.

pub mod login;
pub mod logout;
pub mod passkey;
pub mod signup;
