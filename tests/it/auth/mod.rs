//! The authentication group.

mod passkeys;
