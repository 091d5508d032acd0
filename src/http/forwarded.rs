//! Whom proxies name as the caller of a request.

use http::{HeaderMap, HeaderName};
use std::net::IpAddr;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The addresses in `X-Forwarded-For`, in their order; `None` for what is no address.
pub(crate) fn list(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let lines = headers.get_all(FORWARDED_FOR).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|one| node_address(one).map(|address| address.to_canonical())).collect()
}

/// The address of a node as proxies write it (RFC 7239 6): alone, with a port, or in brackets.
fn node_address(node: &str) -> Option<IpAddr> {
    let node = node.trim().trim_matches('"');
    if let Some(rest) = node.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let is_whole = port.is_empty() || port.strip_prefix(':').is_some_and(|port| is_port(port.as_bytes()));
        return address.parse().ok().filter(|_| is_whole);
    }
    node.parse().ok().or_else(|| {
        let (address, port) = node.split_once(':')?;
        address.parse().ok().filter(|_| is_port(port.as_bytes()))
    })
}

fn is_port(text: &[u8]) -> bool {
    (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::node_address;

    #[test]
    fn an_address_is_read_with_a_port_and_in_brackets() {
        for (node, address) in [
            ("203.0.113.7", "203.0.113.7"),
            (" 203.0.113.7:51234", "203.0.113.7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("\"[2001:db8::7]:4711\"", "2001:db8::7"),
        ] {
            assert_eq!(node_address(node), Some(address.parse().unwrap()), "{node}");
        }
        for other in [
            "",
            "unknown",
            "_hidden",
            "203.0.113.7:",
            "203.0.113.7:x",
            "[2001:db8::7",
            "[2001:db8::7]x",
            "[::1]:123456",
        ] {
            assert_eq!(node_address(other), None, "{other}");
        }
    }
}
