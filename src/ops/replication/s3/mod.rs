//! A client of Amazon's S3 protocol, for one bucket: requests, their limits, and the meaning of responses.

mod bases;
pub(crate) mod folder;
mod sign;
pub(crate) mod upload;
mod xml;

use crate::config::Bucket as Settings;
use crate::keys::hex;
use crate::ops::agent::agent;
use crate::ops::backup::manifest::Manifest;
use crate::ops::outside::too_large;
use http::{HeaderMap, Request, Response, StatusCode};
use sha2::{Digest, Sha256};
use sign::{Signed, Signer, encoded_path, encoded_query};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ureq::config::ConfigBuilder;
use ureq::typestate::HttpCrateScope;
use ureq::{Agent, AsSendBody, Body, SendBody};
use xml::Answer;

const CONNECT_TIME_MAX: Duration = Duration::from_secs(4);
/// The time for a small request. Shorter than the wait for a tick, so that the next second can try again.
const SMALL_TIME_MAX: Duration = Duration::from_secs(8);
/// Bytes a second of the slowest usable line. A large request may take the time that they need.
const SLOWEST_LINE_BYTES: u64 = 128 * 1024;
/// Between two pieces of a file that is read.
const READ_TIME_MAX: Duration = Duration::from_secs(30);
/// A list has a thousand names, each of 1 KiB at most.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;
const CAUSE_LENGTH_MAX: usize = 200;
/// A store refuses requests whose time is so far from its own.
const SKEW_SECONDS: u64 = 900;
/// The pause before the second try; twice as long before each further one.
const PAUSE: Duration = Duration::from_millis(250);

/// How often a request is tried, where a later try may succeed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tries {
    /// Twice, and not again after a timeout: the caller tries again by itself.
    Few = 2,
    /// Five times, with pauses of 4 s in all, so that one part does not make a base fail.
    Many = 5,
}

/// The client of one bucket, and what is known of its service.
pub(crate) struct S3Client {
    settings: Settings,
    /// The error is one line.
    agent: Result<Agent, String>,
    /// The directory for files that are too large for the memory.
    scratch: PathBuf,
    /// Whether the service refuses to overwrite a file; assumed until the opposite is seen.
    keeps_first: AtomicBool,
    /// Whether the service supports the header `if-none-match`.
    knows_header: AtomicBool,
    /// The manifests that were read, by the names of their backups; they never change.
    manifests: Mutex<BTreeMap<String, Manifest>>,
}

/// Why a request did not succeed.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    Missing,
    /// The file is there already, or has changed.
    Exists,
    /// The same request may succeed later.
    Later(String),
    /// The same after a timeout.
    Silent(String),
    Refused(String),
    /// The file is larger than it may be.
    TooLarge(String),
    /// The service does not support the request.
    Unknown(String),
}

/// A request.
pub(super) struct S3Request<'a> {
    pub method: &'static str,
    /// The name within the bucket; empty: the bucket itself.
    pub key: &'a str,
    pub query: &'a [(&'a str, &'a str)],
    pub headers: &'a [(&'static str, &'a str)],
}

/// The body of a request, which can be read again for each try.
pub(super) struct Payload<'p> {
    pub bytes: u64,
    pub sha256: String,
    open: Box<dyn Fn() -> io::Result<Box<dyn Read + 'p>> + 'p>,
}

impl<'p> Payload<'p> {
    pub(super) fn of(bytes: &'p [u8]) -> Payload<'p> {
        Payload {
            bytes: bytes.len() as u64,
            sha256: hex(&Sha256::digest(bytes)),
            open: Box::new(move || Ok(Box::new(bytes))),
        }
    }
}

impl S3Client {
    /// `data`: the data directory.
    pub(crate) fn new(settings: &Settings, data: &Path) -> S3Client {
        S3Client {
            settings: settings.clone(),
            agent: agent(settings.authority.as_deref(), "replica.ca_file", SMALL_TIME_MAX),
            scratch: data.to_owned(),
            keeps_first: AtomicBool::new(true),
            knows_header: AtomicBool::new(true),
            manifests: Mutex::default(),
        }
    }

    fn manifests(&self) -> MutexGuard<'_, BTreeMap<String, Manifest>> {
        self.manifests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the service refuses to overwrite a file, so that two machines cannot overwrite each other's.
    pub(super) fn keeps_first(&self) -> bool {
        self.keeps_first.load(Ordering::Relaxed) && self.knows_header.load(Ordering::Relaxed)
    }

    /// Sends a request, and returns the response with its body unread. Pauses between tries.
    fn send(&self, request: &S3Request, payload: &Payload, tries: Tries) -> Result<Response<Body>, Trouble> {
        let mut pause = PAUSE;
        for _ in 1..tries as u32 {
            match self.send_once(request, payload) {
                Err(Trouble::Later(_)) => {}
                Err(Trouble::Silent(_)) if tries == Tries::Many => {}
                answer => return answer,
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        self.send_once(request, payload)
    }

    /// Sends a request, and returns headers and body of the response.
    fn send_whole(&self, request: &S3Request, payload: &Payload, tries: Tries) -> Result<(HeaderMap, String), Trouble> {
        self.send_limited(request, payload, tries, ANSWER_BYTES_MAX)
    }

    /// The same, for a body of at most `bytes_max` bytes.
    fn send_limited(
        &self,
        request: &S3Request,
        payload: &Payload,
        tries: Tries,
        bytes_max: u64,
    ) -> Result<(HeaderMap, String), Trouble> {
        let (head, mut body) = self.send(request, payload, tries)?.into_parts();
        // The library takes its limit itself for too much.
        let limit = bytes_max.saturating_add(1);
        let text = body.with_config().limit(limit).read_to_vec().map_err(|e| match e {
            ureq::Error::BodyExceedsLimit(_) => Trouble::TooLarge(too_large(bytes_max).to_string()),
            e => self.unreached(&e),
        })?;
        Ok((head.headers, String::from_utf8_lossy(&text).into_owned()))
    }

    fn send_once(&self, request: &S3Request, payload: &Payload) -> Result<Response<Body>, Trouble> {
        let agent = self.agent.as_ref().map_err(|cause| Trouble::Refused(cause.clone()))?;
        let signed = self.signed(request, payload)?;
        let odd = |e: http::Error| Trouble::Refused(e.to_string());
        let answer = if has_body(request) {
            let body = (payload.open)();
            let mut body = body.map_err(|e| Trouble::Later(format!("cannot read what is to be sent: {e}")))?;
            let whole = SMALL_TIME_MAX + Duration::from_secs(payload.bytes / SLOWEST_LINE_BYTES);
            let signed = signed.body(SendBody::from_reader(&mut body)).map_err(odd)?;
            agent.run(limited(agent, signed, whole).timeout_global(Some(whole)).build())
        } else {
            // The time for a whole file is not limited, only that for each piece.
            let whole = Some(SMALL_TIME_MAX).filter(|_| request.method != "GET" || !request.query.is_empty());
            let signed = signed.body(()).map_err(odd)?;
            agent.run(limited(agent, signed, SMALL_TIME_MAX).timeout_global(whole).build())
        };
        self.judged(answer.map_err(|e| self.unreached(&e))?)
    }

    /// The request with address, headers and signature.
    fn signed(&self, request: &S3Request, payload: &Payload) -> Result<http::request::Builder, Trouble> {
        let file = &self.settings.secret_file;
        let secret = crate::files::read_given_text(file)
            .map_err(|e| Trouble::Refused(format!("cannot read {}: {e}", file.display())))?;
        let moment = i64::try_from(crate::clock::since_1970().as_secs()).unwrap_or_default();
        let moment = jiff::Timestamp::from_second(moment).unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string();
        let (origin, host, path) = self.settings.address(request.key);
        let (path, query) = (encoded_path(&path), encoded_query(request.query));
        let mut headers: Vec<(&str, String)> =
            vec![("host", host), ("x-amz-content-sha256", payload.sha256.clone()), ("x-amz-date", moment.clone())];
        headers.extend(request.headers.iter().map(|(name, value)| (*name, (*value).to_owned())));
        headers.sort();
        let signed =
            Signed { method: request.method, path: &path, query: &query, headers: &headers, payload: &payload.sha256 };
        let signer = Signer { key_id: &self.settings.key_id, secret: secret.trim(), region: &self.settings.region };
        let authorization = signed.authorization(&moment, &signer);
        let mark = if query.is_empty() { "" } else { "?" };
        let mut builder = http::Request::builder().method(request.method).uri(format!("{origin}{path}{mark}{query}"));
        for (name, value) in &headers {
            builder = builder.header(*name, value);
        }
        builder = builder.header("authorization", authorization);
        Ok(if has_body(request) { builder.header("content-length", payload.bytes) } else { builder })
    }

    fn unreached(&self, e: &ureq::Error) -> Trouble {
        let text = e.to_string();
        let text = format!("{} is not reached: {}", self.settings.endpoint, text.strip_prefix("io: ").unwrap_or(&text));
        match e {
            ureq::Error::Timeout(_) => Trouble::Silent(text),
            _ => Trouble::Later(text),
        }
    }

    fn judged(&self, mut answer: Response<Body>) -> Result<Response<Body>, Trouble> {
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec().unwrap_or_default();
        let said = Answer::parse(&String::from_utf8_lossy(&body));
        let word = |name: &str| said.as_ref().and_then(|said| said.text(name)).unwrap_or_default().to_owned();
        let code = match word("Code") {
            // A response to HEAD has no body.
            code if code.is_empty() && status == StatusCode::FORBIDDEN => forbidden(answer.headers()).to_owned(),
            code => code,
        };
        Err(trouble(&self.settings.endpoint, status, &code, &word("Message")))
    }
}

/// `response_time_max`: until the response begins.
fn limited<B: AsSendBody>(
    agent: &Agent,
    request: Request<B>,
    response_time_max: Duration,
) -> ConfigBuilder<HttpCrateScope<B>> {
    agent
        .configure_request(request)
        .timeout_connect(Some(CONNECT_TIME_MAX))
        .timeout_resolve(Some(CONNECT_TIME_MAX))
        .timeout_recv_response(Some(response_time_max))
        .timeout_per_read(Some(READ_TIME_MAX))
}

/// Whether the request has a body, perhaps an empty one.
fn has_body(request: &S3Request) -> bool {
    matches!(request.method, "PUT" | "POST")
}

/// The likely code of a refusal without a body: the store's clock is in its response.
fn forbidden(head: &HeaderMap) -> &'static str {
    let date = head.get("date").and_then(|date| jiff::fmt::rfc2822::parse(date.to_str().ok()?).ok());
    let now = crate::clock::since_1970().as_secs().cast_signed();
    match date.map(|date| date.timestamp().as_second().abs_diff(now)) {
        Some(seconds) if seconds >= SKEW_SECONDS => "RequestTimeTooSkewed",
        _ => "AccessDenied",
    }
}

/// The meaning of an error response.
fn trouble(endpoint: &str, status: StatusCode, code: &str, message: &str) -> Trouble {
    let words: String = format!("{code} {message}").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: String = words.trim().chars().take(CAUSE_LENGTH_MAX).collect();
    let next = match code {
        "RequestTimeTooSkewed" => "; the clock of this machine or of the store is wrong",
        "SignatureDoesNotMatch" => "; check the secret in replica.secret_file, and replica.region",
        "InvalidAccessKeyId" => "; check replica.key_id",
        "AccessDenied" => "; the key must be allowed to read, write, list and delete there",
        _ if status.is_redirection() => "; check replica.endpoint and replica.region",
        _ => "",
    };
    let text = format!("{endpoint} answers {status}{}{words}{next}", if words.is_empty() { "" } else { ": " });
    match (status.as_u16(), code) {
        (404, "NoSuchBucket") => Trouble::Refused(text),
        (404, _) => Trouble::Missing,
        (412, _) => Trouble::Exists,
        (501, _) => Trouble::Unknown(text),
        (409 | 408 | 429 | 500.., _) => Trouble::Later(text),
        (400, "RequestTimeout") => Trouble::Later(text),
        _ => Trouble::Refused(text),
    }
}

impl Trouble {
    fn text(self, what: &str) -> String {
        match self {
            Trouble::Missing => format!("{what} is not there"),
            Trouble::Exists => format!("{what} is there already, and is another"),
            Trouble::Later(text) | Trouble::Silent(text) | Trouble::Refused(text) => text,
            Trouble::TooLarge(text) | Trouble::Unknown(text) => text,
        }
    }

    /// `what`: as people name it.
    pub(super) fn into_io(self, what: &dyn std::fmt::Display) -> io::Error {
        let kind = match self {
            Trouble::Missing => io::ErrorKind::NotFound,
            Trouble::Exists => io::ErrorKind::AlreadyExists,
            Trouble::Silent(_) => io::ErrorKind::TimedOut,
            Trouble::TooLarge(_) => io::ErrorKind::FileTooLarge,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self.text(&what.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_tells_whether_another_try_may_succeed() {
        let judge = |status: u16, code| {
            let status = StatusCode::from_u16(status).unwrap();
            trouble("https://s3.example.org", status, code, "because\n of it")
        };
        assert_eq!([judge(404, "NoSuchKey"), judge(412, "")], [Trouble::Missing, Trouble::Exists]);
        for (status, code) in
            [(503, "SlowDown"), (500, ""), (429, ""), (409, "OperationAborted"), (507, ""), (400, "RequestTimeout")]
        {
            assert!(matches!(judge(status, code), Trouble::Later(_)), "{status} {code}");
        }
        for (status, code) in [(403, "AccessDenied"), (404, "NoSuchBucket"), (301, ""), (400, "")] {
            assert!(matches!(judge(status, code), Trouble::Refused(_)), "{status} {code}");
        }
        let Trouble::Refused(text) = judge(403, "RequestTimeTooSkewed") else { panic!() };
        assert!(text.contains("because  of it") && text.ends_with("is wrong"), "{text}");
        let Trouble::Refused(text) = judge(301, "PermanentRedirect") else { panic!() };
        assert!(text.ends_with("; check replica.endpoint and replica.region"), "{text}");
    }

    #[test]
    fn a_refusal_without_a_body_is_laid_to_the_clock_where_that_is_wrong() {
        let now = jiff::Timestamp::now();
        let said = |moment: jiff::Timestamp| {
            let date = moment.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            forbidden(&HeaderMap::from_iter([(http::header::DATE, date.parse().unwrap())]))
        };
        assert_eq!(said(now), "AccessDenied");
        for ahead in [-3_600, 3_600] {
            assert_eq!(said(now + jiff::SignedDuration::from_secs(ahead)), "RequestTimeTooSkewed", "{ahead}");
        }
        assert_eq!(forbidden(&HeaderMap::new()), "AccessDenied");
    }
}
