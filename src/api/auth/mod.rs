//! The authentication group.

pub mod email;
pub mod login;
pub mod logout;
pub mod recovery;
pub mod signup;
