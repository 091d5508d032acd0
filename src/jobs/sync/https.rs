//! A receiver at an HTTPS URL: each batch is a POST, signed as partners sign their requests.

use super::backoff;
use super::batch::Batch;
use super::upstream::{Position, Trouble, Upstream, error_line};
use crate::clock::Clock;
use crate::config::Sync;
use crate::http::{fields, json};
use crate::keys::{hex, hmac_sha256};
use crate::moment::Moment;
use crate::ops::agent::agent;
use http::{HeaderMap, StatusCode, header};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;

const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

pub(super) struct Https {
    url: String,
    client_id: String,
    secret_file: PathBuf,
    strict: bool,
    agent: Agent,
    clock: Arc<Clock>,
}

/// The body of a receiver's answer, for any status. A field of another type counts as absent and spoils no other.
struct Said {
    last_seq: Option<i64>,
    last_at: Option<Moment>,
    /// The reason of a refusal.
    message: Option<String>,
}

impl Said {
    fn read(body: &[u8]) -> Said {
        let body = json::parse(body).unwrap_or_default();
        let number = |field| fields::whole(&body[field]).ok();
        Said {
            last_seq: number("last_seq").filter(|seq| *seq >= 0),
            last_at: number("last_at").map(Moment),
            message: body["message"].as_str().map(str::to_owned),
        }
    }
}

impl Https {
    pub(super) fn new(url: &str, settings: &Sync, clock: Arc<Clock>) -> Result<Https, String> {
        let agent = agent(settings.authority.as_deref(), "sync.ca_file", ANSWER_TIME_MAX)?;
        let secret_file = settings.secret_file.clone().unwrap_or_default();
        let (url, client_id, strict) = (url.to_owned(), settings.client_id.clone(), settings.strict);
        Ok(Https { url, client_id, secret_file, strict, agent, clock })
    }

    fn post(&mut self, batch: &Batch, key: Option<String>) -> Result<Position, Trouble> {
        let secret = secret(&self.secret_file)?;
        let stamp = self.strict.then(|| self.clock.now().to_string());
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("content-encoding", "gzip")
            .header("accept", "application/json")
            .header("client-id", &self.client_id)
            .header("token", sign(secret.as_bytes(), stamp.as_deref(), &batch.body));
        if let Some(stamp) = &stamp {
            request = request.header("x-timestamp", stamp);
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let mut answer = request.send(&batch.body[..]).map_err(|e| unreached(&e))?;
        // The page of a gateway may be long or cut off; the status counts all the same.
        let mut body = Vec::new();
        let read = answer.body_mut().as_reader().take(ANSWER_BYTES_MAX).read_to_end(&mut body);
        if let (Err(error), true) = (read, answer.status().is_success()) {
            return Err(unreached(&error.into()));
        }
        judged(answer.status(), answer.headers(), &body, self.clock.now())
    }
}

impl Upstream for Https {
    /// Requests the position with a batch without rows. The request has no idempotency key, because a stored answer
    /// would be out of date.
    fn ask(&mut self, nothing: &Batch) -> Result<Option<Position>, Trouble> {
        match self.post(nothing, None) {
            Err(Trouble::OutOfPosition(held)) => Ok(Some(held)),
            // A batch without rows has nothing to refuse.
            Err(Trouble::Refused(error) | Trouble::TooLarge(error)) => Err(Trouble::later(error)),
            answer => answer.map(Some),
        }
    }

    fn offer(&mut self, batch: &Batch) -> Result<Position, Trouble> {
        self.post(batch, Some(batch.key()))
    }
}

fn unreached(error: &ureq::Error) -> Trouble {
    let error = error.to_string();
    Trouble::later(format!("the receiver is not reached: {}", error.strip_prefix("io: ").unwrap_or(&error)))
}

/// Reads the secret from its file, which may have been replaced since the last batch.
pub(super) fn secret(file: &std::path::Path) -> Result<String, Trouble> {
    let read = crate::files::read_given_text(file);
    let text = read.map_err(|e| Trouble::later(format!("cannot read {}: {e}", file.display())))?;
    match text.trim() {
        "" => Err(Trouble::later(format!("{} is empty: it must hold the receiver's secret", file.display()))),
        secret => Ok(secret.to_owned()),
    }
}

/// Lower-case hex HMAC-SHA256 of the sent bytes, preceded by the time in strict mode.
pub(super) fn sign(secret: &[u8], stamp: Option<&str>, body: &[u8]) -> String {
    let stamp = stamp.map(|stamp| format!("{stamp}.")).unwrap_or_default();
    hex(&hmac_sha256(secret, &[stamp.as_bytes(), body]))
}

fn judged(status: StatusCode, headers: &HeaderMap, body: &[u8], now: Moment) -> Result<Position, Trouble> {
    let said = Said::read(body);
    let held = said.last_seq.map(|seq| Position { seq, at: said.last_at });
    let words = said.message.map(|message| format!(": {message}")).unwrap_or_default();
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let elsewhere = text(header::LOCATION).filter(|_| status.is_redirection());
    let elsewhere = elsewhere.map(|url| format!(": batches go to sync.url alone, and it leads to {url}"));
    let error = error_line(format!("the receiver answered {status}{}{words}", elsewhere.unwrap_or_default()));
    let wait = text(header::RETRY_AFTER).and_then(|value| backoff::retry_after(value, text(header::DATE), now));
    match (status, held) {
        (status, Some(held)) if status.is_success() => Ok(held),
        // Such an answer may come from a gateway that has not forwarded the batch.
        (status, None) if status.is_success() => {
            Err(Trouble::Later { error: format!("{error} without last_seq"), wait })
        }
        (StatusCode::CONFLICT, Some(held)) => Err(Trouble::OutOfPosition(held)),
        (StatusCode::PAYLOAD_TOO_LARGE, _) => Err(Trouble::TooLarge(error)),
        (StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY, _) => Err(Trouble::Refused(error)),
        // The receiver does not know this site, cannot be reached, or has a fault: the rows are not the cause.
        _ => Err(Trouble::Later { error, wait }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(status: u16, headers: &[(&'static str, &str)], body: &str) -> Result<Position, Trouble> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        judged(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes(), Moment(0))
    }

    #[test]
    fn an_answer_tells_whose_fault_it_is_and_where_to_go_on() {
        let at = |seq| Position { seq, at: None };
        assert_eq!(judge(200, &[], r#"{"last_seq": 7, "last_at": 5}"#), Ok(Position { seq: 7, at: Some(Moment(5)) }));
        assert_eq!(judge(409, &[], r#"{"last_seq": 3}"#), Err(Trouble::OutOfPosition(at(3))));
        assert!(matches!(judge(409, &[], "{}"), Err(Trouble::Later { .. })));
        assert!(matches!(judge(413, &[], ""), Err(Trouble::TooLarge(_))));
        let Err(Trouble::Refused(error)) = judge(422, &[], r#"{"message": "row 9:\n no"}"#) else { panic!() };
        assert!(error.ends_with("422 Unprocessable Entity: row 9: no"), "{error}");
        for status in [301, 401, 403, 404, 408, 429, 500, 503] {
            assert!(matches!(judge(status, &[], ""), Err(Trouble::Later { .. })), "{status}");
        }
    }

    /// The page of an intermediate gateway acknowledges no rows.
    #[test]
    fn a_success_without_a_place_is_none() {
        for body in ["", "<html>", "{}", "[7]", r#"{"last_seq": "all"}"#, r#"{"last_seq": -1}"#, r#"{"last_seq": 7.5}"#]
        {
            assert!(matches!(judge(200, &[], body), Err(Trouble::Later { .. })), "{body}");
        }
    }

    /// Languages without whole numbers write 7 as 7.0, and some libraries write numbers as text.
    #[test]
    fn an_odd_field_of_an_answer_spoils_no_other() {
        for body in [
            "\u{feff}{\"last_seq\": 7, \"last_at\": 5}",
            r#"{"last_seq": "7", "last_at": 5.0}"#,
            r#"{"last_seq": 7.0, "last_at": "5", "message": {"text": "taken"}}"#,
        ] {
            assert_eq!(judge(200, &[], body), Ok(Position { seq: 7, at: Some(Moment(5)) }), "{body}");
        }
        let odd = r#"{"last_seq": 7, "last_at": "now", "message": null}"#;
        assert_eq!(judge(409, &[], odd), Err(Trouble::OutOfPosition(Position { seq: 7, at: None })));
        let Err(Trouble::Refused(error)) = judge(422, &[], r#"{"message": "no", "last_seq": []}"#) else { panic!() };
        assert!(error.ends_with(": no"), "{error}");
    }

    #[test]
    fn a_redirect_is_not_followed_and_says_where_it_leads() {
        let there = [("location", "https://upstream.example.org/in/")];
        let Err(Trouble::Later { error, .. }) = judge(308, &there, "<html>") else { panic!() };
        assert!(error.contains("308") && error.ends_with("leads to https://upstream.example.org/in/"), "{error}");
        let Err(Trouble::Later { error, .. }) = judge(500, &there, "") else { panic!() };
        assert!(!error.contains("upstream"), "{error}");
    }

    #[test]
    fn a_receiver_says_when_to_come_again() {
        let Err(Trouble::Later { wait, .. }) = judge(503, &[("retry-after", "90")], "") else { panic!() };
        assert_eq!(wait, Some(Duration::from_secs(90)));
        let dates = [("date", "Sat, 21 Nov 2026 12:00:00 GMT"), ("retry-after", "Sat, 21 Nov 2026 12:01:00 GMT")];
        let Err(Trouble::Later { wait, .. }) = judge(429, &dates, "") else { panic!() };
        assert_eq!(wait, Some(Duration::from_secs(60)));
    }

    #[test]
    fn the_signature_is_that_of_partners() {
        let token = "309042b1fdb688e9d4935db0c14de10cb4b051b91ef9dba5626460cc076d5f9d";
        assert_eq!(sign(b"partner-secret", None, br#"{"limit":10,"offset":0}"#), token);
        assert_ne!(sign(b"partner-secret", Some("1"), br#"{"limit":10,"offset":0}"#), token);
    }
}
