//! Callers: with a session, a booking token, a partner's signature, or no credentials.

use super::Reply;
use super::description::DESCRIPTION;
use super::endpoint::Endpoint;
use super::senders::{mail_signature, payment_signature};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderValue, Method};
use serde::Serialize;
use sha2::Sha256;
use std::time::{Duration, Instant};
use tunneldesk::keys::{hex, random};

const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// The time to serve a crowd of requests, on a busy machine.
const BUSY_TIME_MAX: Duration = Duration::from_secs(120);

/// The paths of a partner's own bookings, whose requests are signed whole.
const WHOLLY_SIGNED: [&str; 2] = ["/api/external/partner-metrics/bookings", "/api/events"];

/// An HTTP client for one server: its connections are kept for as long as the server lives, and all callers of the
/// server share them. The next server may get the port of one that has ended, so each has its own client.
pub fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .allow_non_standard_methods(true)
        .timeout_global(Some(ANSWER_TIME_MAX))
        .user_agent("it")
        .max_idle_connections_per_host(2);
    config.build().new_agent()
}

/// A request as sent, without credentials.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    /// The path from the first slash on, with the query.
    pub path: String,
    pub headers: Vec<(String, HeaderValue)>,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone)]
pub enum Credential {
    None,
    /// A token in the header of this name, after this prefix.
    Token {
        header: &'static str,
        prefix: &'static str,
        token: String,
    },
    Partner {
        client_id: String,
        secret: String,
        strict: bool,
    },
    /// The payment processor's signature, at the site's time.
    Processor {
        secret: String,
    },
    MailProvider {
        key: String,
        /// The address that the provider believes it calls.
        url: String,
    },
}

#[derive(Clone)]
pub struct Caller {
    /// The member's number; 0 for a caller who is not a member.
    pub id: i64,
    pub name: String,
    pub credential: Credential,
    endpoint: Endpoint,
}

/// A request being built.
#[must_use]
pub struct Asking<'a> {
    caller: &'a Caller,
    request: Request,
}

impl Request {
    /// `path` as sent.
    pub fn new(method: &Method, path: &str) -> Request {
        Request { method: method.clone(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Request {
        let value = HeaderValue::from_str(value).expect("a test's header is one");
        self.headers.push((name.to_owned(), value));
        self
    }

    pub fn json(mut self, body: &impl Serialize) -> Request {
        self.body = serde_json::to_vec(body).unwrap();
        self.header("content-type", "application/json")
    }
}

impl Caller {
    pub fn new(endpoint: Endpoint, id: i64, name: &str, credential: Credential) -> Caller {
        Caller { id, name: name.to_owned(), credential, endpoint }
    }

    /// The same caller with another credential.
    pub fn with(&self, credential: Credential) -> Caller {
        Caller { credential, ..self.clone() }
    }

    /// The token that the caller carries.
    pub fn token(&self) -> &str {
        match &self.credential {
            Credential::Token { token, .. } => token,
            other => panic!("{other:?} is no token"),
        }
    }

    /// The partner's `client-id`.
    pub fn client_id(&self) -> &str {
        match &self.credential {
            Credential::Partner { client_id, .. } => client_id,
            other => panic!("{other:?} is no partner"),
        }
    }

    pub fn secret(&self) -> &str {
        match &self.credential {
            Credential::Partner { secret, .. } => secret,
            other => panic!("{other:?} is no partner"),
        }
    }

    /// Begins a request to an operation, by its path in the contract.
    pub fn ask(&self, method: Method, path: &str) -> Asking<'_> {
        self.ask_at_root(method, &format!("/api{path}"))
    }

    pub fn ask_at_root(&self, method: Method, path: &str) -> Asking<'_> {
        Asking { caller: self, request: Request::new(&method, path) }
    }

    pub fn get(&self, path: &str) -> Reply {
        self.ask(Method::GET, path).send()
    }

    pub fn post(&self, path: &str, body: impl Serialize) -> Reply {
        self.ask(Method::POST, path).json(&body).send()
    }

    pub fn put(&self, path: &str, body: impl Serialize) -> Reply {
        self.ask(Method::PUT, path).json(&body).send()
    }

    pub fn delete(&self, path: &str) -> Reply {
        self.ask(Method::DELETE, path).send()
    }

    /// The headers that authenticate the caller, for a request with exactly these bytes.
    pub fn proof(&self, method: &Method, path: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        match &self.credential {
            Credential::None => Vec::new(),
            Credential::Token { header, prefix, token } => vec![(*header, format!("{prefix}{token}"))],
            Credential::Processor { secret } => {
                vec![("stripe-signature", payment_signature(secret, self.endpoint.clock().now().0, body))]
            }
            Credential::MailProvider { key, url } => vec![("x-mandrill-signature", mail_signature(key, url, body))],
            Credential::Partner { client_id, secret, .. }
                if WHOLLY_SIGNED.iter().any(|begin| path.starts_with(begin)) =>
            {
                let (now, nonce) = (self.endpoint.clock().now(), hex(&random::<16>()));
                let line = format!("{now}.{nonce}.{method} {path}.");
                let token = sign(secret, &[line.as_bytes(), body].concat());
                let stamps = [("x-timestamp", now.to_string()), ("x-nonce", nonce), ("token", token)];
                [("client-id", client_id.clone())].into_iter().chain(stamps).collect()
            }
            Credential::Partner { client_id, secret, strict } => {
                let mut headers = vec![("client-id", client_id.clone())];
                let mut stamp = String::new();
                if *strict {
                    let timestamp = self.endpoint.clock().now().to_string();
                    stamp = format!("{timestamp}.");
                    headers.push(("x-timestamp", timestamp));
                }
                headers.push(("token", sign(secret, &[stamp.as_bytes(), body].concat())));
                headers
            }
        }
    }

    /// Sends the request with this caller's credentials. A slow machine is busy at times, and has done nothing then: the
    /// request is sent again.
    pub fn send(&self, request: &Request) -> Reply {
        let until = Instant::now() + BUSY_TIME_MAX;
        loop {
            let reply = self.send_once(request);
            if !reply.is_busy() || Instant::now() > until {
                return reply;
            }
            self.endpoint.count_busy();
        }
    }

    fn send_once(&self, request: &Request) -> Reply {
        let url = format!("http://{}{}", self.endpoint.address(), request.path);
        let mut outgoing = http::Request::builder().method(&request.method).uri(&url);
        for (name, value) in self.proof(&request.method, &request.path, &request.body) {
            outgoing = outgoing.header(name, value);
        }
        for (name, value) in &request.headers {
            outgoing = outgoing.header(name, value);
        }
        let asked = format!("{} {}", request.method, request.path);
        let agent = self.endpoint.agent();
        let outcome = if request.body.is_empty() {
            agent.run(outgoing.body(()).unwrap())
        } else {
            agent.run(outgoing.body(request.body.clone()).unwrap())
        };
        let mut response = outcome.unwrap_or_else(|e| panic!("{asked} was not answered: {e}"));
        let body = response.body_mut().read_to_vec().unwrap_or_else(|e| panic!("{asked}: the answer broke off: {e}"));
        let reply = Reply { status: response.status().as_u16(), headers: response.headers().clone(), body, asked };
        DESCRIPTION.check(request.method.as_str(), &request.path, &reply.unpacked());
        reply
    }
}

impl Asking<'_> {
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub fn json(mut self, body: &impl Serialize) -> Self {
        self.request = self.request.json(body);
        self
    }

    /// Sets a body without a content type.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.request.body = body.into();
        self
    }

    #[track_caller]
    pub fn send(self) -> Reply {
        self.caller.send(&self.request)
    }
}

/// HMAC-SHA256 in lower-case hex, implemented separately from the product's, which it checks.
pub fn sign(secret: &str, body: &[u8]) -> String {
    hmac_sha256(secret, body).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn hmac_sha256(secret: &str, body: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    mac.finalize().into_bytes().into()
}
