//! The authentication group.

pub mod login;
pub mod logout;
mod qr;
pub mod signup;
pub mod totp;
