//! Checks of a request's head that hold for every operation.

use super::addresses::no_host;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Version, header};
use std::borrow::Cow;

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

/// The path with letters, digits and `-._~` as themselves where they are percent-encoded, which is the same path (RFC 3986
/// 6.2.2.2).
pub(super) fn plain_path(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let (mut plain, mut rest) = (String::with_capacity(path.len()), path);
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).map(char::from);
        match code.filter(|c| c.is_ascii_alphanumeric() || "-._~".contains(*c)) {
            Some(c) => {
                plain.push(c);
                rest = &after[2..];
            }
            None => {
                plain.push('%');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Refuses three kinds of heads that hyper accepts and HTTP/1.1 forbids (RFC 9112 §3.2 and §6.1): two `Host` headers, of which
/// a proxy may have used the other, or none; a target that is a bare name (`GET api`); and a transfer coding beside `chunked`.
pub(super) fn check_form(head: &Parts) -> Result<(), Failure> {
    let is_name = head.uri.scheme().is_none() && head.uri.authority().is_some() && head.method != Method::CONNECT;
    let hosts = head.headers.get_all(header::HOST).iter().count();
    if is_name || hosts > 1 || (hosts == 0 && head.version == Version::HTTP_11) {
        return Err(no_host());
    }
    let is_chunked = |coding: &HeaderValue| coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    if !head.headers.get_all(header::TRANSFER_ENCODING).iter().all(is_chunked) {
        return Err(Failure::bad_request().saying(Text::new("bad_request.coding")));
    }
    Ok(())
}

/// Refuses a compressed body. No client of the API sends one, and a signature would have to cover one of two texts.
pub(super) fn check_encoding(headers: &HeaderMap) -> Result<(), Failure> {
    let is_plain = |coding: &HeaderValue| {
        let coding = coding.as_bytes().trim_ascii();
        coding.is_empty() || coding.eq_ignore_ascii_case(b"identity")
    };
    let is_plain = headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain);
    if is_plain { Ok(()) } else { Err(Failure::unsupported_encoding()) }
}

/// Whether a client sends its body only after a word from the server.
pub(super) fn waits_to_send(headers: &HeaderMap) -> bool {
    headers.get(header::EXPECT).is_some_and(|expected| expected.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Replaces `Host` by the host of a target that has one, which outweighs the header (RFC 9112 §3.2.2).
pub(super) fn adopt_target_host(head: &mut Parts) {
    if let Some(host) = head.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        head.headers.insert(header::HOST, host);
    }
}

#[cfg(test)]
mod tests {
    use super::plain_path;

    #[test]
    fn letters_and_digits_that_are_encoded_in_a_path_are_themselves() {
        for (path, plain) in [
            ("/api/%63ountries", "/api/countries"),
            ("/api/countries", "/api/countries"),
            ("/a%2Fb%2fc", "/a%2Fb%2fc"),
            ("/%7e%2D%5F%41%", "/~-_A%"),
            ("/%é%4", "/%é%4"),
        ] {
            assert_eq!(plain_path(path), plain, "{path}");
        }
    }
}
