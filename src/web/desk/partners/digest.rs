//! The expected signature of a pasted body, to find out why a partner's calls are refused. Nothing is stored and the secret is
//! never shown. A digest authorises the call with its body, so the page is for admins.

use super::{PART, card};
use crate::auth::{Clerk, expected};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::partners::{self, Partner};
use crate::web::{Frame, form_pairs, form_status, show as shown};
use askama::Template;
use http::StatusCode;

/// Longest body that can be pasted: the longest that a partner may send.
const BODY_BYTES_MAX: usize = crate::http::row::BODY_BYTES_MAX;

#[derive(Template)]
#[template(path = "desk/digest.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    partner: Partner,
    body: String,
    timestamp: String,
    token: String,
    problem: Option<String>,
    /// The expected digests, once a body was pasted.
    found: Vec<Digest>,
    /// Whether the pasted digest is one of them; `None` where none was pasted.
    matched: Option<bool>,
}

struct Digest {
    secret: String,
    /// How the line ends of the body were read.
    reading: String,
    hex: String,
    is_sent: bool,
}

/// `GET /desk/partners/{partner_id}/digest`
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let partner = site.store.read(|tx| card::find(tx, call))?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let timestamp = site.now().to_string();
    let (body, token) = (String::new(), String::new());
    let page = Page { frame, partner, body, timestamp, token, problem: None, found: Vec::new(), matched: None };
    Ok(shown(StatusCode::OK, call.language(), &page))
}

/// `POST /desk/partners/{partner_id}/digest`: the digests of a call with this body.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let pairs = form_pairs(call)?;
    let value = |name: &str| pairs.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value).to_owned();
    let (body, timestamp, token) = (value("body"), value("timestamp"), value("token"));
    let (timestamp, token) = (timestamp.trim().to_owned(), token.trim().to_ascii_lowercase());
    let partner = site.store.read(|tx| card::find(tx, call))?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let problem = if body.len() > BODY_BYTES_MAX {
        Some("digest.too_large")
    } else if partner.strict && fields::moment(&timestamp.as_str().into()).is_err() {
        Some("digest.timestamp_missing")
    } else {
        None
    };
    let found = if problem.is_none() { digests(site, call, &partner, &timestamp, &body, &token)? } else { Vec::new() };
    let matched = (!token.is_empty() && problem.is_none()).then(|| found.iter().any(|one| one.is_sent));
    let status = form_status(problem.is_some());
    let problem = problem.map(|key| call.say(key));
    Ok(shown(status, call.language(), &Page { frame, partner, body, timestamp, token, problem, found, matched }))
}

/// The digests under each secret in force, for each reading of the body.
fn digests(
    site: &Site,
    call: &Call,
    partner: &Partner,
    timestamp: &str,
    body: &str,
    token: &str,
) -> Result<Vec<Digest>, Failure> {
    let (zone, now) = (site.time_zone()?, site.now());
    let mut secrets = site.store.read(|tx| Ok(partners::list_secrets(tx, Some(&partner.client_id), now)?))?;
    secrets.reverse();
    let timestamp = partner.strict.then_some(timestamp);
    let mut found = Vec::new();
    for stored in secrets {
        let since =
            Text::new("partners.secret_since").with("since", when::day(call.language(), &zone, stored.created_at));
        for (reading, bytes) in readings(body) {
            let Some(hex) = expected(site, &stored, timestamp, bytes.as_bytes()) else { continue };
            let (secret, reading) = (call.language().say(&since), call.say(reading));
            found.push(Digest { secret, reading, is_sent: hex == token, hex });
        }
    }
    Ok(found)
}

/// The readings of a pasted body: browsers send every line end of a text field as CR LF.
fn readings(body: &str) -> Vec<(&'static str, String)> {
    if body.is_empty() {
        return vec![("digest.as_empty", String::new()), ("digest.as_braces", "{}".to_owned())];
    }
    let unix = body.replace("\r\n", "\n");
    let mut ways = vec![("digest.as_pasted", unix.clone())];
    if unix.contains('\n') {
        ways.push(("digest.as_windows", unix.replace('\n', "\r\n")));
        ways.push(("digest.as_trimmed", unix.trim_end_matches('\n').to_owned()));
    }
    ways.dedup_by(|a, b| a.1 == b.1);
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_tried_each_way_and_nothing_twice() {
        let ways = |body| readings(body).into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
        assert_eq!(ways(""), ["", "{}"]);
        assert_eq!(ways("{\"a\":1}"), ["{\"a\":1}"]);
        assert_eq!(ways("{\r\n}\r\n"), ["{\n}\n", "{\r\n}\r\n", "{\n}"]);
    }
}
