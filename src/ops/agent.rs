//! The HTTP client for other servers: with timeouts, without redirects, and without a proxy of the environment.

use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);

/// `authority` is PEM, trusted instead of the public ones; `named`: the setting's name in the error, which is one line.
pub(crate) fn agent(authority: Option<&[u8]>, named: &str, answer_time_max: Duration) -> Result<Agent, String> {
    let mut tls = TlsConfig::builder();
    if let Some(pem) = authority {
        let items =
            parse_pem(pem).collect::<Result<Vec<_>, _>>().map_err(|e| format!("{named} cannot be used: {e}"))?;
        let certificate = |item| if let PemItem::Certificate(certificate) = item { Some(certificate) } else { None };
        let certificates: Vec<Certificate<'static>> = items.into_iter().filter_map(certificate).collect();
        tls = tls.root_certs(RootCerts::new_with_certs(&certificates));
    }
    Ok(built(tls.build(), answer_time_max))
}

/// A client for a question that carries nothing secret, and whose answer decides nothing alone.
pub(crate) fn agent_that_trusts_all(answer_time_max: Duration) -> Agent {
    built(TlsConfig::builder().disable_verification(true).build(), answer_time_max)
}

fn built(tls: TlsConfig, answer_time_max: Duration) -> Agent {
    let config = Agent::config_builder()
        .tls_config(tls)
        .timeout_connect(Some(CONNECT_TIME_MAX))
        .timeout_global(Some(answer_time_max))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .user_agent("tunneldesk");
    config.build().new_agent()
}
