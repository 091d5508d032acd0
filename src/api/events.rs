//! Events as they happen: a stream, the same as JSON, and the tickets of clients that cannot send headers.

use crate::auth::Listening;
use crate::auth::Member;
use crate::auth::listening::{Tickets, resumed};
use crate::domain::event::Choice;
use crate::http::Answer;
use crate::http::accept;
use crate::http::answer::{Int, True};
use crate::http::body::ParsedBody;
use crate::http::call::{Call, REPORT_ROWS_MAX};
use crate::http::failure::Failure;
use crate::http::field_types::{Count, Line, Rows, Seconds};
use crate::http::reply::{self, Hears, Listener, Reply};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::events::{self, EventRow, Range};
use http::{HeaderName, StatusCode};
use serde_json::json;
use std::time::Duration;

/// The number of the last event that this site gave, or that an answer looked through.
const SEQ: HeaderName = HeaderName::from_static("x-event-seq");
/// Events of one JSON answer, unless the client says otherwise.
const ROWS_USUAL: i64 = 100;
const WAIT_SECONDS_MAX: i64 = 55;
/// The statements of one answer: a client that hears of few events reads on from where the last looked to.
const STEPS_MAX: usize = 8;

crate::body! {
    /// The query of the events.
    pub(crate) struct EventQuery {
        types: Option<Line<1000>>,
        after: Option<Count>,
        limit: Option<Rows<REPORT_ROWS_MAX>>,
        wait: Option<Seconds<WAIT_SECONDS_MAX>>,
    }
}

crate::answer! {
    /// A ticket for one stream.
    struct EventTicket {
        status: True,
        /// Goes into the query of `GET /events?ticket=…`, once.
        ticket: String { "minLength": 43 } = "m2yPz0c5uYt8Tq3Rk1Jv9wXe7LbNfDhGsA4iKoQpZ6U",
        /// Until when it may be used.
        ends_at: Moment = 1780000060,
        /// How many seconds that is.
        seconds: Int = 60,
    }
}

crate::operation! {
    /// Hear of events
    ///
    /// What happens at this site, as it happens: bookings, sign-offs, flight time, payments, notices. A member hears what is about the
    /// member and what becomes of requests to sign, the staff hears everything, and a partner (who signs the whole request) what
    /// becomes of its own bookings. Each event is `{"id", "type", "at", "data"}`; `id` is the site's id and the event's number, known
    /// everywhere, and `data` has numbers and the changed row, never a name or a text that somebody typed. New types and new fields
    /// may come: ignore what you do not know.
    ///
    /// As a stream (`text/event-stream`) it begins with `event: hello` and `{"site_id", "seq", "oldest"}`, then sends each event with
    /// its number as `id`, oldest first, and goes on live. A client that was cut sends the last number as `Last-Event-ID`, as browsers
    /// do by themselves, or as `after`, and misses nothing. Without either it begins with what happens from now on. Where events after
    /// that number are missing (they are kept for 30 days; what became of bookings for ever; and a site may be put back to an earlier
    /// state), `event: reset` follows the hello: read what you need anew. A comment comes every 15 seconds, and the stream ends after 30
    /// minutes or with the session.
    ///
    /// With `accept: application/json` the same events come as an array. With `wait` the answer comes with the next event, or empty
    /// after so many seconds. The header `x-event-seq` is the `after` of the next request. Where events are missing the answer is 410.
    ///
    /// A session may have 32 streams, a partner 3, the site 600; one more is 429. A client that closes its connection, or its sending
    /// side alone, gives its place back within a second or two. A ticket whose request is refused may be used again.
    LISTEN = "listenToEvents"
        .refuses(&["Invalid", "EventsGone"])
        .also(|| json!({
            "parameters": [
                {
                    "name": "types", "in": "query", "description": "Only these: types, or families such as `booking.*`, with commas between. Any other word is refused.",
                    "schema": { "type": "string" }, "example": "booking.*,notice.created",
                },
                {
                    "name": "after", "in": "query", "description": "The number of the last event that you have.",
                    "schema": { "type": "integer", "minimum": 0 }, "example": 1204,
                },
                {
                    "name": "Last-Event-ID", "in": "header", "description": "As `after`, which it goes before.",
                    "schema": { "type": "string" }, "example": "1204",
                },
                {
                    "name": "wait", "in": "query", "description": "As JSON: for how many seconds to wait for an event, 55 at most.",
                    "schema": { "type": "integer", "minimum": 0, "maximum": WAIT_SECONDS_MAX }, "example": 0,
                },
                {
                    "name": "limit", "in": "query", "description": "As JSON: the most events of one answer; by default 100.",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 500 }, "example": 100,
                },
                {
                    "name": "ticket", "in": "query", "description": "Instead of credentials: see `POST /events/ticket`.",
                    "schema": { "type": "string" }, "example": "m2yPz0c5uYt8Tq3Rk1Jv9wXe7LbNfDhGsA4iKoQpZ6U",
                },
                {
                    "name": "x-timestamp", "in": "header", "description": "A partner's: now, in Unix seconds. Signed.",
                    "schema": { "type": "string" }, "example": "1780000000",
                },
                {
                    "name": "x-nonce", "in": "header", "description": "A partner's: a random text, new in each request. Signed.",
                    "schema": { "type": "string" }, "example": "0Jx7hQ2mVd9sKf4T",
                },
            ],
            "responses": {
                "200": {
                    "description": "The stream, or the events.",
                    "headers": {
                        "x-request-id": { "$ref": "#/components/headers/RequestId" },
                        "x-event-seq": {
                            "description": "As JSON: read on after this number.", "schema": { "type": "integer", "minimum": 0 },
                        },
                    },
                    "content": {
                        "text/event-stream": {
                            "schema": { "type": "string" },
                            "example": "retry: 3000\nid: 1204\nevent: hello\ndata: {\"site_id\":\"5d41\",\"seq\":1204,\"oldest\":1}\n\nid: 1205\ndata: {\"id\":\"5d41-1205\",\"type\":\"booking.cancelled\",\"at\":1780000000,\"data\":{\"booking_id\":88}}\n\n",
                        },
                        "application/json": {
                            "schema": {
                                "type": "array",
                                "items": {
                                    "type": "object", "required": ["id", "type", "at", "data"],
                                    "properties": {
                                        "id": { "type": "string" },
                                        "type": { "type": "string", "description": "Open to new ones.", "examples": events::TYPES },
                                        "at": { "type": "integer", "description": "Unix seconds." },
                                        "data": { "type": "object" },
                                    },
                                },
                            },
                            "example": [{
                                "id": "5d41402abc4b2a765d41402abc4b2a76-1205", "type": "booking.cancelled", "at": 1780000000,
                                "data": { "booking_id": 88, "registration_id": 7001, "ended": "cancelled", "ended_at": 1780000000 },
                            }],
                        },
                    },
                },
            },
        }))
}

pub(crate) fn listen(site: &Site, call: &Call, listening: &Listening) -> Answer {
    let answer = answer(site, call, listening);
    let is_refused = answer.as_ref().map_or(true, |reply| !reply.status.is_success());
    if let Some(ticket) = listening.ticket.as_ref().filter(|_| is_refused) {
        site.state::<Tickets>().give_back(ticket);
    }
    answer
}

fn answer(site: &Site, call: &Call, listening: &Listening) -> Answer {
    let query: EventQuery = ParsedBody::read(call.query()).finish()?;
    let choice = Choice::parse(query.types.as_deref().unwrap_or(""), events::TYPES).map_err(|unknown| {
        let text = Text::new("events_types").with("type", unknown).with("types", events::TYPES.join(", "));
        Failure::field("types", text)
    })?;
    let after = resumed(call).or(query.after);
    let Listening { audience, holder, ticket } = *listening;
    if !wants_json(call, query.wait) {
        return Ok(reply::stream(Listener { holder, ticket, hears: Hears::Events { audience, choice, after } }));
    }
    let limit = query.limit.unwrap_or(ROWS_USUAL);
    let (rows, seq) = match read(site, listening, &choice, after, limit)? {
        Found::Rows(rows, seq) => (rows, seq),
        Found::Gone(range) => return Ok(gone(call, range)),
    };
    let within = Duration::from_secs(query.wait.unwrap_or(0) as u64);
    let texts: Vec<String> = rows.iter().map(|row| row.envelope(&site.site_id)).collect();
    let body = format!("[{}]", texts.join(","));
    let mut reply = reply::json_again(StatusCode::OK, body.into_bytes()).unstored().with_header(SEQ, seq.into());
    if rows.is_empty() && !within.is_zero() {
        let hears = Hears::Next { audience, choice, after: seq, limit, within };
        reply.listener = Some(Listener { holder, ticket, hears });
    }
    Ok(reply)
}

/// What there is after a number.
enum Found {
    /// The next events, and how far the answer looked.
    Rows(Vec<EventRow>, i64),
    /// Events after the number are missing; the range that there is.
    Gone(Range),
}

/// The next events after a number.
fn read(site: &Site, listening: &Listening, choice: &Choice, after: Option<i64>, limit: i64) -> Result<Found, Failure> {
    site.store.read(|tx| {
        let range = events::range(tx)?;
        let mut seq = after.unwrap_or(range.last);
        if !range.goes_on_after(seq) {
            return Ok(Found::Gone(range));
        }
        for _ in 0..STEPS_MAX {
            let step = events::step(tx, listening.audience, choice, seq, limit)?;
            seq = step.looked_to;
            if !step.rows.is_empty() || seq >= range.last {
                return Ok(Found::Rows(step.rows, seq));
            }
        }
        Ok(Found::Rows(Vec::new(), seq))
    })
}

/// Whether the client wants JSON: it says so, or it waits for one answer.
fn wants_json(call: &Call, wait: Option<i64>) -> bool {
    wait.is_some() || accept::prefers_json_to_stream(&call.headers)
}

/// 410, with the number to go on after.
fn gone(call: &Call, range: Range) -> Reply {
    let failure = Failure::events_gone();
    reply::refusal(&failure, call.language(), &call.request_id).with_header(SEQ, range.last.into())
}

crate::operation! {
    /// Get a ticket for one stream
    ///
    /// For a client that cannot send headers with a stream, such as `EventSource` in a browser: the ticket goes into the query of `GET
    /// /events`, within 60 seconds, once. The stream is that of this session, and ends with it. After a close take a new ticket. No
    /// log has it.
    TICKET = "createEventTicket"
        .answers::<EventTicket>("The ticket.")
}

pub(crate) fn ticket(site: &Site, call: &Call, member: &Member) -> Answer {
    let now = site.now();
    let (ticket, ends_at) = site.state::<Tickets>().issue(call, member, now)?;
    Ok(reply::ok(&EventTicket { status: true, ticket, ends_at, seconds: ends_at - now }).unstored())
}
