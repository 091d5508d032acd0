//! The page from which devices install the certificate of the site's own authority. Also served over http, because the device
//! does not trust the site yet.

use crate::documents::qr;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::ops::tls;
use crate::site::Site;
use crate::store::tables::tls::{Certificate, Kind};
use crate::web::{self, Frame};
use askama::Template;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use std::net::IpAddr;

const PATH: &str = "/ca";
/// Operating systems and browsers, and keys of their instructions.
const SYSTEMS: [(&str, &str); 6] = [
    ("iPhone, iPad", "ca.ios"),
    ("Android", "ca.android"),
    ("Windows", "ca.windows"),
    ("macOS", "ca.macos"),
    ("Linux, Chromium", "ca.linux"),
    ("Firefox", "ca.firefox"),
];

#[derive(Template)]
#[template(path = "public/ca.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// The authority; `None` where the site has none.
    trust: Option<Trust>,
    systems: [(&'static str, &'static str); 6],
}

struct Trust {
    names: String,
    until: String,
    fingerprint: String,
    /// URL of this page for other devices.
    address: String,
    /// SVG of the URL.
    qr: String,
}

#[derive(Serialize)]
struct Authority {
    status: bool,
    /// Host names and addresses that the authority may certify.
    names: Vec<String>,
    ends_at: i64,
    /// SHA-256 of the certificate, as devices show it.
    fingerprint: String,
    /// PEM.
    certificate: String,
}

/// `GET /ca`: the site's own authority, as JSON or as a page with instructions.
pub(crate) fn page(site: &Site, call: &Call) -> Answer {
    let found = tls::find(site, Kind::Authority)?;
    let reply = match (found, call.prefers_page()) {
        (Some(found), true) => render(site, call, Some(trust(site, call, &found.into())?))?,
        (Some(found), false) => reply::ok(&Authority::from(found)),
        (None, true) => render(site, call, None)?,
        (None, false) => return Err(Failure::not_found()),
    };
    Ok(reply.with_header(header::VARY, HeaderValue::from_static("accept, accept-language")))
}

/// `GET /ca.crt`: the certificate as a download.
pub(crate) fn certificate(site: &Site, _: &Call) -> Answer {
    let found = tls::find(site, Kind::Authority)?.ok_or_else(Failure::not_found)?;
    let name = HeaderValue::from_static("attachment; filename=\"tunneldesk-ca.crt\"");
    Ok(reply::bytes("application/x-x509-ca-cert", found.certificate).with_header(header::CONTENT_DISPOSITION, name))
}

impl From<Certificate> for Authority {
    fn from(row: Certificate) -> Authority {
        Authority {
            status: true,
            names: row.names.0,
            ends_at: row.ends_at,
            fingerprint: tls::fingerprint(&row.certificate),
            certificate: row.certificate,
        }
    }
}

fn trust(site: &Site, call: &Call, authority: &Authority) -> Result<Trust, Failure> {
    // The host name of the request, unless it is a loopback name.
    let only_here = |host: &String| host == "localhost" || host.parse::<IpAddr>().is_ok_and(|a| a.is_loopback());
    let host =
        call.host().filter(|host| !only_here(host)).or_else(|| authority.names.first().cloned()).unwrap_or_default();
    let port = site.ports().http.first().map_or_else(String::new, |port| format!(":{port}"));
    let address = format!("http://{host}{port}{PATH}");
    Ok(Trust {
        names: authority.names.join(", "),
        until: when::day(call.language(), &site.time_zone()?, authority.ends_at),
        fingerprint: authority.fingerprint.clone(),
        qr: qr::svg(&address).unwrap_or_default(),
        address,
    })
}

fn render(site: &Site, call: &Call, trust: Option<Trust>) -> Result<Reply, Failure> {
    let status = if trust.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let page = Page { frame: Frame::outside(site, call)?, trust, systems: SYSTEMS };
    Ok(web::show_public(status, call.language(), &page))
}
