//! What a kiosk shows that is loaded while the site is away: a page that waits, which the browser's service worker keeps.
//! Browsers run one over https and on the machine itself; elsewhere a kiosk that is loaded then shows the browser's own page.

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
#[template(path = "kiosk/away.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
}

/// `GET /kiosk/away`: says that the site is away, and goes on by itself when it is there again.
pub(crate) fn show_page(site: &Site, call: &Call) -> Answer {
    Ok(show(StatusCode::OK, call.language(), &Page { screen: Screen::outside(site, call)? }))
}

/// `GET /kiosk/worker.js`: the service worker of every kiosk's pages; another one whenever the files of the page are others.
pub(crate) fn worker(_: &Site, _: &Call) -> Answer {
    let version: String = ["kiosk.js", "desk.js", "page.css", "desk.css", "kiosk.css"].map(assets::path).concat();
    let script = format!("const VERSION = '{version}';\n{WORKER}");
    let reply = reply::bytes("text/javascript; charset=utf-8", script);
    let policy = HeaderValue::from_static("default-src 'none'; connect-src 'self'");
    Ok(reply
        .with_header(header::CONTENT_SECURITY_POLICY, policy)
        .with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .with_header(HeaderName::from_static("service-worker-allowed"), HeaderValue::from_static("/kiosk")))
}
