//! What keeps a site running: its life cycle, backups, health, certificates and the service manager.

pub mod asking;
pub mod audit;
pub mod backup;
pub mod ending;
pub mod footprint;
pub mod health;
pub mod levels;
pub mod pace;
pub mod rotation;
pub mod systemd;
pub mod tls;
pub mod watchdog;
