//! Compression of larger texts, for clients that accept it and rows that allow it ([`crate::http::row::Row::compresses`]).

use crate::http::call::Call;
use crate::http::reply::Reply;
use crate::i18n::language::weighed;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use std::io::Write;

/// Texts below this fit into two packets, and compressing them costs more time than it saves.
const TEXT_BYTES_MIN: usize = 2 * 1024;
/// The expected ratio of compression, for the size of the output buffer.
const SHRINKS_TO: usize = 8;

/// Adds the headers for caches and compresses the answer, on the thread that made it.
pub(crate) fn finish(reply: Reply, call: &Call) -> Reply {
    let varies = call.row.compresses() && is_large_text(&reply);
    let packed = varies && is_taken(&call.headers);
    let mut reply = reply.with_caching(call, packed);
    if varies {
        reply.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if packed && reply.status != StatusCode::NOT_MODIFIED { pack(reply) } else { reply }
}

/// Compresses a text that no row of the table made.
pub(crate) fn finish_beside_table(mut reply: Reply, headers: &HeaderMap) -> Reply {
    reply.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_large_text(&reply) && is_taken(headers) { pack(reply) } else { reply }
}

fn pack(mut reply: Reply) -> Reply {
    reply.body = reply.packed.take().unwrap_or_else(|| compress(&reply.body, Compression::fast()));
    reply.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    reply
}

/// Compresses a text that is the same for every client, once and as small as possible.
pub(crate) fn pack_for_all(text: &[u8]) -> Bytes {
    compress(text, Compression::best())
}

fn compress(text: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / SHRINKS_TO), level);
    let packed = encoder.write_all(text).and_then(|()| encoder.finish());
    packed.expect("writing to memory does not fail").into()
}

fn is_large_text(reply: &Reply) -> bool {
    reply.status.is_success() && reply.rest.is_none() && reply.body.len() >= TEXT_BYTES_MIN && is_text(&reply.headers)
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    kind.starts_with("text/") || ["application/json", "image/svg+xml"].contains(&kind)
}

/// Whether the client accepts gzip: by its name, or else by `*`, with a quality above 0.
fn is_taken(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    let (mut named, mut other) = (None, false);
    for (name, weight) in lines.flat_map(weighed) {
        let takes = weight > 0.0;
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => named = Some(named.unwrap_or(false) || takes),
            "*" => other = takes,
            _ => {}
        }
    }
    named.unwrap_or(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(lines: &[&'static str]) -> bool {
        is_taken(&lines.iter().map(|line| (header::ACCEPT_ENCODING, HeaderValue::from_static(line))).collect())
    }

    #[test]
    fn gzip_is_accepted_by_name_or_by_a_star_unless_its_quality_is_zero() {
        for taken in [&["gzip"][..], &["br, GZIP;q=0.5"], &["deflate", "x-gzip"], &["*"], &["br;q=1.0, *;q=0.1"]] {
            assert!(takes(taken), "{taken:?}");
        }
        for not in [
            &[][..],
            &[""],
            &["identity"],
            &["gzip;q=0"],
            &["gzip;Q=0"],
            &["gzip;q=0, *"],
            &["*;q=0"],
            &["gzip;q=x"],
            &["gzip;x=1;q=0"],
            &["br"],
        ] {
            assert!(!takes(not), "{not:?}");
        }
    }

    #[test]
    fn only_large_texts_of_successful_answers_are_compressed() {
        use crate::http::reply;
        let (small, large) = (vec![b'x'; TEXT_BYTES_MIN - 1], vec![b'x'; TEXT_BYTES_MIN]);
        for kind in ["application/json", "text/html; charset=utf-8", "text/csv; charset=utf-8", "image/svg+xml"] {
            assert!(is_large_text(&reply::bytes(kind, large.clone())), "{kind}");
            assert!(!is_large_text(&reply::bytes(kind, small.clone())), "{kind}");
        }
        for kind in ["application/pdf", "image/jpeg", "application/octet-stream"] {
            assert!(!is_large_text(&reply::bytes(kind, large.clone())), "{kind}");
        }
        assert!(!is_large_text(&reply::text(StatusCode::SERVICE_UNAVAILABLE, large)));
    }
}
