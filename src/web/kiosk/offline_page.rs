//! The page that a kiosk shows when it is loaded while the server is unreachable. A service worker caches it. Browsers run
//! service workers over https and on localhost only; elsewhere the kiosk shows the browser's error page.

use super::{Screen, show};
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::worker;
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "kiosk/offline.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
}

/// `GET /kiosk/away`: says that the server is unreachable; its script returns to the start page when the server answers.
pub(crate) fn show_page(site: &Site, call: &Call) -> Answer {
    Ok(show(StatusCode::OK, call.language(), &Page { screen: Screen::outside(site, call)? }))
}

/// `GET /kiosk/worker.js`: the service worker.
pub(crate) fn worker(_: &Site, _: &Call) -> Answer {
    let files = ["kiosk.js", "page.js", "desk.js", "page.css", "desk.css", "kiosk.css"];
    Ok(worker::serve("/kiosk", "/kiosk/away", &files, &[]))
}
