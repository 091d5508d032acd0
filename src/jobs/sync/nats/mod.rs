//! NATS JetStream: each batch is one message on the site's subject, acknowledged by the stream.
//!
//! The client is our own: the protocol is needed only for one request at a time, and the outcome of each must be known
//! exactly. A library that reconnects by itself and buffers messages hides the outcome, and adds a second async
//! runtime.
//!
//! The stream keeps the order and accepts nothing twice: each message names the message of its subject that it must
//! follow, so that a message which arrives late is refused.

mod login;
mod wire;

use super::batch::Batch;
use super::https::{secret, sign};
use super::upstream::{Position, Trouble, Upstream, error_line};
use crate::clock::Clock;
use crate::config::{self, Sync};
use crate::moment::Moment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use wire::{Message, Wire};

/// The headers of a message with the number and the moment of its last row.
const LAST_SEQ: &str = "Tunneldesk-Last-Seq";
const LAST_AT: &str = "Tunneldesk-Last-At";
/// The header with the id of a message, by which the server knows duplicates, and that with the message before it.
const MESSAGE_ID: &str = "Nats-Msg-Id";
const EXPECTED_BEFORE: &str = "Nats-Expected-Last-Subject-Sequence";
/// Messages that are looked at for lost ones, at most: each costs a request.
const LOOKED_THROUGH_MAX: usize = 100;
const LOOK_INTERVAL_SECONDS: i64 = 3_600;
/// Error codes of JetStream.
const WRONG_LAST_SEQUENCE: [u64; 2] = [10071, 10164];
const MESSAGE_TOO_LARGE: u64 = 10054;
/// A limit of the stream, of the account or of the server is reached.
const NO_ROOM: [u64; 4] = [10023, 10028, 10047, 10077];
const NO_MESSAGE: u64 = 10037;
const HEADERS_BYTES_MAX: usize = 1024;

pub(super) struct Nats {
    settings: config::Nats,
    authority: Option<Vec<u8>>,
    subject: String,
    client_id: String,
    secret_file: Option<PathBuf>,
    strict: bool,
    clock: Arc<Clock>,
    connection: Option<Connection>,
    /// When the stream was last looked through for lost messages (Unix seconds); 0: never.
    looked_at: Moment,
}

/// A connection, and the stream that stores the subject.
struct Connection {
    wire: Wire,
    stream: String,
    /// The stream sequence of the last message on the subject; 0: none.
    last: u64,
}

#[derive(Deserialize)]
struct Fault {
    err_code: Option<u64>,
    code: Option<u64>,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Ack {
    seq: Option<u64>,
    #[serde(default)]
    duplicate: bool,
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Streams {
    streams: Option<Vec<String>>,
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Found {
    message: Option<Stored>,
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Stored {
    seq: u64,
    hdrs: Option<String>,
}

impl Nats {
    pub(super) fn new(
        server: &config::Nats,
        settings: &Sync,
        site_id: &str,
        clock: Arc<Clock>,
    ) -> Result<Nats, String> {
        Ok(Nats {
            settings: server.clone(),
            authority: settings.authority.clone(),
            subject: server.subject.replace("{site_id}", site_id),
            client_id: settings.client_id.clone(),
            secret_file: settings.secret_file.clone(),
            strict: settings.strict,
            clock,
            connection: None,
            looked_at: Moment(0),
        })
    }

    fn connection(&mut self) -> Result<&mut Connection, Trouble> {
        if self.connection.is_none() {
            let mut wire = Wire::connect(&self.settings, self.authority.as_deref())?;
            let stream = stream_of(&mut wire, &self.subject)?;
            self.connection = Some(Connection { wire, stream, last: 0 });
        }
        Ok(self.connection.as_mut().expect("it was just made"))
    }

    /// A message of the stream: its stream sequence and headers. `None`: it is not there.
    fn message(&mut self, asked: &Value) -> Result<Option<(u64, String)>, Trouble> {
        let connection = self.connection()?;
        let api = format!("$JS.API.STREAM.MSG.GET.{}", connection.stream);
        let found: Found = parsed(connection.wire.request(&api, &[], asked.to_string().as_bytes())?)?;
        if let Some(fault) = found.error.filter(|fault| fault.err_code != Some(NO_MESSAGE)) {
            return Err(Trouble::later(format!("the stream cannot say what it has: {}", words(&fault))));
        }
        Ok(found.message.map(|stored| {
            let headers = stored.hdrs.and_then(|hdrs| STANDARD.decode(hdrs).ok()).unwrap_or_default();
            (stored.seq, String::from_utf8_lossy(&headers).into_owned())
        }))
    }

    /// The position in the last message on the subject.
    fn last(&mut self) -> Result<Option<Position>, Trouble> {
        let last = self.message(&json!({ "last_by_subj": self.subject }))?;
        self.connection()?.last = last.as_ref().map_or(0, |(seq, _)| *seq);
        let headers = last.map_or_else(String::new, |(_, headers)| headers);
        let number = |name: &str| wire::header(&headers, name).and_then(|value| value.parse().ok());
        Ok(number(LAST_SEQ).map(|seq| Position { seq, at: number(LAST_AT).map(Moment) }))
    }

    /// Goes back from the last message, each of which names the one before, to the first row. Returns the row before the first
    /// one behind which nothing is lost.
    fn lost_before_last(&mut self) -> Result<Option<i64>, Trouble> {
        let (mut seq, mut first_row) = (self.connection()?.last, None);
        for _ in 0..LOOKED_THROUGH_MAX {
            let Some((_, headers)) = self.message(&json!({ "seq": seq }))? else {
                return Ok(first_row.map(|row: i64| row - 1));
            };
            // The id of a message: the site, then its rows. A refused row that was sent again stands anywhere.
            let rows = wire::header(&headers, MESSAGE_ID).and_then(|id| id.split(':').nth(1)?.split_once('-'));
            let is_again = wire::header(&headers, MESSAGE_ID).is_some_and(|id| id.contains(":again-"));
            let row = rows.and_then(|(first, _)| first.parse().ok()).filter(|_| !is_again);
            first_row = row.or(first_row);
            let before = wire::header(&headers, EXPECTED_BEFORE).and_then(|before| before.parse().ok());
            match before.filter(|_| row != Some(1)) {
                Some(0) => return Ok(first_row.map(|row| row - 1)),
                Some(before) => seq = before,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    fn publish(&mut self, batch: &Batch) -> Result<Position, Trouble> {
        let mut headers = vec![
            (MESSAGE_ID, batch.key()),
            ("Content-Type", "application/json".to_owned()),
            ("Content-Encoding", "gzip".to_owned()),
            (LAST_SEQ, batch.position.to_string()),
        ];
        headers.extend(batch.position_at.map(|at| (LAST_AT, at.to_string())));
        headers.extend(self.signature(&batch.body)?);
        // After a pause the connection is a new one, which does not know yet what the stream has.
        if self.connection.is_none()
            && let Some(held) = self.last()?
            && held.seq != batch.after
            && !batch.is_again()
        {
            return Err(Trouble::OutOfPosition(held));
        }
        let subject = self.subject.clone();
        let connection = self.connection()?;
        headers.push((EXPECTED_BEFORE, connection.last.to_string()));
        if batch.body.len() + HEADERS_BYTES_MAX > connection.wire.payload_max {
            let most = connection.wire.payload_max;
            return Err(Trouble::TooLarge(format!("it is larger than the server takes (max_payload {most})")));
        }
        let ack: Ack = parsed(connection.wire.request(&subject, &headers, &batch.body)?)?;
        match (ack.seq, ack.error) {
            (Some(_), None) if ack.duplicate => return self.named_before(batch),
            (Some(seq), None) => connection.last = seq,
            (_, Some(fault)) => return self.refused(&fault),
            (None, None) => return Err(Trouble::later("the server answered without a number: is this JetStream?")),
        }
        Ok(Position { seq: batch.position, at: batch.position_at })
    }

    /// The server knows the message id, but the stream may have dropped the message.
    fn named_before(&mut self, batch: &Batch) -> Result<Position, Trouble> {
        match self.last()? {
            Some(held) if held.seq >= batch.position => Ok(held),
            _ => Err(Trouble::later(
                "the stream has dropped this batch and still knows its id; it is sent again after a while",
            )),
        }
    }

    fn refused(&mut self, fault: &Fault) -> Result<Position, Trouble> {
        match fault.err_code {
            // Another client has published meanwhile, the stream has dropped the last message, or an earlier attempt
            // has arrived.
            Some(code) if WRONG_LAST_SEQUENCE.contains(&code) => match self.last()? {
                Some(held) => Err(Trouble::OutOfPosition(held)),
                None => Err(Trouble::later("the stream has dropped its messages; the batch is sent again")),
            },
            Some(MESSAGE_TOO_LARGE) => Err(Trouble::TooLarge(words(fault))),
            code => {
                let error = format!("the stream did not take it: {}", words(fault));
                Err(if code.is_some_and(|code| NO_ROOM.contains(&code)) {
                    Trouble::Full(error)
                } else {
                    Trouble::later(error)
                })
            }
        }
    }

    /// The signature headers, with which readers of the stream authenticate the sender.
    fn signature(&self, body: &[u8]) -> Result<Vec<(&'static str, String)>, Trouble> {
        let Some(file) = self.secret_file.as_ref().filter(|_| !self.client_id.is_empty()) else {
            return Ok(Vec::new());
        };
        let stamp = self.strict.then(|| self.clock.now().to_string());
        let token = sign(secret(file)?.as_bytes(), stamp.as_deref(), body);
        let mut headers = vec![("client-id", self.client_id.clone()), ("token", token)];
        headers.extend(stamp.map(|stamp| ("x-timestamp", stamp)));
        Ok(headers)
    }

    /// Closes the connection after a failure, because it may still deliver the answer to an earlier request.
    fn close_on_failure<T>(&mut self, done: Result<T, Trouble>) -> Result<T, Trouble> {
        if matches!(done, Err(Trouble::Later { .. })) {
            self.connection = None;
        }
        done
    }
}

impl Upstream for Nats {
    fn ask(&mut self, _: &Batch) -> Result<Option<Position>, Trouble> {
        let last = self.last();
        self.close_on_failure(last)
    }

    fn offer(&mut self, batch: &Batch) -> Result<Position, Trouble> {
        let published = self.publish(batch);
        self.close_on_failure(published)
    }

    fn last_lost(&mut self, held: i64) -> Result<Option<i64>, Trouble> {
        let now = self.clock.now();
        if self.connection()?.last == 0 {
            return Ok(Some(held));
        }
        if (0..LOOK_INTERVAL_SECONDS).contains(&(now - self.looked_at)) {
            return Ok(None);
        }
        self.looked_at = now;
        let lost = self.lost_before_last();
        self.close_on_failure(lost)
    }

    fn disconnect(&mut self) {
        self.connection = None;
    }
}

/// The name of the stream that stores the subject.
fn stream_of(wire: &mut Wire, subject: &str) -> Result<String, Trouble> {
    let asked = json!({ "subject": subject }).to_string();
    let found: Streams = parsed(wire.request("$JS.API.STREAM.NAMES", &[], asked.as_bytes())?)?;
    if let Some(fault) = found.error {
        return Err(Trouble::later(format!("the server does not say which stream takes {subject}: {}", words(&fault))));
    }
    let first = found.streams.unwrap_or_default().into_iter().next();
    first.ok_or_else(|| {
        Trouble::later(format!(
            "no stream takes {subject}: make one, for instance `nats stream add --subjects='{subject}'`"
        ))
    })
}

fn parsed<T: DeserializeOwned>(message: Message) -> Result<T, Trouble> {
    if message.status == Some(503) {
        return Err(Trouble::later("nobody answers there: JetStream is off, or the account has none"));
    }
    serde_json::from_slice(&message.body).map_err(|_| {
        let said = serde_json::from_slice::<Value>(&message.body).map(|v| v.to_string());
        Trouble::later(format!("the server's answer cannot be read: {}", said.unwrap_or_default()))
    })
}

fn words(fault: &Fault) -> String {
    let code = fault.err_code.or(fault.code).unwrap_or_default();
    error_line(format!("{} ({code})", fault.description.as_deref().unwrap_or("no reason given")))
}
