//! Style, script and icon files. Each file's name has a hash of its content, so that browsers cache it for good and a new
//! version has a new name.

use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::gzip;
use crate::http::reply;
use crate::keys::hex;
use bytes::Bytes;
use http::{HeaderValue, header};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const HASH_BYTES: usize = 6;

/// The style sheet of every page, also of pages that embed it.
pub(crate) const PAGE: &str = include_str!("../../assets/style/page.css");

/// What the members' own pages keep without network, for the pages and for their worker.
pub(crate) const STORE: &str = include_str!("../../assets/script/me-store.js");

struct File {
    /// The name in templates.
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const FILES: [File; 21] = [
    File { name: "page.css", kind: "text/css; charset=utf-8", text: PAGE },
    File { name: "desk.css", kind: "text/css; charset=utf-8", text: include_str!("../../assets/style/desk.css") },
    File { name: "page.js", kind: "text/javascript; charset=utf-8", text: include_str!("../../assets/script/page.js") },
    File { name: "desk.js", kind: "text/javascript; charset=utf-8", text: include_str!("../../assets/script/desk.js") },
    File {
        name: "dates.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/script/dates.js"),
    },
    File {
        name: "account.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/script/account.js"),
    },
    File {
        name: "passkey.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/script/passkey.js"),
    },
    File { name: "kiosk.css", kind: "text/css; charset=utf-8", text: include_str!("../../assets/style/kiosk.css") },
    File {
        name: "kiosk.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/script/kiosk.js"),
    },
    File { name: "docs.css", kind: "text/css; charset=utf-8", text: include_str!("../../assets/style/docs.css") },
    File { name: "docs.js", kind: "text/javascript; charset=utf-8", text: include_str!("../../assets/script/docs.js") },
    File { name: "code.js", kind: "text/javascript; charset=utf-8", text: include_str!("../../assets/script/code.js") },
    File {
        name: "camera.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/script/camera.js"),
    },
    File { name: "join.js", kind: "text/javascript; charset=utf-8", text: include_str!("../../assets/script/join.js") },
    File { name: "sign.js", kind: "text/javascript; charset=utf-8", text: include_str!("../../assets/script/sign.js") },
    File { name: "me.css", kind: "text/css; charset=utf-8", text: include_str!("../../assets/style/me.css") },
    File { name: "me.js", kind: "text/javascript; charset=utf-8", text: include_str!("../../assets/script/me.js") },
    File { name: "me-store.js", kind: "text/javascript; charset=utf-8", text: STORE },
    File { name: "board.css", kind: "text/css; charset=utf-8", text: include_str!("../../assets/style/board.css") },
    File {
        name: "board.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/script/board.js"),
    },
    File { name: "icon.svg", kind: "image/svg+xml", text: include_str!("../../assets/style/icon.svg") },
];

/// The files as browsers get them: without the indentation and the lines that are comments, a seventh of their compressed size.
static TEXTS: LazyLock<[String; FILES.len()]> = LazyLock::new(|| FILES.map(|file| lean(file.text)));

fn lean(text: &str) -> String {
    let is_comment = |line: &str| line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line)).collect();
    lines.join("\n")
}

/// The names in URLs, such as `desk.0a1b2c3d4e5f.css`.
static NAMES: LazyLock<[String; FILES.len()]> = LazyLock::new(|| {
    std::array::from_fn(|place| {
        let name = FILES[place].name;
        let (stem, kind) = name.split_once('.').unwrap_or((name, ""));
        format!("{stem}.{}.{kind}", hex(&Sha256::digest(&TEXTS[place])[..HASH_BYTES]))
    })
});

/// The files, compressed.
static PACKED: LazyLock<[Bytes; FILES.len()]> =
    LazyLock::new(|| TEXTS.each_ref().map(|text| gzip::pack_for_all(text.as_bytes())));

/// The URL path of a file. A test of every page checks that templates name only files of [`FILES`].
pub(crate) fn path(name: &str) -> String {
    let place = FILES.iter().position(|file| file.name == name);
    place.map_or_else(String::new, |place| format!("/assets/{}", NAMES[place]))
}

/// `GET /assets/{file}`: a file, to be cached for a year.
pub(crate) fn get(call: &Call) -> Answer {
    let place = NAMES.iter().position(|name| name == call.param(0)).ok_or_else(Failure::not_found)?;
    let cached = HeaderValue::from_static("public, max-age=31536000, immutable");
    let reply = reply::bytes(FILES[place].kind, TEXTS[place].as_str()).with_packed(PACKED[place].clone());
    Ok(reply.with_header(header::CACHE_CONTROL, cached))
}
