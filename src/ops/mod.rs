//! Operations: a site's life cycle, backups, health, certificates and the service manager.

pub(crate) mod agent;
pub mod audit;
pub(crate) mod audit_end;
pub(crate) mod backup;
pub(crate) mod digest;
pub(crate) mod erasure;
pub(crate) mod footprint;
pub mod health;
mod levels;
pub mod lifecycle;
pub(crate) mod on_demand;
pub(crate) mod outside;
pub mod replication;
mod rotation;
pub(crate) mod shutdown;
pub(crate) mod signature;
pub(crate) mod space;
pub mod standby;
pub(crate) mod systemd;
pub mod tls;
pub(crate) mod upstream;

/// The progress of long work: the name of its present step, how much of it is done, and how much there is in all.
pub(crate) type Progress<'p> = dyn FnMut(&str, u64, u64) + 'p;

#[cfg(test)]
pub(crate) mod tests;
