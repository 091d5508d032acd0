//! The settings of the log.

use super::Settings;
use super::values::{log_addresses, log_format};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Level, format and addresses of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// The least severe messages that are logged.
    pub level: tracing::Level,
    /// Text or JSON.
    pub format: LogFormat,
    /// How much of a caller's address is logged.
    pub addresses: LogAddresses,
}

/// The form of a line of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogFormat {
    /// Text on a terminal, else JSON.
    Auto,
    /// Text, for people.
    Text,
    /// JSON, one object a line.
    Json,
}

/// How much of a caller's address the log has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogAddresses {
    /// The whole address.
    Whole,
    /// An IPv4 address to /24, an IPv6 address to /48.
    Network,
    /// No address.
    None,
}

impl LogAddresses {
    /// The part of an address that the log shows; `None`: nothing.
    pub(crate) fn reduce(self, address: IpAddr) -> Option<IpAddr> {
        match (self, address) {
            (LogAddresses::None, _) => None,
            (LogAddresses::Whole, address) => Some(address),
            (LogAddresses::Network, IpAddr::V4(v4)) => Some(Ipv4Addr::from_bits(v4.to_bits() & (!0 << 8)).into()),
            (LogAddresses::Network, IpAddr::V6(v6)) => Some(Ipv6Addr::from_bits(v6.to_bits() & (!0 << 80)).into()),
        }
    }
}

impl Settings {
    pub(super) fn log(&mut self) -> Log {
        Log {
            level: self
                .text("log.level", |s| s.parse().map_err(|_| "is not one of error, warn, info, debug, trace"))
                .unwrap_or(tracing::Level::INFO),
            format: self.text("log.format", log_format).unwrap_or(LogFormat::Auto),
            addresses: self.text("log.addresses", log_addresses).unwrap_or(LogAddresses::Whole),
        }
    }
}
