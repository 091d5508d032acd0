//! The page from which devices install the certificate of the site's own authority. Also served over http, because the device
//! does not trust the site yet.

use crate::documents::qr;
use crate::domain::when;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::moment::Moment;
use crate::ops::tls;
use crate::site::Site;
use crate::store::tables::tls::{Certificate, Kind};
use crate::web::{self, Frame};
use askama::Template;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;
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

crate::answer! {
    struct Authority {
        status: True,
        /// The host names and addresses that it may certify.
        names: Vec<String> = ["tunnel.example.com"],
        /// Good until then.
        ends_at: Moment = 2095360000,
        /// SHA-256 of the certificate, as devices show it.
        fingerprint: String = "5D:41:40:2A:BC:4B:2A:76",
        /// PEM.
        certificate: String = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    }
}

crate::operation! {
    /// Whom a device must trust
    ///
    /// The site's own authority, by which its certificate is signed: JSON, or a page for a browser that says how to
    /// trust it (`accept: text/html`). Also over a plain connection.
    PAGE = "authority"
        .takes(&["AcceptLanguage"])
        .answers::<Authority>("The authority.")
        .refuses_as(&[("NotFound", "The site has no authority of its own.")])
        .or_page()
}

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

crate::operation! {
    /// Its certificate, to install
    ///
    /// 404 where the site has no authority of its own.
    CERTIFICATE = "authorityCertificate"
        .refuses(&["NotFound"])
        .also(|| json!({
            "responses": {
                "200": {
                    "description": "The certificate.",
                    "content": { "application/x-x509-ca-cert": { "schema": { "type": "string" } } },
                },
            },
        }))
}

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
