//! One request to a webhook: signed, sent to an address that may be called, and what became of it.

use crate::app::hooks::Delivered;
use crate::domain::webhook::{self, Trouble};
use crate::keys::{hmac_sha256, random};
use crate::moment::Moment;
use crate::ops::agent;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use ureq::unversioned::resolver::Resolver;
use ureq::{Agent, Error};

const ANSWER_TIME_MAX: Duration = Duration::from_secs(15);
const SECRET_BYTES: usize = 32;
/// What a secret begins with where people see it.
const SECRET_PREFIX: &str = "whsec_";

/// A new secret, and its text.
pub(crate) fn new_secret() -> ([u8; SECRET_BYTES], String) {
    let secret = random::<SECRET_BYTES>();
    (secret, format!("{SECRET_PREFIX}{}", STANDARD.encode(secret)))
}

/// How webhooks are called.
#[derive(Clone)]
pub(super) struct Calls {
    /// Whether addresses without TLS are called: in tests alone.
    pub(super) in_clear: bool,
    pub(super) answer_time_max: Duration,
    pub(super) resolver: Arc<dyn Resolver>,
    /// PEM of the site's own authority, trusted beside the public ones.
    pub(super) authority: Option<Vec<u8>>,
}

/// The clients that call one webhook: each where the certificate is refused by the one before.
pub(super) type Agents = Arc<[Agent]>;

impl Calls {
    pub(super) fn new(authority: Option<Vec<u8>>) -> Calls {
        Calls { in_clear: false, answer_time_max: ANSWER_TIME_MAX, resolver: agent::resolver(), authority }
    }

    /// Clients that call public addresses, and the one that was named; that one under the site's own authority first.
    pub(super) fn agents(&self, named: &str) -> Agents {
        let named: Option<IpAddr> = named.parse().ok();
        let agent = |authority: Option<&[u8]>| {
            let may_call = move |address| webhook::may_call(address, named);
            let (resolver, trusted) = (self.resolver.clone(), (authority, "webhooks.ca_file"));
            let made =
                agent::agent_of_chosen_addresses(resolver, may_call, !self.in_clear, trusted, self.answer_time_max);
            made.inspect_err(|cause| tracing::warn!(cause, "webhooks trust the public authorities alone")).ok()
        };
        let own = || self.authority.as_deref().and_then(|pem| agent(Some(pem)));
        let mut agents: Vec<Agent> = agent(None).into_iter().chain(own()).collect();
        if named.is_some() {
            agents.reverse();
        }
        agents.into()
    }
}

/// A request as it is made.
pub(super) struct Request {
    id: String,
    timestamp: String,
    signature: String,
    body: String,
}

impl Request {
    /// Signs under each secret.
    pub(super) fn signed(id: String, now: Moment, body: String, secrets: &[Vec<u8>]) -> Request {
        let timestamp = now.to_string();
        let sign = |secret: &Vec<u8>| {
            let parts = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body.as_bytes()];
            format!("v1,{}", STANDARD.encode(hmac_sha256(secret, &parts)))
        };
        let signatures: Vec<String> = secrets.iter().map(sign).collect();
        Request { id, timestamp, signature: signatures.join(" "), body }
    }

    /// A test: it tells of nothing.
    pub(super) fn test(site_id: &str, now: Moment, secrets: &[Vec<u8>]) -> Request {
        let id = format!("{site_id}-test-{now}");
        let body = format!(r#"{{"id":"{id}","type":"test","at":{now},"data":{{}}}}"#);
        Request::signed(id, now, body, secrets)
    }

    /// Sends the request.
    pub(super) fn send(&self, agents: &[Agent], url: &str, now: Moment) -> Delivered {
        let mut delivered = Delivered::Refused(Trouble::Internal, None);
        for agent in agents {
            delivered = self.send_by(agent, url, now);
            if delivered != Delivered::Refused(Trouble::Tls, None) {
                break;
            }
        }
        delivered
    }

    /// An answer's body is not read.
    fn send_by(&self, agent: &Agent, url: &str, now: Moment) -> Delivered {
        let request = agent
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", &self.id)
            .header("webhook-timestamp", &self.timestamp)
            .header("webhook-signature", &self.signature);
        match request.send(&self.body) {
            Ok(answer) if webhook::is_taken(answer.status()) => Delivered::Taken,
            Ok(answer) => {
                let value = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
                let pause = value.and_then(|value| webhook::retry_after(value, now));
                Delivered::Refused(Trouble::Answered(answer.status().as_u16()), pause)
            }
            Err(error) => {
                tracing::info!(id = self.id, cause = %error, "a webhook was not taken");
                Delivered::Refused(trouble(&error), None)
            }
        }
    }
}

fn trouble(error: &Error) -> Trouble {
    match error {
        Error::HostNotFound | Error::BadUri(_) => Trouble::NoAddress,
        Error::Timeout(_) => Trouble::Late,
        Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) | Error::RequireHttpsOnly(_) | Error::TlsRequired => {
            Trouble::Tls
        }
        // As which the handshake refuses a certificate.
        Error::Io(cause) if cause.kind() == ErrorKind::InvalidData => Trouble::Tls,
        _ => Trouble::Connection,
    }
}
