//! The requests of a standby to the machine that it follows.

use crate::auth::Standby;
use crate::http::Answer;
use crate::http::body::Field;
use crate::http::call::Call;
use crate::http::field_types::{Count, Line, Name, Named};
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::ops::standby::epoch::{self, EPOCH_MAX};
use crate::ops::standby::feed::Feed;
use crate::ops::standby::protocol::{self, BYTES_HEADER, EPOCH_HEADER, KIND_HEADER, Request, RequestKind};
use crate::site::Site;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

const LINEAGE_CHARS_MAX: usize = 32;

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
        /// `tick`: the tick behind the one that is on the standby's disk; `base`: the copy that ticks go on from; `promoted`: nothing,
        /// the standby has taken this machine's place.
        wish: Name<RequestKind>,
        /// The lineage of the copy, in hex, from the base.
        lineage: Option<Line<LINEAGE_CHARS_MAX>>,
        /// The number of the last tick on the standby's disk; 0: the base alone.
        number: Option<Count>,
        /// The first byte of the requested part.
        offset: Option<Count>,
        /// The highest epoch that the standby knows.
        epoch: Option<Epoch>,
    }
}

/// `POST /standby`: the next tick once there is one, within some seconds, or a part of it or of a base. Every request says what
/// is on the standby's disk: that is how a tick is confirmed.
pub(crate) fn answer(site: &Site, call: &Call, _: &Standby) -> Answer {
    let StandbyRequest { wish, lineage, number, offset, epoch } = call.parse_body::<StandbyRequest>()?.finish()?;
    let count = |given: Option<i64>| given.unwrap_or_default().unsigned_abs();
    let request = Request {
        kind: wish,
        lineage: lineage.unwrap_or_default(),
        number: count(number),
        offset: count(offset),
        epoch: count(epoch),
    };
    let answer = site.state::<Feed>().answer(site, &request);
    let own = epoch::own(&site.config.data).epoch;
    Ok(written(answer).with_header(HeaderName::from_static(EPOCH_HEADER), own.into()))
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
