//! The `Host` of a request, and the client's address behind our own proxies.

use super::{HttpService, Peer};
use crate::http::call;
use crate::http::failure::Failure;
use crate::http::forwarded;
use crate::i18n::language::Text;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, Version, header};
use std::borrow::Cow;
use std::net::IpAddr;

/// The refusal of a request that must name its host.
pub(super) fn no_host() -> Failure {
    Failure::bad_request().saying(Text::new("bad_request.target"))
}

/// The name that the browser typed, where a proxy passes on another.
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// The address that a host is written as.
fn address_of(name: &str) -> Option<IpAddr> {
    name.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether the internet does not route the address, which then belongs to this machine or to the hall's network.
fn is_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            v4.is_private() || v4.is_loopback() || v4.is_link_local() || is_shared
        }
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

impl HttpService {
    /// The peer of a connection.
    pub(in crate::server) fn peer(&self, address: IpAddr) -> Peer {
        let address = address.to_canonical();
        Peer { address, log_address: self.log_addresses.reduce(address).map(|reduced| reduced.to_string()) }
    }

    /// Accepts only our names and bare addresses. A foreign page can point its own name at this server (DNS rebinding), but
    /// cannot choose the `Host` that the browser sends. HTTP/1.0, which no browser speaks and many health checks do, has none.
    pub(super) fn check_host(&self, version: Version, headers: &HeaderMap) -> Result<(), Failure> {
        let Some(host) = headers.get(header::HOST) else {
            return if version < Version::HTTP_11 { Ok(()) } else { Err(no_host()) };
        };
        let name = call::host_name(host.to_str().map_err(|_| no_host())?);
        if address_of(&name).is_some() || name == "localhost" || self.config.names.contains(&name) {
            Ok(())
        } else {
            Err(Failure::unknown_host())
        }
    }

    /// Whether the caller comes from the internet, where it reaches the site: by a name that it knows, by an address of its own,
    /// or by no name. The target and the headers must all be the hall's own, since a proxy may have judged any of them. Where a
    /// proxy passes on a name of its own choice, the caller's address tells; one of IPv6 does not, because the machines of a
    /// hall have such too.
    pub(super) fn is_from_home(&self, caller: IpAddr, target: &Uri, headers: &HeaderMap) -> bool {
        if self.config.public_names.is_empty() {
            return false;
        }
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().trim().to_owned();
        let host = headers.get(header::HOST).map(text);
        let target = target.authority().map(|authority| authority.as_str().to_owned());
        let mut named = host.into_iter().chain(target).peekable();
        let is_far = matches!(caller.to_canonical(), IpAddr::V4(_)) && !is_local(caller);
        is_far
            || named.peek().is_none()
            || named
                .chain(headers.get(FORWARDED_HOST).map(text))
                .any(|name| self.is_of_the_internet(&call::host_name(&name)))
    }

    fn is_of_the_internet(&self, name: &str) -> bool {
        match address_of(name) {
            Some(address) => !is_local(address),
            None => self.config.public_names.iter().any(|public| public == name),
        }
    }

    /// The redirect to the same address over https.
    pub(super) fn redirect_to_https(&self, head: &http::request::Parts) -> Failure {
        let Some(host) = head.headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return no_host() };
        let port = match self.secure_port {
            443 => String::new(),
            port => format!(":{port}"),
        };
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        Failure::insecure().at(format!("https://{}{port}{path}", call::host_name(host)))
    }

    /// Whether the address is a proxy of ours.
    pub(in crate::server) fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.iter().any(|network| network.contains(&address.to_canonical()))
    }

    /// The last address before our own proxies. `X-Forwarded-For` is read from the right, because clients can write the left
    /// part; a value that is no address ends the search.
    pub(super) fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut caller = peer;
        for one in forwarded::list(headers).into_iter().rev() {
            let Some(address) = one.filter(|_| self.is_proxy(caller)) else { break };
            caller = address;
        }
        caller
    }

    /// The caller's address as the log shows it. That of the connection is formatted once.
    pub(super) fn log_address<'p>(&self, peer: &'p Peer, caller: IpAddr) -> Option<Cow<'p, str>> {
        if caller == peer.address {
            return peer.log_address.as_deref().map(Cow::Borrowed);
        }
        self.log_addresses.reduce(caller).map(|reduced| Cow::Owned(reduced.to_string()))
    }
}
