//! Operations that existing clients call beside the contract's.

pub mod levels;
pub mod skills;
pub mod tunnels;
