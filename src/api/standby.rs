//! The requests of a standby to the machine that it follows.

use crate::auth::Standby;
use crate::http::Answer;
use crate::http::body::Field;
use crate::http::call::Call;
use crate::http::field_types::{Count, Line, Name, Named};
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::ops::standby::claim;
use crate::ops::standby::epoch::{Claim, EPOCH_MAX, MARK_CHARS_MAX};
use crate::ops::standby::feed::Feed;
use crate::ops::standby::protocol::{self, BYTES_HEADER, EPOCH_HEADER, KIND_HEADER, MARK_HEADER, Request, RequestKind};
use crate::site::Site;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};

const LINEAGE_CHARS_MAX: usize = 32;
const SITE_CHARS_MAX: usize = 64;
const URL_CHARS_MAX: usize = 300;
const FOLLOWER_CHARS_MAX: usize = 32;

impl Named for RequestKind {
    const NAMES: &'static [(&'static str, RequestKind)] =
        &[("base", RequestKind::Base), ("tick", RequestKind::Tick), ("promoted", RequestKind::Promoted)];
}

/// How often a site was promoted.
pub(crate) struct Epoch;

impl Field for Epoch {
    type Value = i64;

    fn read(value: &Value) -> Result<i64, Text> {
        fields::whole_in(0..=EPOCH_MAX)(value)
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": EPOCH_MAX },
            { "type": "string", "pattern": r"^\s*(\+?0*[0-9]{1,4}|-0+)(\.0*)?\s*$" },
        ] })
    }
}

crate::body! {
    pub(crate) struct StandbyRequest {
        /// `tick`: the tick behind the one that is on the standby's disk; `base`: the copy that ticks go on from; `promoted`: which of
        /// the two is the main machine now, because the standby was promoted.
        wish: Name<RequestKind>,
        /// The lineage of the copy, in hex, from the base.
        lineage: Option<Line<LINEAGE_CHARS_MAX>>,
        /// The number of the last tick on the standby's disk; 0: the base alone.
        number: Option<Count>,
        /// The first byte of the requested part.
        offset: Option<Count>,
        /// The highest epoch that the standby knows.
        epoch: Option<Epoch>,
        /// With `promoted`: what distinguishes two machines that took that epoch independently; the greater one goes on.
        mark: Option<Line<MARK_CHARS_MAX>>,
        /// With `promoted`: the address of the machine whose epoch that is.
        url: Option<Line<URL_CHARS_MAX>>,
        /// With `promoted`: the id of the site. A machine with another site is not replaced.
        site: Option<Line<SITE_CHARS_MAX>>,
        /// The id of the standby: another one is refused while this one follows.
        follower: Option<Line<FOLLOWER_CHARS_MAX>>,
    }
}

crate::operation! {
    /// Feed a standby
    ///
    /// For `tunneldesk standby` on a second machine, if the settings have a token for it; otherwise the path is
    /// unknown. Each request names the last data on that machine's disk, and waits some seconds for the next.
    ANSWER = "followSite"
        .body(|| json!({
            "wish": "tick", "lineage": "00112233445566778899aabbccddeeff", "number": 41, "offset": 0,
            "epoch": 0,
        }))
        .refuses(&["NotFound"])
        .also(|| json!({
            "responses": {
                "200": {
                    "description": "`x-standby` says what it is: `part`, some bytes of a tick or a base, of `x-standby-bytes` in all; `nothing` new; `base-needed`, `base-under-way`; `replaced`, another machine has replaced this one; `taken`, another standby follows; `other-site`, this machine has another site.",
                    "content": { "application/octet-stream": { "schema": { "type": "string" } } },
                    "headers": {
                        "x-standby": {
                            "description": "The kind of the answer.",
                            "schema": {
                                "enum": [
                                    "part", "nothing", "base-needed", "base-under-way", "replaced", "taken",
                                    "other-site",
                                ],
                            },
                        },
                        "x-standby-epoch": {
                            "description": "The highest epoch that this machine knows: promotions raise it.",
                            "schema": { "type": "integer", "minimum": 0 },
                        },
                        "x-standby-mark": {
                            "description": "Distinguishes two machines that took that epoch independently.",
                            "schema": { "type": "string" },
                        },
                        "x-standby-bytes": {
                            "description": "Of the whole tick or base.",
                            "schema": { "type": "integer", "minimum": 0 },
                        },
                    },
                },
            },
        }))
}

pub(crate) fn answer(site: &Site, call: &Call, _: &Standby) -> Answer {
    let StandbyRequest { wish, lineage, number, offset, epoch, mark, url, site: site_id, follower } =
        call.parse_body::<StandbyRequest>()?.finish()?;
    let count = |given: Option<i64>| given.unwrap_or_default().unsigned_abs();
    let request = Request {
        kind: wish,
        lineage: lineage.unwrap_or_default(),
        number: count(number),
        offset: count(offset),
        claim: Claim { epoch: count(epoch), mark: mark.unwrap_or_default() },
        url: url.and_then(|url| address(&url, call.peer)),
        site: site_id.unwrap_or_default(),
        follower: follower.unwrap_or_default(),
        peer: call.peer.to_string(),
    };
    let answer = site.state::<Feed>().answer(site, &request);
    let (known, _) = claim::known(site);
    let mark = HeaderValue::from_str(&known.mark).unwrap_or(HeaderValue::from_static(""));
    let answer = written(answer).with_header(HeaderName::from_static(EPOCH_HEADER), known.epoch.into());
    Ok(answer.with_header(HeaderName::from_static(MARK_HEADER), mark))
}

/// The address of a server, as it is reached from here. `None`: the text is none.
fn address(url: &str, peer: IpAddr) -> Option<String> {
    let uri: http::Uri = url.parse().ok()?;
    let (scheme, host) = (uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme))?, uri.host()?);
    // A machine without a name of its own calls itself so.
    if host != "localhost" || peer.is_loopback() {
        return Some(url.to_owned());
    }
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some(format!("{scheme}://{}", SocketAddr::new(peer, port)))
}

fn written(reply: protocol::Reply) -> Reply {
    let kind = HeaderValue::from_static(reply.kind());
    let (bytes, total) = match reply {
        protocol::Reply::Part { bytes, total } => (bytes, total),
        _ => (Vec::new(), 0),
    };
    reply::bytes("application/octet-stream", bytes)
        .with_header(HeaderName::from_static(KIND_HEADER), kind)
        .with_header(HeaderName::from_static(BYTES_HEADER), total.into())
}
