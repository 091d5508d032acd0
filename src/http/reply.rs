//! Replies: the only place that writes JSON and the error envelope.

use crate::domain::event::{Audience, Choice};
use crate::domain::ids::{KioskId, MemberId, PartnerId};
use crate::http::answer::{FieldOfAnswer, Sometimes, True};
use crate::http::call::{Call, Page};
use crate::http::chunks::Chunks;
use crate::http::failure::Failure;
use crate::http::field_types::Count;
use crate::i18n::language::Language;
use crate::keys::hex_into;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::time::Duration;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ETAG_BYTES: usize = 16;
/// The ending of a compressed body's ETag.
const PACKED: &str = "-gzip";
/// The initial capacity, which fits most answers. From 1024 bytes on malloc is slower.
const JSON_BYTES_USUAL: usize = 1000;
const HEADERS_USUAL: usize = 6;
/// A list ends after this many bytes, even with fewer rows than the limit. About the size of 5,000 rows with a comment of
/// 1,000 characters each.
const LIST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The total number of rows of a list.
const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");

/// An answer, before the server adds its own headers.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers of the operation.
    pub headers: HeaderMap,
    /// The body, or its beginning where `rest` follows.
    pub body: Bytes,
    /// The compressed body, where it was compressed once for all clients.
    pub packed: Option<Bytes>,
    /// The remaining chunks of a long text.
    pub(crate) rest: Option<Chunks>,
    /// The listener to whom the server sends events after the body.
    pub(crate) listener: Option<Listener>,
}

/// Who listens to what the server sends after the body.
#[derive(Debug, Clone)]
pub(crate) struct Listener {
    pub holder: Holder,
    /// The ticket by which it listens.
    pub ticket: Option<TicketHash>,
    pub hears: Hears,
}

/// The hash of a ticket.
pub(crate) type TicketHash = [u8; 32];

/// Whose stream it is: a stream ends with its holder's session or access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A session, by the hash of its token; `staff`: the stream ends too when its member is none of the staff any more.
    Session { member_id: MemberId, session: [u8; 32], staff: bool },
    /// A partner, by number, the number of the secret that signed, and from where.
    Partner { partner_id: PartnerId, secret_id: i64, peer: IpAddr },
    /// A board, by number.
    Board(KioskId),
    /// The guest of a kiosk.
    Guest { kiosk_id: KioskId, member_id: MemberId },
}

/// What a listener hears.
#[derive(Debug, Clone)]
pub(crate) enum Hears {
    /// That something changed which an open page shows, and no more: what is about a member, or what the pages of the hall show.
    Changes { of: Option<MemberId> },
    /// Events after a number, then live, as a stream; `None`: live alone.
    Events { audience: Audience, choice: Choice, after: Option<i64> },
    /// At most `limit` events after a number, as one answer within a time.
    Next { audience: Audience, choice: Choice, after: i64, limit: i64, within: Duration },
}

crate::answer! {
    /// A page of a report.
    pub(crate) inline struct Report<K> {
        status: True,
        /// Rows in all.
        total: Count = 1,
        /// Rows of this answer, at most.
        limit: Count = 10,
        /// Rows that were left out before these.
        offset: Count = 0,
        data: Vec<K>,
    }
}

/// A JSON array under construction, written row by row, so that a long list is in memory once.
pub(crate) struct Rows {
    text: Vec<u8>,
    count: i64,
}

crate::answer! {
    /// Nothing to say but that it was done.
    pub(crate) struct Done {
        /// Whether it was done.
        status: bool = true,
        /// What happened, in the caller's language.
        message: String,
    }
}

/// 200 with JSON.
pub(crate) fn ok(body: &impl Serialize) -> Reply {
    json(StatusCode::OK, body)
}

/// 201 with JSON.
pub(crate) fn created(body: &impl Serialize) -> Reply {
    json(StatusCode::CREATED, body)
}

/// 200 with a message.
pub(crate) fn done(message: String) -> Reply {
    ok(&Done { status: true, message })
}

/// 200 with one page of a report.
pub(crate) fn report<K: FieldOfAnswer>(total: i64, page: Page, data: Vec<K::Value>) -> Reply {
    ok(&Report::<K> { status: true, total, limit: page.limit, offset: page.offset, data })
}

/// 200 with the rows of a page, of `total` rows in all.
pub(crate) fn list(call: &Call, page: Page, total: i64, rows: impl IntoIterator<Item: Serialize>) -> Reply {
    let mut list = Rows::begin();
    for row in rows {
        if list.push(&row).is_break() {
            break;
        }
    }
    list.finish(call, page, total)
}

/// 200 with a page of a list that is in memory as a whole.
pub(crate) fn part<T: Serialize>(call: &Call, page: Page, rows: Vec<T>) -> Reply {
    let total = rows.len() as i64;
    let shown = rows.into_iter().skip(page.offset.min(total) as usize).take(page.limit as usize);
    list(call, page, total, shown)
}

impl Rows {
    pub(crate) fn begin() -> Rows {
        Rows { text: vec![b'['], count: 0 }
    }

    /// Writes a row. `Break`: the answer has reached its limit, and further rows belong to the next page.
    pub(crate) fn push(&mut self, row: &impl Serialize) -> ControlFlow<()> {
        if self.count > 0 {
            self.text.push(b',');
        }
        serde_json::to_writer(&mut self.text, row).expect("our own structs can be written as JSON");
        self.count += 1;
        if self.text.len() < LIST_BYTES_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// 200 with the written rows, which begin at the page's offset, their total number, and a link to the next page.
    pub(crate) fn finish(mut self, call: &Call, page: Page, total: i64) -> Reply {
        self.text.push(b']');
        let mut reply = json_again(StatusCode::OK, self.text).with_header(TOTAL_COUNT, total.into());
        let next = page.offset.saturating_add(self.count);
        if self.count > 0 && next < total {
            let link = format!("<{}>; rel=\"next\"", call.path_of_page(Page { offset: next, ..page }));
            // The path and query of a request are valid in a header.
            if let Ok(link) = HeaderValue::from_str(&link) {
                reply.headers.insert(header::LINK, link);
            }
        }
        reply
    }
}

pub(crate) fn text(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    reply(status, headers(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")), body)
}

/// A picture. Opened as a document of its own, the picture may load and run nothing.
pub(crate) fn picture(kind: &'static str, body: impl Into<Bytes>) -> Reply {
    let alone = HeaderValue::from_static("default-src 'none'; sandbox");
    bytes(kind, body).with_header(header::CONTENT_SECURITY_POLICY, alone)
}

/// 200 with bytes of another type than JSON.
pub(crate) fn bytes(kind: &'static str, body: impl Into<Bytes>) -> Reply {
    reply(StatusCode::OK, headers(header::CONTENT_TYPE, HeaderValue::from_static(kind)), body)
}

/// A file with this name; `disposition` is `inline` or `attachment`. Name and disposition must be our own words.
pub(crate) fn file(kind: &'static str, disposition: &str, name: &str, body: impl Into<Bytes>) -> Reply {
    let named = HeaderValue::from_str(&format!("{disposition}; filename=\"{name}\""));
    bytes(kind, body).with_header(header::CONTENT_DISPOSITION, named.expect("our own words are header values"))
}

/// A file whose text is made in chunks.
pub(crate) fn chunked_file(
    kind: &'static str,
    disposition: &str,
    name: &str,
    (first, rest): (Bytes, Option<Chunks>),
) -> Reply {
    Reply { rest, ..file(kind, disposition, name, first) }
}

/// An HTML page that may load style and pictures from this site, and do nothing else.
pub(crate) fn page(status: StatusCode, language: Language, html: impl Into<Bytes>) -> Reply {
    let policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                  frame-ancestors 'none'";
    let mut reply = Reply { status, ..bytes("text/html; charset=utf-8", html) };
    reply.headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    reply.headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    reply.headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    reply
}

/// An HTML page that may load style, script and pictures from this site, and submit forms to it.
pub(crate) fn console(status: StatusCode, language: Language, html: String) -> Reply {
    let policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                  manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let mut reply = page(status, language, html);
    reply.headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    // Without a referrer, browsers would omit the origin of forms too.
    reply.headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    // Pages have personal data, which must not stay in a cache or behind the back button.
    reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// 200 that begins an event stream for this listener.
pub(crate) fn stream(listener: Listener) -> Reply {
    let begun = Reply { listener: Some(listener), ..bytes("text/event-stream", "") };
    // nginx passes events on as they come where the answer asks for it; its buffer would keep them for minutes.
    begun.unstored().with_header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
}

/// 303 to a path of ours: the answer to a form is another page, so that a reload does not send the form again.
pub(crate) fn see_other(path: &str) -> Reply {
    let path = HeaderValue::from_str(path).expect("a path of ours is a header value");
    reply(StatusCode::SEE_OTHER, headers(header::LOCATION, path), Bytes::new())
}

/// 307 to a path of ours: the browser sends the same form to it.
pub(crate) fn send_again(path: &str) -> Reply {
    Reply { status: StatusCode::TEMPORARY_REDIRECT, ..see_other(path) }
}

/// A status without a body.
pub(crate) fn empty(status: StatusCode) -> Reply {
    reply(status, HeaderMap::with_capacity(HEADERS_USUAL), Bytes::new())
}

/// Text that is JSON already.
pub(crate) fn json_again(status: StatusCode, body: Vec<u8>) -> Reply {
    reply(status, headers(header::CONTENT_TYPE, JSON), body)
}

fn reply(status: StatusCode, headers: HeaderMap, body: impl Into<Bytes>) -> Reply {
    Reply { status, headers, body: body.into(), packed: None, rest: None, listener: None }
}

/// A header map with one header, and capacity for those that every answer gets.
fn headers(name: HeaderName, value: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(HEADERS_USUAL);
    headers.insert(name, value);
    headers
}

fn json(status: StatusCode, body: &impl Serialize) -> Reply {
    let mut text = Vec::with_capacity(JSON_BYTES_USUAL);
    serde_json::to_writer(&mut text, body).expect("our own structs can be written as JSON");
    json_again(status, text)
}

crate::answer! {
    /// Every refusal has this shape. (A wrong password, PIN or code is no refusal: see the operation.)
    pub(crate) struct Refusal<'a> {
        status: bool { "const": false, "type": null },
        code: &'a str { "$ref": "RefusalCode", "type": null },
        /// A message for people, in the caller's language.
        message: String { "minLength": 1 },
        /// With 422 alone: every bad field at once.
        errors: Sometimes<Vec<FieldProblem<'a>>> { "minItems": 1 },
        /// The same as the header `x-request-id`.
        request_id: &'a str { "minLength": 8, "maxLength": 128 },
    }
}

crate::answer! {
    pub(crate) struct FieldProblem<'a> {
        /// The field's name as it was sent, `body` for the whole, `Idempotency-Key` for that header.
        field: &'a str,
        /// The problem, in the caller's language.
        message: String { "minLength": 1 },
    }
}

/// The error envelope in the caller's language, with the headers of its status.
pub(crate) fn refusal(failure: &Failure, language: Language, request_id: &str) -> Reply {
    let problems = failure.problems();
    let errors = problems.iter().map(|p| FieldProblem { field: &p.field, message: language.say(&p.text) }).collect();
    let errors = Some(errors).filter(|_| !problems.is_empty());
    let message = language.say(failure.text());
    let mut reply =
        json(failure.status(), &Refusal { status: false, code: failure.code(), message, errors, request_id });
    reply.headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    // Caches may store a 404 by default.
    reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = failure.retry_after_seconds() {
        reply.headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if let Some(location) = failure.location().and_then(|l| HeaderValue::from_str(l).ok()) {
        reply.headers.insert(header::LOCATION, location);
    }
    if let Some(methods) = failure.allowed_methods().and_then(|m| HeaderValue::from_str(m).ok()) {
        reply.headers.insert(header::ALLOW, methods);
    }
    if failure.status() == StatusCode::UNAUTHORIZED {
        reply.headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    reply
}

impl Reply {
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Reply {
        self.headers.insert(name, value);
        self
    }

    /// The reply as one that no cache keeps.
    pub(crate) fn unstored(self) -> Reply {
        self.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }

    /// Adds a cookie to those of the reply.
    pub(crate) fn with_cookie(mut self, cookie: &str) -> Reply {
        let cookie = HeaderValue::from_str(cookie).expect("cookies are tokens and words of ours");
        self.headers.append(header::SET_COOKIE, cookie);
        self
    }

    /// Adds the compressed body, which is the same for all clients.
    pub(crate) fn with_packed(mut self, packed: Bytes) -> Reply {
        self.packed = Some(packed);
        self
    }

    /// Adds `Cache-Control` and, to a `GET`, the ETag of the body; 304 where the client has the same body, compressed or not.
    /// Private answers and answers to a `POST` are not cached. Existing clients store the ETag beside a copy of their own,
    /// for which they get their 304. `packed`: the body is sent compressed, with another ETag.
    pub(crate) fn with_caching(mut self, call: &Call, packed: bool) -> Reply {
        let reads = call.reads();
        let policy = match (reads, call.row.is_public()) {
            (false, _) => "no-store",
            (true, true) => "no-cache",
            (true, false) => "private, no-store",
        };
        self.headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static(policy));
        // The hash of a text with remaining chunks is not known, and a stream has none.
        if reads && self.status == StatusCode::OK && self.rest.is_none() && self.listener.is_none() {
            let digest = Sha256::digest(&self.body);
            let mut hash = [0; 2 * ETAG_BYTES];
            hex_into(&digest[..ETAG_BYTES], &mut hash);
            let etag = etag(&hash, packed);
            let hash = std::str::from_utf8(&hash).unwrap_or_default();
            if call.header(header::IF_NONE_MATCH).is_some_and(|known| matches_etag(known, hash)) {
                self.status = StatusCode::NOT_MODIFIED;
                self.headers.remove(header::CONTENT_TYPE);
                self.body = Bytes::new();
            }
            self.headers.insert(header::ETAG, etag);
        }
        self
    }
}

/// The ETag of a hash in hex, built without the heap, because every read has one.
fn etag(hash: &[u8; 2 * ETAG_BYTES], packed: bool) -> HeaderValue {
    let mut text = [b'"'; 2 * ETAG_BYTES + PACKED.len() + 2];
    let end = 1 + hash.len();
    text[1..end].copy_from_slice(hash);
    let length = match packed {
        true => {
            text[end..end + PACKED.len()].copy_from_slice(PACKED.as_bytes());
            end + PACKED.len() + 1
        }
        false => end + 1,
    };
    HeaderValue::from_bytes(&text[..length]).expect("hex in quotes is a header value")
}

/// The weak comparison of `If-None-Match`: the compressed and the plain body have the same hash.
fn matches_etag(known: &str, hash: &str) -> bool {
    let names_it = |one: &str| {
        let quoted = one.trim().trim_start_matches("W/").strip_prefix('"').and_then(|one| one.strip_suffix('"'));
        quoted.is_some_and(|tag| tag.strip_suffix(PACKED).unwrap_or(tag) == hash)
    };
    known.trim() == "*" || known.split(',').any(names_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_etag_is_the_quoted_hash_and_marks_a_compressed_body() {
        let hash = [b'7'; 2 * ETAG_BYTES];
        let text = "7".repeat(2 * ETAG_BYTES);
        assert_eq!(etag(&hash, false), format!("\"{text}\""));
        assert_eq!(etag(&hash, true), format!("\"{text}-gzip\""));
    }

    #[test]
    fn etags_match_weakly_in_lists_and_by_star() {
        for known in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*", "\"a-gzip\"", "W/\"a-gzip\""] {
            assert!(matches_etag(known, "a"), "{known}");
        }
        for other in ["\"b\"", "a", "\"a", "\"-gzip\"", "\"\"", "\""] {
            assert!(!matches_etag(other, "a"), "{other}");
        }
    }

    #[test]
    fn a_cause_never_reaches_the_caller() {
        let failure = Failure::broken().because("no such table: members");
        let reply = refusal(&failure, Language::English, "r-1");
        let body = String::from_utf8(reply.body.to_vec()).unwrap();
        assert!(!body.contains("members") && body.contains("\"request_id\":\"r-1\""), "{body}");
    }
}
