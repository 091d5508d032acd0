//! The caller of limits by address.

use std::net::{IpAddr, Ipv6Addr};

/// One caller for all limits by address: an IPv4 address, and of IPv6 the /64 of a household.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Network(IpAddr);

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Network {
        Network(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            address => address,
        })
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
