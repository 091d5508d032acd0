//! Recognises the bare answers that hyper gives to malformed requests, so that our envelope can replace them.

use http::StatusCode;

/// The statuses of those answers: a broken request line, header or framing, and a head beyond hyper's buffer.
const STATUSES: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::URI_TOO_LONG, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE];
/// The only headers of such an answer. Answers of our own have at least a request id too.
const HEADERS: [&str; 3] = ["connection: close", "content-length: 0", "date: "];

/// The status of a bare answer of hyper's; `None` for any other bytes.
pub(super) fn bare_status(written: &[u8]) -> Option<StatusCode> {
    // The first bytes rule out most writes.
    let rest = written.strip_prefix(b"HTTP/1.1 4")?.strip_suffix(b"\r\n\r\n")?;
    let mut lines = std::str::from_utf8(rest).ok()?.split("\r\n");
    let line = lines.next()?;
    let status = STATUSES.into_iter().find(|status| {
        let reason = status.canonical_reason().unwrap_or("");
        line.strip_prefix(&status.as_str()[1..]).is_some_and(|said| said.trim_start() == reason)
    })?;
    lines.all(|line| HEADERS.iter().any(|header| line.starts_with(header))).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_answers_of_hyper_are_recognised() {
        let bare = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: Sun, 22 Nov 2026 16:00:00 GMT\r\n\r\n";
        assert_eq!(bare_status(bare.as_bytes()), Some(StatusCode::BAD_REQUEST));
        for ours in [
            bare.replace("date:", "x-request-id: 1\r\ndate:"),
            bare.replace("400 Bad Request", "404 Not Found"),
            format!("x{bare}"),
            format!("{bare}x"),
            bare.replace("\r\n\r\n", "\r\n"),
        ] {
            assert_eq!(bare_status(ours.as_bytes()), None, "{ours}");
        }
    }
}
