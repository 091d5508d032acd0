//! The authentication group.

mod email;
mod login;
mod passkeys;
mod recovery;
mod signup;
