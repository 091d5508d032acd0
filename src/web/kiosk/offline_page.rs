//! The page that a kiosk shows when it is loaded while the server is unreachable. A service worker caches it. Browsers run
//! service workers over https and on localhost only; elsewhere the kiosk shows the browser's error page.

use super::{Screen, show};
use crate::http::Answer;
use crate::http::assets;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use askama::Template;
use http::{HeaderName, HeaderValue, StatusCode, header};

const WORKER: &str = include_str!("../../../assets/script/worker.js");

#[derive(Template)]
#[template(path = "kiosk/offline.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
}

/// `GET /kiosk/away`: says that the server is unreachable; its script returns to the start page when the server answers.
pub(crate) fn show_page(site: &Site, call: &Call) -> Answer {
    Ok(show(StatusCode::OK, call.language(), &Page { screen: Screen::outside(site, call)? }))
}

/// `GET /kiosk/worker.js`: the service worker. Its text changes whenever an asset of the offline page changes.
pub(crate) fn worker(_: &Site, _: &Call) -> Answer {
    let version: String =
        ["kiosk.js", "page.js", "desk.js", "page.css", "desk.css", "kiosk.css"].map(assets::path).concat();
    let script = format!("const VERSION = '{version}';\n{WORKER}");
    let reply = reply::bytes("text/javascript; charset=utf-8", script);
    let policy = HeaderValue::from_static("default-src 'none'; connect-src 'self'");
    Ok(reply
        .with_header(header::CONTENT_SECURITY_POLICY, policy)
        .with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .with_header(HeaderName::from_static("service-worker-allowed"), HeaderValue::from_static("/kiosk")))
}
