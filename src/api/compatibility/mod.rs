//! Operations that existing clients call beside the contract's.

pub(crate) mod levels;
pub(crate) mod skills;
pub(crate) mod tunnels;
