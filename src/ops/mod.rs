//! Operations: a site's life cycle, backups, health, certificates and the service manager.

pub(crate) mod agent;
pub mod audit;
pub(crate) mod audit_end;
pub(crate) mod backup;
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
pub mod standby;
pub(crate) mod systemd;
pub mod tls;
pub(crate) mod upstream;

#[cfg(test)]
pub(crate) mod tests;
