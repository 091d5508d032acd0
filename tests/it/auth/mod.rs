//! The authentication group.

mod login;
mod signup;
