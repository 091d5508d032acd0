//! The authentication group.

pub mod email;
pub mod login;
pub mod logout;
pub mod passkey;
pub mod recovery;
pub mod signup;
pub mod social;
pub mod totp;
