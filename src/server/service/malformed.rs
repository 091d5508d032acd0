//! The answer to bytes that are no HTTP request: hyper refuses them before the service sees them.

use super::log_line::LogLine;
use super::{HttpService, Peer, cors, finished};
use crate::http::failure::Failure;
use crate::http::reply;
use crate::http::request_id;
use crate::i18n::language::Language;
use http::{Method, StatusCode};
use std::time::Instant;

impl HttpService {
    /// The bytes of the answer to a malformed request, for hyper's status. In English, because the headers that name a
    /// language were not read.
    pub(crate) fn refuse_malformed(&self, status: StatusCode, peer: &Peer) -> Vec<u8> {
        let line = LogLine {
            started: Instant::now(),
            request_id: request_id::accept_or_create(None),
            method: Method::from_bytes(b"-").expect("a dash is a token"),
            caller: peer.address,
            log_address: self.log_address(peer, peer.address),
            from_home: false,
            secure: false,
            row: None,
            language: Language::English,
            monitor_user: None,
            body_share: None,
            body_unsent: false,
        };
        let failure = match status {
            StatusCode::URI_TOO_LONG => Failure::uri_too_long(),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Failure::headers_too_large(),
            _ => Failure::bad_request(),
        };
        let reply = reply::refusal(&failure, line.language, &line.request_id);
        let finished = finished(reply, Some(failure));
        let body = finished.reply.body.clone();
        let response = self.respond(line, finished, cors::CorsDecision::default());
        let reason = response.status().canonical_reason().unwrap_or("");
        let mut bytes = format!("HTTP/1.1 {} {reason}\r\n", response.status().as_str()).into_bytes();
        for (name, value) in response.headers() {
            bytes.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        bytes.extend_from_slice(format!("connection: close\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }
}
