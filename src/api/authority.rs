//! Where a device comes to trust the site: the certificate of its own authority, and how each system installs it. Reached
//! over a plain connection too, since nobody trusts the site yet.

use super::auth::qr;
use crate::call::Call;
use crate::certificate::date_in_words;
use crate::failure::Failure;
use crate::language::{Language, Text};
use crate::markup::escape;
use crate::reply::{self, Reply};
use crate::routes::Answer;
use crate::site::Site;
use crate::store::tls::{Certificate, Kind};
use crate::tls;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use std::net::IpAddr;

const PAGE: &str = include_str!("../../assets/templates/ca.html");
const PATH: &str = "/ca";
/// Where it is installed, and the key of how.
const SYSTEMS: [(&str, &str); 6] = [
    ("iPhone, iPad", "ca.ios"),
    ("Android", "ca.android"),
    ("Windows", "ca.windows"),
    ("macOS", "ca.macos"),
    ("Linux, Chromium", "ca.linux"),
    ("Firefox", "ca.firefox"),
];

#[derive(Serialize)]
struct Authority {
    status: bool,
    /// Host names and addresses that it may vouch for.
    names: Vec<String>,
    ends_at: i64,
    /// SHA-256 of the certificate, as devices show it.
    fingerprint: String,
    /// PEM.
    certificate: String,
}

/// `GET /ca`: the site's own authority; JSON, or a page that tells how to trust it.
pub fn page(site: &Site, call: &Call) -> Answer {
    let found = tls::find(site, Kind::Authority)?;
    let reply = match (found, call.prefers_page()) {
        (Some(found), true) => page_of(site, call, &found.into()),
        (Some(found), false) => reply::ok(&Authority::from(found)),
        (None, true) => none_page(call.language()),
        (None, false) => return Err(Failure::not_found()),
    };
    Ok(reply.with_header(header::VARY, HeaderValue::from_static("accept, accept-language")))
}

/// `GET /ca.crt`: its certificate, as devices want to install it.
pub fn certificate(site: &Site, _: &Call) -> Answer {
    let found = tls::find(site, Kind::Authority)?.ok_or_else(Failure::not_found)?;
    let name = HeaderValue::from_static("attachment; filename=\"tunneldesk-ca.crt\"");
    Ok(reply::bytes("application/x-x509-ca-cert", found.certificate).with_header(header::CONTENT_DISPOSITION, name))
}

impl From<Certificate> for Authority {
    fn from(row: Certificate) -> Authority {
        Authority {
            status: true,
            names: row.names,
            ends_at: row.ends_at,
            fingerprint: tls::fingerprint(&row.certificate),
            certificate: row.certificate,
        }
    }
}

fn page_of(site: &Site, call: &Call, authority: &Authority) -> Reply {
    let language = call.language();
    let say = |key| escape(&language.say(&Text::new(key)));
    let facts = [
        ("ca.good_for", authority.names.join(", ")),
        ("ca.until", date_in_words(language, authority.ends_at)),
        ("ca.fingerprint", authority.fingerprint.clone()),
    ];
    let facts = facts.map(|(key, value)| format!("<dt>{}</dt><dd>{}</dd>", say(key), escape(&value))).concat();
    let steps = SYSTEMS.map(|(system, key)| format!("<dt>{system}</dt><dd>{}</dd>", say(key))).concat();
    // By the name that this device used, unless no other device could use it.
    let only_here = |host: &String| host == "localhost" || host.parse::<IpAddr>().is_ok_and(|a| a.is_loopback());
    let host =
        call.host().filter(|host| !only_here(host)).or_else(|| authority.names.first().cloned()).unwrap_or_default();
    let port = site.ports().plain.first().map_or_else(String::new, |port| format!(":{port}"));
    let address = format!("http://{host}{port}{PATH}");
    let code = qr::svg(&address).unwrap_or_default();
    let body = format!(
        "<p>{}</p><p><a class=\"action\" href=\"/ca.crt\">{}</a></p><dl class=\"print\">{facts}</dl><p>{}</p>\
         <dl class=\"steps\">{steps}</dl><figure>{code}<figcaption>{}<br>{}</figcaption></figure>",
        say("ca.intro"),
        say("ca.get"),
        say("ca.compare"),
        say("ca.scan"),
        escape(&address)
    );
    filled(StatusCode::OK, language, &body)
}

fn none_page(language: Language) -> Reply {
    filled(StatusCode::NOT_FOUND, language, &format!("<p>{}</p>", escape(&language.say(&Text::new("ca.none")))))
}

/// `body` is markup.
fn filled(status: StatusCode, language: Language, body: &str) -> Reply {
    let title = escape(&language.say(&Text::new("ca.title")));
    let html = PAGE.replace("{language}", language.tag()).replace("{title}", &title).replace("{body}", body);
    reply::page(status, language, html)
}
