//! File uploads (`multipart/form-data`): reads the first part that is a file and ignores all others.

use crate::http::call::Call;
use crate::http::failure::Failure;

const BOUNDARY_CHARS_MAX: usize = 70;
const HEADER_BYTES_MAX: usize = 2048;

/// The bytes of the uploaded file; empty where none was chosen.
pub(super) fn file(call: &Call) -> Result<&[u8], Failure> {
    let kind = call.header("content-type").unwrap_or("");
    let boundary = boundary(kind).ok_or_else(Failure::unsupported_type)?;
    Ok(first_file(&call.body, boundary.as_bytes()).unwrap_or(&[]))
}

fn boundary(content_type: &str) -> Option<&str> {
    let (kind, rest) = content_type.split_once(';')?;
    let named = rest.split(';').find_map(|part| part.trim().strip_prefix("boundary="))?.trim_matches('"');
    let sound = (1..=BOUNDARY_CHARS_MAX).contains(&named.len());
    (kind.trim().eq_ignore_ascii_case("multipart/form-data") && sound).then_some(named)
}

fn first_file<'b>(body: &'b [u8], boundary: &[u8]) -> Option<&'b [u8]> {
    let delimiter = [b"\r\n--", boundary].concat();
    // No line break precedes the first delimiter.
    let mut rest = body.strip_prefix(&delimiter[2..])?;
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let end = find(part, &delimiter)?;
        let head = find(&part[..end.min(HEADER_BYTES_MAX)], b"\r\n\r\n")?;
        if is_file(&part[..head]) {
            return Some(&part[head + 4..end]);
        }
        rest = &part[end + delimiter.len()..];
    }
    None
}

fn is_file(head: &[u8]) -> bool {
    String::from_utf8_lossy(head).to_ascii_lowercase().contains("filename=")
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|byte| *byte == first) {
        if text[from + at..].starts_with(needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--xyz\r\n\
                          Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\
                          \x89PNG\r\n--xy\r\n--xyz--\r\n";

    #[test]
    fn the_file_of_a_form_is_found_among_its_fields() {
        assert_eq!(first_file(BODY, b"xyz"), Some(&b"\x89PNG\r\n--xy"[..]));
        assert_eq!(boundary("multipart/form-data; charset=x; boundary=\"xyz\""), Some("xyz"));
    }

    #[test]
    fn a_truncated_body_or_another_content_type_has_no_file() {
        for broken in [&BODY[..BODY.len() - 12], &BODY[..60], b"", b"--xyz", b"--xyz--\r\n", b"--xyz\r\n\r\n"] {
            assert_eq!(first_file(broken, b"xyz"), None);
        }
        for kind in ["", "multipart/form-data", "multipart/form-data; boundary=", "text/plain; boundary=xyz"] {
            assert_eq!(boundary(kind), None, "{kind}");
        }
    }
}
