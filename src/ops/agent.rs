//! The HTTP client for other servers: with timeouts, without redirects, and without a proxy of the environment.

use http::Uri;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use ureq::config::{Config, ConfigBuilder};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);

/// `authority` is PEM, trusted instead of the public ones; `named`: the setting's name in the error, which is one line.
pub(crate) fn agent(authority: Option<&[u8]>, named: &str, answer_time_max: Duration) -> Result<Agent, String> {
    Ok(built(trusting(authority, named)?, answer_time_max))
}

fn trusting(authority: Option<&[u8]>, named: &str) -> Result<TlsConfig, String> {
    let mut tls = TlsConfig::builder();
    if let Some(pem) = authority {
        let items =
            parse_pem(pem).collect::<Result<Vec<_>, _>>().map_err(|e| format!("{named} cannot be used: {e}"))?;
        let certificate = |item| if let PemItem::Certificate(certificate) = item { Some(certificate) } else { None };
        let certificates: Vec<Certificate<'static>> = items.into_iter().filter_map(certificate).collect();
        tls = tls.root_certs(RootCerts::new_with_certs(&certificates));
    }
    Ok(tls.build())
}

/// A client for a question that carries nothing secret, and whose answer decides nothing alone.
pub(crate) fn agent_that_trusts_all(answer_time_max: Duration) -> Agent {
    built(TlsConfig::builder().disable_verification(true).build(), answer_time_max)
}

fn built(tls: TlsConfig, answer_time_max: Duration) -> Agent {
    config(tls, answer_time_max).build().new_agent()
}

fn config(tls: TlsConfig, answer_time_max: Duration) -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .tls_config(tls)
        .timeout_connect(Some(CONNECT_TIME_MAX))
        .timeout_global(Some(answer_time_max))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .user_agent("tunneldesk")
}

/// A client for addresses that others chose. A connection goes to an address of one answer of the resolver, and each is asked for
/// before: a name that leads elsewhere later, or at the next question, leads nowhere. No connection is kept. `authority` as for
/// [`agent`], with the setting's name.
pub(crate) fn agent_of_chosen_addresses(
    resolver: Arc<dyn Resolver>,
    may_call: impl Fn(IpAddr) -> bool + Send + Sync + 'static,
    https_only: bool,
    (authority, named): (Option<&[u8]>, &str),
    answer_time_max: Duration,
) -> Result<Agent, String> {
    let config = config(trusting(authority, named)?, answer_time_max).https_only(https_only).max_idle_connections(0);
    let choosing = Choosing { resolver, may_call: Box::new(may_call) };
    Ok(Agent::with_parts(config.build(), DefaultConnector::default(), choosing))
}

/// The resolver of the machine.
pub(crate) fn resolver() -> Arc<dyn Resolver> {
    Arc::new(DefaultResolver::default())
}

/// Resolves names to those addresses alone that may be called.
struct Choosing {
    resolver: Arc<dyn Resolver>,
    may_call: Box<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

impl std::fmt::Debug for Choosing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Choosing")
    }
}

impl Resolver for Choosing {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut chosen = self.empty();
        // The machine's resolver says as a fault of reading that nobody has the name.
        let found = self.resolver.resolve(uri, config, timeout).map_err(|error| match error {
            Error::Io(_) => Error::HostNotFound,
            other => other,
        })?;
        for address in &found {
            if (self.may_call)(address.ip()) {
                chosen.push(*address);
            }
        }
        if chosen.is_empty() { Err(Error::HostNotFound) } else { Ok(chosen) }
    }
}
