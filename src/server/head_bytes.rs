//! The head of a request as its bytes arrive. A head with both `Transfer-Encoding` and `Content-Length` is refused (RFC 9112
//! §6.1), because a proxy may have gone by the other of the two. hyper goes by the first and hides the second.

/// A head of more bytes is refused for its size.
const BYTES_MAX: usize = 32 * 1024;
/// What hyper reads in place of the end of a head that is refused: wherever it stands, it makes the head malformed.
pub(super) const NO_HEAD: &[u8] = b"\0";

/// The bytes of a head so far.
#[derive(Default)]
pub(super) struct HeadBytes {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl HeadBytes {
    /// The next request begins.
    pub(super) fn begin(&mut self) {
        self.bytes.clear();
        self.has_ended = false;
    }

    /// Adds bytes as they were read. Returns whether the head ends in them and says twice how long its body is.
    pub(super) fn add(&mut self, read: &[u8]) -> bool {
        if self.has_ended {
            return false;
        }
        // Empty lines before a request are no part of it.
        let before = read.iter().take_while(|byte| self.bytes.is_empty() && matches!(byte, b'\r' | b'\n')).count();
        let read = &read[before..];
        let from = self.bytes.len().saturating_sub(2);
        self.bytes.extend_from_slice(&read[..read.len().min(BYTES_MAX - self.bytes.len())]);
        let new = &self.bytes[from..];
        let end = (0..new.len()).find(|at| new[*at..].starts_with(b"\n\r\n") || new[*at..].starts_with(b"\n\n"));
        self.has_ended = end.is_some() || self.bytes.len() == BYTES_MAX;
        end.is_some_and(|end| says_twice(&self.bytes[..from + end]))
    }
}

fn says_twice(head: &[u8]) -> bool {
    let has = |name: &[u8]| {
        let is_name =
            |line: &[u8]| line.split(|byte| *byte == b':').next().is_some_and(|it| it.eq_ignore_ascii_case(name));
        head.split(|byte| *byte == b'\n').skip(1).any(is_name)
    };
    has(b"transfer-encoding") && has(b"content-length")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lengths_are_seen_in_any_order_letters_and_parts() {
        const BOTH: [&str; 3] = [
            "POST / HTTP/1.1\r\nhost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nTRANSFER-ENCODING: chunked\r\ncontent-length: 4\r\nhost: a\r\n\r\n0\r\n\r\n",
            "\r\n\r\nPOST / HTTP/1.1\nTransfer-Encoding: chunked\ncontent-length: 4\n\n0\r\n\r\n",
        ];
        for text in BOTH {
            for part in 1..text.len() {
                let mut head = HeadBytes::default();
                let seen = text.as_bytes().chunks(part).filter(|chunk| head.add(chunk)).count();
                assert_eq!(seen, 1, "{part} {text}");
                head.begin();
                assert!(head.add(text.as_bytes()), "the next request");
            }
        }
        for one in
            ["POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\ntransfer-encoding: chunked\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"]
        {
            assert!(!HeadBytes::default().add(one.as_bytes()), "{one}");
        }
    }
}
