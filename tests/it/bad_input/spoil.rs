//! Turns a good request into a bad one, as bytes to send.

use super::dice::Dice;
use super::values;
use crate::harness::{Caller, Request};

pub struct Spoilt {
    pub bytes: Vec<u8>,
    /// The kind of defect.
    pub how: &'static str,
    pub end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A whole request, which must be answered.
    Whole,
    /// A request for which closing the connection is an acceptable answer.
    Odd,
    /// The beginning of a request that never ends.
    Never,
}

/// A request in parts that need not fit each other.
struct Parts {
    line: Vec<u8>,
    headers: Vec<Vec<u8>>,
    body: Vec<u8>,
    /// The `content-length` or chunk header lines; `None`: the right `content-length`.
    framing: Option<Vec<u8>>,
    end: End,
}

const KIB: usize = 1024;

/// A bad request made from a good one. `costly`: a good body takes long to answer, so odd paths and headers mostly come
/// with a bad body.
pub fn spoil(dice: &mut Dice, good: &Request, caller: &Caller, costly: bool) -> Spoilt {
    let (mut path, mut body) = (good.path.clone().into_bytes(), good.body.clone());
    let kind = dice.below(12);
    let how = match kind {
        0..=5 if !good.body.is_empty() => fields(dice, &mut body),
        0..=6 => whole_body(dice, &mut body),
        7 | 8 => odd_path(dice, &mut path),
        _ if costly && !dice.one_in(4) => whole_body(dice, &mut body),
        _ => "as it should be",
    };
    let mut parts = assemble(good, caller, path, body);
    let how = match kind {
        9 | 10 => odd_header(dice, &mut parts),
        11 => odd_framing(dice, &mut parts),
        _ => how,
    };
    parts.written(how)
}

/// The request line, the right credentials for the spoilt bytes, and the good request's own headers.
fn assemble(good: &Request, caller: &Caller, path: Vec<u8>, body: Vec<u8>) -> Parts {
    let mut headers = vec![b"Host: localhost".to_vec()];
    let proof = caller.proof(&good.method, &String::from_utf8_lossy(&path), &body);
    headers.extend(proof.into_iter().map(|(name, value)| format!("{name}: {value}").into_bytes()));
    headers.extend(good.headers.iter().map(|(name, value)| [name.as_bytes(), b": ", value.as_bytes()].concat()));
    let line = [good.method.as_str().as_bytes(), b" ", &path, b" HTTP/1.1"].concat();
    // The server closes the connection for a larger head, and may for a larger body.
    let end = if body.len() > 64 * KIB || line.len() > 8 * KIB { End::Odd } else { End::Whole };
    Parts { line, headers, body, framing: None, end }
}

impl Parts {
    fn written(self, how: &'static str) -> Spoilt {
        let mut bytes = [&self.line[..], b"\r\n"].concat();
        for header in &self.headers {
            bytes.extend_from_slice(header);
            bytes.extend_from_slice(b"\r\n");
        }
        match self.framing {
            Some(framing) => bytes.extend_from_slice(&framing),
            None => {
                bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", self.body.len()).as_bytes());
                bytes.extend_from_slice(&self.body);
            }
        }
        Spoilt { bytes, how, end: self.end }
    }
}

/// Makes some fields invalid, missing, duplicate or unknown.
fn fields(dice: &mut Dice, body: &mut Vec<u8>) -> &'static str {
    let Ok(good) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(body) else {
        return picture(dice, body);
    };
    let mut written: Vec<Vec<u8>> = Vec::new();
    let mut write = |name: &str, value: Vec<u8>| written.push([format!("\"{name}\":").as_bytes(), &value].concat());
    let chosen = dice.below(good.len());
    for (place, (name, value)) in good.iter().enumerate() {
        let value = value.to_string().into_bytes();
        match dice.below(12) {
            _ if place == chosen => write(name, values::json(dice)),
            0 => {}
            1 => write(name, values::json(dice)),
            2 => [values::json(dice), value].into_iter().for_each(|value| write(name, value)),
            _ => write(name, value),
        }
    }
    if dice.one_in(4) {
        let name = dice.pick(&[
            "",
            "__proto__",
            "constructor",
            "member_id",
            "role",
            "status",
            "id",
            "limit",
            "offset",
            "from",
            "to",
            "after",
            "client_id",
        ]);
        write(name, values::json(dice));
    }
    *body = [b"{".to_vec(), written.join(&b","[..]), b"}".to_vec()].concat();
    "bad fields"
}

/// Changes some bytes of a picture, or cuts its end off.
fn picture(dice: &mut Dice, body: &mut Vec<u8>) -> &'static str {
    for _ in 0..=dice.below(8) {
        let place = dice.below(body.len());
        body[place] = dice.below(256) as u8;
    }
    if dice.one_in(3) {
        body.truncate(dice.below(body.len()));
    }
    "a damaged picture"
}

fn whole_body(dice: &mut Dice, body: &mut Vec<u8>) -> &'static str {
    let deep = 10_000;
    let padding = |bytes: usize| vec![b' '; bytes];
    let (spoilt, how) = match dice.below(18) {
        0 => ("[".repeat(deep).into_bytes(), "deep arrays without an end"),
        1 => (format!("{}{}", "[".repeat(deep), "]".repeat(deep)).into_bytes(), "deep arrays"),
        2 => ("{\"a\":".repeat(deep).into_bytes(), "deep objects"),
        3 => (body[..dice.below(body.len())].to_vec(), "cut off"),
        4 => (flipped(dice, body), "some bits flipped"),
        5 => (dice.bytes(600), "random bytes"),
        6 => ([b"\xef\xbb\xbf", &body[..]].concat(), "a byte order mark"),
        7 => (body.iter().flat_map(|byte| [*byte, 0]).collect(), "UTF-16"),
        8 => ([&body[..], &padding((64 * KIB).saturating_sub(body.len()))].concat(), "as large as it may be"),
        9 => ([&body[..], &padding(64 * KIB)].concat(), "too large"),
        10 => (vec![b'a'; 300 * KIB], "far too large"),
        11 => (Vec::new(), "nothing"),
        12 => (b" \r\n\t ".to_vec(), "white space"),
        13 => ([&body[..], body].concat(), "twice"),
        14 => (b"email=a%40b&limit=1".to_vec(), "a form"),
        15 => (
            b"<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><x>&e;</x>".to_vec(),
            "XML",
        ),
        16 => (b"\x1f\x8b\x08\x00\x00\x00\x00\x00".to_vec(), "gzip"),
        _ => (values::json(dice), "a value"),
    };
    *body = spoilt;
    how
}

fn flipped(dice: &mut Dice, body: &[u8]) -> Vec<u8> {
    let mut flipped = body.to_vec();
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(flipped.len());
        if let Some(byte) = flipped.get_mut(at) {
            *byte ^= 1 << dice.below(8);
        }
    }
    flipped
}

/// Replaces a number in the path, or appends a query.
fn odd_path(dice: &mut Dice, path: &mut Vec<u8>) -> &'static str {
    let text = String::from_utf8_lossy(path).into_owned();
    let (front, last) = text.rsplit_once('/').unwrap_or(("", &text));
    if last.parse::<i64>().is_ok() && !dice.one_in(3) {
        let long = "9".repeat(2000);
        let odd = if dice.one_in(12) { &long } else { dice.pick(values::SEGMENTS) };
        *path = format!("{front}/{odd}").into_bytes();
        return "an odd path";
    }
    let long = format!("limit={}", "1".repeat(6000));
    let query = if dice.one_in(20) { &long } else { dice.pick(values::QUERIES) };
    *path = format!("{text}?{query}").into_bytes();
    "an odd query"
}

const ODD_HEADERS: &[&[u8]] = &[
    b"Content-Type: text/plain",
    b"Content-Type: application/json; charset=utf-16",
    b"Content-Type: \xff\xfe",
    b"Content-Type:",
    b"Content-Encoding: gzip",
    b"Accept-Language: \xff\xff",
    b"Accept-Language: ;;q=;,=",
    b"Accept-Language: de;q=1e999",
    b"~Accept-Language: fr",
    b"~monitor-user: \x01",
    b"~monitor-user: \xe9",
    b"X-Request-Id: a b c d e f g h",
    b"X-Request-Id: \xff\xff\xff\xff\xff\xff\xff\xff",
    b"X-Forwarded-For: 1.2.3.4, ::1, x",
    b"X-Timestamp: 99999999999999999999",
    b"X-Timestamp: -1",
    b"If-None-Match: *",
    b"If-None-Match: \"",
    b"If-None-Match: W/\"\xff\"",
    b"Idempotency-Key: \xff",
    b"Idempotency-Key: ",
    b"Idempotency-Key: a\tb",
    b"Idempotency-Key: '; DROP TABLE replays; --",
    b"Token: ",
    b"Token: \xff",
    b"Token: 00",
    b"Token: zz",
    b"Client-Id: ",
    b"Client-Id: \xff",
    b"Client-Id: ' OR 1=1 --",
    b"Authorization: Bearer ",
    b"Authorization: Basic Og==",
    b"Authorization: \xff",
    b"User-Agent: \xf0\x9f\x91\x8d\x00",
    b"User-Agent: \xc3\xa9\xc3\xa9",
    b"Cookie: a=b",
    b"Expect: 100-continue",
    b"Expect: nonsense",
    b"Upgrade: websocket",
    b"Connection: upgrade",
    b"Connection: close",
    b"TE: trailers",
    b"Range: bytes=0-1",
    b"Origin: null",
    b"X-HTTP-Method-Override: DELETE",
    b"Host: evil.example",
    b"Accept: text/html;q=\xff",
    b": nameless",
    b"No colon at all",
    b"Name With Space: x",
    b" folded: x",
];

fn odd_header(dice: &mut Dice, parts: &mut Parts) -> &'static str {
    let how = match dice.below(16) {
        0 => {
            parts.headers.push(format!("X-Long: {}", "a".repeat(14 * KIB)).into_bytes());
            "a long header"
        }
        1 => {
            let name = dice.pick(&[
                "Accept-Language",
                "User-Agent",
                "Authorization",
                "Token",
                "Client-Id",
                "If-None-Match",
                "X-Request-Id",
                "Idempotency-Key",
            ]);
            parts.headers.push(format!("{name}: {}", "a,".repeat(4 * KIB)).into_bytes());
            "a long header that is read"
        }
        2 => {
            parts.headers.push(format!("Cookie: {}", "a".repeat(40 * KIB)).into_bytes());
            parts.end = End::Odd;
            "a header that is too long"
        }
        3 => {
            parts.headers.extend((0..300).map(|n| format!("X-{n}: {n}").into_bytes()));
            parts.end = End::Odd;
            "too many headers"
        }
        4 | 5 => {
            let again = parts.headers[dice.below(parts.headers.len())].clone();
            parts.headers.push(again);
            "a header twice"
        }
        _ => {
            let odd = dice.pick(ODD_HEADERS).to_vec();
            let place = if dice.one_in(2) { 1 } else { parts.headers.len() };
            parts.headers.insert(place, odd);
            "an odd header"
        }
    };
    // A header that asks for it makes the server close the connection.
    if parts.headers.iter().any(|h| h.starts_with(b"Upgrade") || h.starts_with(b"Connection")) {
        parts.end = End::Odd;
    }
    how
}

fn chunked(chunks: &[u8]) -> Option<Vec<u8>> {
    Some([b"Transfer-Encoding: chunked\r\n\r\n", chunks].concat())
}

const NEVER_ENDING: [&str; 5] = [
    "a chunk of an absurd size",
    "a chunk that never comes",
    "no last chunk",
    "more announced than is sent",
    "a chunk size without an end",
];

fn odd_framing(dice: &mut Dice, parts: &mut Parts) -> &'static str {
    let body = parts.body.clone();
    let whole = |tail: &str| [format!("{:x}{tail}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    let length = |said: &str| Some([format!("Content-Length: {said}\r\n\r\n").as_bytes(), &body].concat());
    let (framing, how) = match dice.below(17) {
        0 if !body.is_empty() => {
            let single: Vec<u8> = body.iter().flat_map(|byte| [b"1\r\n", &[*byte][..], b"\r\n"].concat()).collect();
            (chunked(&[&single[..], b"0\r\n\r\n"].concat()), "chunks of one byte")
        }
        1 if !body.is_empty() => (chunked(&whole(";name=value")), "chunk extensions"),
        2 => (chunked(b"zz\r\n{}\r\n0\r\n\r\n"), "a chunk of no size"),
        3 => (chunked(b"ffffffffffffffffff\r\n{}\r\n"), "a chunk of an absurd size"),
        4 => (chunked(b"7fffffffffffffff\r\n{}\r\n"), "a chunk that never comes"),
        5 => (chunked(b"5\r\n{}\r\n0\r\n\r\n"), "a chunk that is shorter than it says"),
        6 => (chunked(b"2\r\n{}"), "no last chunk"),
        7 => (length("1000000000"), "more announced than may be sent"),
        8 => (length(&(body.len() + 10).to_string()), "more announced than is sent"),
        9 => (length("-1"), "a negative length"),
        10 => (length("1, 2"), "two lengths in one"),
        11 => (length("99999999999999999999999"), "a length beyond numbers"),
        12 => (
            Some([b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", &whole("")[..]].concat()),
            "length and chunks",
        ),
        13 => (Some([b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", &body[..]].concat()), "two lengths"),
        14 => (Some([b"Transfer-Encoding: gzip, chunked\r\n\r\n", &whole("")[..]].concat()), "another encoding"),
        15 => (chunked(format!("{}\r\n", "0".repeat(5000)).as_bytes()), "a chunk size without an end"),
        _ => (chunked(&[b"0\r\n", "X-Trailer: a\r\n".repeat(2000).as_bytes(), b"\r\n"].concat()), "many trailers"),
    };
    let ends_never = NEVER_ENDING.contains(&how);
    (parts.framing, parts.end) = (framing, if ends_never { End::Never } else { End::Odd });
    how
}
