//! The authentication group.

pub(crate) mod email;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod passkey;
pub(crate) mod recovery;
pub(crate) mod signup;
pub(crate) mod social;
pub(crate) mod totp;
