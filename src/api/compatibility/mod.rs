//! Operations outside the contract that existing clients call.

pub(crate) mod levels;
pub(crate) mod skills;
pub(crate) mod tunnels;
