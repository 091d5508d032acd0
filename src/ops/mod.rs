//! What keeps a site running: its life cycle, backups, health, certificates and the service manager.

pub mod asking;
pub mod audit;
pub mod backup;
pub mod ending;
pub mod erasure;
pub mod footprint;
pub mod health;
mod levels;
pub mod lifecycle;
mod rotation;
pub mod systemd;
pub mod tls;
pub mod upstream;
