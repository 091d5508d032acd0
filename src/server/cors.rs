//! CORS: pages of other origins may call the API from a browser, if the settings name their origins.
//!
//! No answer allows credentials, so browsers send no cookies; a page sends its token itself.

use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use hyper::Request;

/// The request headers that a page may send beyond those that browsers always allow.
const REQUEST_HEADERS: &str = "token, authorization, content-type, client-id, idempotency-key, accept-language, ~accept-language, \
                               ~monitor-user, if-none-match, x-request-id, x-timestamp, x-nonce";
/// The answer headers that a page may read beyond those that browsers always show.
const ANSWER_HEADERS: &str =
    "x-total-count, x-unread-count, link, etag, retry-after, x-request-id, content-language, allow";
/// How long a browser may cache a preflight answer: two hours, the most that any browser allows.
const PREFLIGHT_SECONDS: &str = "7200";
const BASE: &str = "/api/";

/// The allowed origins, as browsers write them.
pub(super) struct Origins(Vec<String>);

/// The effect of one request's `Origin` on its answer.
#[derive(Default)]
pub(super) struct CorsDecision {
    /// Whether the answer depends on the origin.
    varies: bool,
    /// The origin, where it is allowed.
    allowed: Option<HeaderValue>,
    /// Whether the request is a preflight request.
    is_preflight: bool,
}

impl Origins {
    pub(super) fn new(allowed: &[String]) -> Origins {
        Origins(allowed.to_vec())
    }

    /// Decides on a request of the API; pages are for their own origin alone.
    pub(super) fn decide<B>(&self, request: &Request<B>) -> CorsDecision {
        if self.0.is_empty() || !request.uri().path().starts_with(BASE) {
            return CorsDecision::default();
        }
        let headers = request.headers();
        let known =
            |origin: &&HeaderValue| self.0.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(origin.as_bytes()));
        let allowed = headers.get(header::ORIGIN).filter(known).cloned();
        let asks = request.method() == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        CorsDecision { varies: true, is_preflight: asks && allowed.is_some(), allowed }
    }
}

impl CorsDecision {
    /// The answer to a preflight request. The table has no row for `OPTIONS`; its refusal names the methods of the path.
    pub(super) fn preflight(&self, failure: &Failure) -> Option<Reply> {
        let methods = failure.allowed_methods().filter(|_| self.is_preflight)?;
        let methods = HeaderValue::from_str(methods).ok()?;
        let reply = reply::empty(StatusCode::NO_CONTENT)
            .with_header(header::ACCESS_CONTROL_ALLOW_METHODS, methods)
            .with_header(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS))
            .with_header(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS));
        Some(reply)
    }

    /// Adds the headers to the answer.
    pub(super) fn apply(self, headers: &mut HeaderMap) {
        if self.varies {
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
        if let Some(origin) = self.allowed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(ANSWER_HEADERS));
        }
    }
}
