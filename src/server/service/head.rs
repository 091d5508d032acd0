//! Checks of a request's head that hold for every operation.

use crate::http::failure::Failure;
use http::request::Parts;
use http::{Method, header};

/// The limit of a path with its query; our longest have a few hundred bytes.
const URI_BYTES_MAX: usize = 8 * 1024;
/// The limit of all headers, names and values.
const HEADER_BYTES_MAX: usize = 16 * 1024;

/// Checks the size of a head. hyper's limit is larger, so that this refusal is in the caller's language.
pub(super) fn check_size(head: &Parts) -> Result<(), Failure> {
    let address = head.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if address > URI_BYTES_MAX {
        return Err(Failure::uri_too_long());
    }
    let headers: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > HEADER_BYTES_MAX { Err(Failure::headers_too_large()) } else { Ok(()) }
}

/// Refuses two kinds of heads that hyper accepts and HTTP/1.1 forbids (RFC 9112 §3.2): two `Host` headers, of which a proxy
/// may have used the other, and a target that is a bare name (`GET api`).
pub(super) fn check_form(head: &Parts) -> Result<(), Failure> {
    let is_name = head.uri.scheme().is_none() && head.uri.authority().is_some() && head.method != Method::CONNECT;
    if is_name || head.headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Failure::bad_request().because("a bare name for a target, or two hosts"));
    }
    Ok(())
}
