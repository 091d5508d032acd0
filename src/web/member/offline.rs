//! What a telephone needs to install the own pages and to show them without network: the manifest, the icon, the service worker, and
//! the page for what it did not keep. Nothing here is anybody's. Browsers run service workers over https and on localhost only;
//! elsewhere the pages work without.

use super::{Frame, show};
use crate::auth::own;
use crate::http::Answer;
use crate::http::assets;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::web::worker;
use askama::Template;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

const ICON: &[u8] = include_bytes!("../../../assets/style/icon.png");
const OWN_PART: &str = include_str!("../../../assets/script/me-worker.js");
/// The files of the pages that are kept.
const FILES: [&str; 6] = ["page.css", "me.css", "page.js", "me-store.js", "me.js", "icon.svg"];
/// The colours of the pages, as in their style sheets.
const PAPER: &str = "#ffffff";

#[derive(Template)]
#[template(path = "member/away.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
}

/// `GET /app/away`: says that this page needs network.
pub(crate) fn show_page(site: &Site, call: &Call) -> Answer {
    Ok(show(StatusCode::OK, call.language(), &Page { frame: Frame::outside(site, call)? }))
}

/// `GET /app/worker.js`: the service worker of the own pages.
pub(crate) fn worker(_: &Site, _: &Call) -> Answer {
    Ok(worker::serve(own::HOME, "/app/away", &FILES, &[assets::STORE, OWN_PART]))
}

/// `GET /app/manifest.json`: name and icon of the pages on a telephone's start screen.
pub(crate) fn manifest(site: &Site, call: &Call) -> Answer {
    let name = site.name()?;
    let manifest = json!({
        "id": own::HOME, "name": name, "short_name": name, "lang": call.language().tag(),
        "start_url": own::HOME, "scope": own::HOME, "display": "standalone",
        "background_color": PAPER, "theme_color": PAPER,
        "icons": [
            { "src": "/app/icon.png", "sizes": "512x512", "type": "image/png", "purpose": "any" },
            { "src": "/app/icon.png", "sizes": "512x512", "type": "image/png", "purpose": "maskable" },
        ],
    });
    let reply = reply::bytes("application/manifest+json", manifest.to_string());
    Ok(reply.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-cache")))
}

/// `GET /app/icon.png`
pub(crate) fn icon(_: &Site, _: &Call) -> Answer {
    let reply = reply::bytes("image/png", ICON);
    Ok(reply.with_header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400")))
}
