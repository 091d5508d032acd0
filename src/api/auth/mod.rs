//! The authentication group.

pub mod login;
pub mod logout;
pub mod signup;
