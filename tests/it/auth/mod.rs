//! The authentication group.

mod email;
mod login;
mod recovery;
mod signup;
