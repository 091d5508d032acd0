//! A bucket of a store that speaks Amazon's S3: requests, their limits, and what their answers mean.

mod bases;
pub(crate) mod folder;
mod sign;
pub(crate) mod upload;
mod xml;

use crate::config::Bucket as Settings;
use crate::keys::hex;
use crate::ops::agent::agent;
use crate::ops::backup::manifest::Manifest;
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
/// For a whole request with little to carry. Shorter than what a tick is waited for, so that the next second can try again.
const SMALL_TIME_MAX: Duration = Duration::from_secs(8);
/// Bytes a second of a line that is still of use: a request that carries more may take longer.
const SLOWEST_LINE_BYTES: u64 = 128 * 1024;
/// Between two pieces of a file that is read.
const READ_TIME_MAX: Duration = Duration::from_secs(30);
/// A list has a thousand names, each of 1 KiB at most.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;
const CAUSE_LENGTH_MAX: usize = 200;
/// The pause before the second try; twice as long before each further one.
const PAUSE: Duration = Duration::from_millis(250);

/// How often a request is made until it succeeds, where the store may do better the next time.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tries {
    /// Twice, and not again where the first one took its time: whoever asks comes back by itself.
    Few = 2,
    /// Five times, with pauses of 4 s in all: a base is not begun anew for one part.
    Many = 5,
}

/// The store, and what is remembered of it.
pub(crate) struct Store {
    settings: Settings,
    /// Or why there is none, in one line.
    agent: Result<Agent, String>,
    /// For what is too large for the memory.
    scratch: PathBuf,
    /// Whether it refuses a file that is there already; until it is known that it does not, it counts as if.
    keeps_first: AtomicBool,
    /// Whether it knows the header by which it is asked to.
    knows_header: AtomicBool,
    /// The manifests that were read, which nobody writes twice, by the names of their backups.
    manifests: Mutex<BTreeMap<String, Manifest>>,
}

/// Why a request did not succeed.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    Missing,
    /// The file is there already, or is not the one that was spoken of.
    Exists,
    /// For the moment: the same request may succeed later.
    Later(String),
    /// The same as that, after a long wait.
    Silent(String),
    Refused(String),
    /// The store does not know something that it was asked for.
    Unknown(String),
}

/// A request.
pub(super) struct Ask<'a> {
    pub method: &'static str,
    /// Within the bucket; empty: the bucket itself.
    pub key: &'a str,
    pub query: &'a [(&'a str, &'a str)],
    pub headers: &'a [(&'static str, &'a str)],
}

/// The body of a request, which can be read as often as it is sent.
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

impl Store {
    /// `data`: the site's own directory.
    pub(crate) fn new(settings: &Settings, data: &Path) -> Store {
        Store {
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

    /// Whether the store itself refuses to replace a file: two machines cannot overwrite each other's there.
    pub(super) fn keeps_first(&self) -> bool {
        self.keeps_first.load(Ordering::Relaxed) && self.knows_header.load(Ordering::Relaxed)
    }

    /// The answer, whose body is still to be read. Waits between tries.
    fn ask(&self, ask: &Ask, payload: &Payload, tries: Tries) -> Result<Response<Body>, Trouble> {
        let mut pause = PAUSE;
        for _ in 1..tries as u32 {
            match self.ask_once(ask, payload) {
                Err(Trouble::Later(_)) => {}
                Err(Trouble::Silent(_)) if tries == Tries::Many => {}
                answer => return answer,
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        self.ask_once(ask, payload)
    }

    /// The same with the whole body.
    fn ask_whole(&self, ask: &Ask, payload: &Payload, tries: Tries) -> Result<(HeaderMap, String), Trouble> {
        let (head, mut body) = self.ask(ask, payload, tries)?.into_parts();
        let text = body.with_config().limit(ANSWER_BYTES_MAX).read_to_vec().map_err(|e| self.unreached(&e))?;
        Ok((head.headers, String::from_utf8_lossy(&text).into_owned()))
    }

    fn ask_once(&self, ask: &Ask, payload: &Payload) -> Result<Response<Body>, Trouble> {
        let agent = self.agent.as_ref().map_err(|cause| Trouble::Refused(cause.clone()))?;
        let request = self.signed(ask, payload)?;
        let odd = |e: http::Error| Trouble::Refused(e.to_string());
        let answer = if carries(ask) {
            let body = (payload.open)();
            let mut body = body.map_err(|e| Trouble::Later(format!("cannot read what is to be sent: {e}")))?;
            let whole = SMALL_TIME_MAX + Duration::from_secs(payload.bytes / SLOWEST_LINE_BYTES);
            let request = request.body(SendBody::from_reader(&mut body)).map_err(odd)?;
            agent.run(limited(agent, request, whole).timeout_global(Some(whole)).build())
        } else {
            // A file is read for as long as it comes.
            let whole = Some(SMALL_TIME_MAX).filter(|_| ask.method != "GET" || !ask.query.is_empty());
            let request = request.body(()).map_err(odd)?;
            agent.run(limited(agent, request, SMALL_TIME_MAX).timeout_global(whole).build())
        };
        self.judged(answer.map_err(|e| self.unreached(&e))?)
    }

    /// With its address, its headers and the signature of both.
    fn signed(&self, ask: &Ask, payload: &Payload) -> Result<http::request::Builder, Trouble> {
        let file = &self.settings.secret_file;
        let secret = std::fs::read_to_string(file)
            .map_err(|e| Trouble::Refused(format!("cannot read {}: {e}", file.display())))?;
        let moment = i64::try_from(crate::clock::since_1970().as_secs()).unwrap_or_default();
        let moment = jiff::Timestamp::from_second(moment).unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string();
        let (origin, host, path) = self.settings.address(ask.key);
        let (path, query) = (encoded_path(&path), encoded_query(ask.query));
        let mut headers: Vec<(&str, String)> =
            vec![("host", host), ("x-amz-content-sha256", payload.sha256.clone()), ("x-amz-date", moment.clone())];
        headers.extend(ask.headers.iter().map(|(name, value)| (*name, (*value).to_owned())));
        headers.sort();
        let signed =
            Signed { method: ask.method, path: &path, query: &query, headers: &headers, payload: &payload.sha256 };
        let signer = Signer { key_id: &self.settings.key_id, secret: secret.trim(), region: &self.settings.region };
        let authorization = signed.authorization(&moment, &signer);
        let mark = if query.is_empty() { "" } else { "?" };
        let mut request = http::Request::builder().method(ask.method).uri(format!("{origin}{path}{mark}{query}"));
        for (name, value) in &headers {
            request = request.header(*name, value);
        }
        request = request.header("authorization", authorization);
        Ok(if carries(ask) { request.header("content-length", payload.bytes) } else { request })
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
        Err(trouble(&self.settings.endpoint, status, &word("Code"), &word("Message")))
    }
}

/// `patience`: until the answer begins.
fn limited<B: AsSendBody>(agent: &Agent, request: Request<B>, patience: Duration) -> ConfigBuilder<HttpCrateScope<B>> {
    agent
        .configure_request(request)
        .timeout_connect(Some(CONNECT_TIME_MAX))
        .timeout_resolve(Some(CONNECT_TIME_MAX))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(READ_TIME_MAX))
}

/// Whether the request has a body, be it empty.
fn carries(ask: &Ask) -> bool {
    matches!(ask.method, "PUT" | "POST")
}

/// What an answer that is no success means.
fn trouble(endpoint: &str, status: StatusCode, code: &str, message: &str) -> Trouble {
    let words: String = format!("{code} {message}").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: String = words.trim().chars().take(CAUSE_LENGTH_MAX).collect();
    // An answer to HEAD has no body.
    let next = match if code.is_empty() && status == StatusCode::FORBIDDEN { "AccessDenied" } else { code } {
        "RequestTimeTooSkewed" => "; the clock of this machine or of the store is wrong",
        "SignatureDoesNotMatch" => "; check the secret in replica.secret_file, and replica.region",
        "InvalidAccessKeyId" => "; check replica.key_id",
        "AccessDenied" => "; the key must be allowed to read, write, list and delete there",
        _ => "",
    };
    let text = format!("{endpoint} answers {status}{}{words}{next}", if words.is_empty() { "" } else { ": " });
    match (status.as_u16(), code) {
        (404, "NoSuchBucket") => Trouble::Refused(text),
        (404, _) => Trouble::Missing,
        (412, _) => Trouble::Exists,
        // Somebody else writes the same file at this moment.
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
            Trouble::Later(text) | Trouble::Silent(text) | Trouble::Refused(text) | Trouble::Unknown(text) => text,
        }
    }

    /// `what`: as people name it.
    pub(super) fn into_io(self, what: &dyn std::fmt::Display) -> io::Error {
        let kind = match self {
            Trouble::Missing => io::ErrorKind::NotFound,
            Trouble::Exists => io::ErrorKind::AlreadyExists,
            Trouble::Silent(_) => io::ErrorKind::TimedOut,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self.text(&what.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_whether_another_try_may_help() {
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
    }
}
