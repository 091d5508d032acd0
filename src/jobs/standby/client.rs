//! The HTTP client with which a standby requests its base and ticks.

use crate::config::replica::{is_open_to_others, what_is_wrong};
use crate::ops::agent::{agent, agent_that_trusts_all};
use crate::ops::standby::epoch::{Claim, EPOCH_MAX, MARK_CHARS_MAX, Main};
use crate::ops::standby::protocol::{BYTES_HEADER, EPOCH_HEADER, KIND_HEADER, MARK_HEADER, Reply};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use ureq::Agent;

/// The greatest time for an answer: longer than the main machine waits for a new commit.
pub(super) const TICK_TIME_MAX: Duration = Duration::from_secs(40);
/// The greatest time for an answer that waits for nothing.
pub(super) const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// The greatest size of an answer about a machine's health.
const HEALTH_BYTES_MAX: u64 = 64 * 1024;
/// The greatest size of an answer in memory: more than the largest part.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The greatest size of a base, which is written to the disk.
const BYTES_MAX: u64 = 1 << 40;
const PATH: &str = "/api/standby";

pub(super) struct PrimaryClient {
    agent: Agent,
    url: String,
    token: String,
    follower: String,
}

pub(super) struct Response {
    pub reply: Reply,
    /// The greatest claim that the machine knows which answered.
    pub claim: Claim,
}

/// What a machine answers to the question whether it serves.
#[derive(Debug)]
pub(crate) enum Serving {
    Yes,
    /// The machine was replaced, and writes nothing.
    Replaced,
    /// The machine does not answer, for a reason in one line.
    Silent(String),
}

/// Asks a machine whether it serves. Nothing secret is sent, and whoever stands between could also cut the line: so it does not
/// matter who signed the certificate.
pub(crate) fn serving(url: &str) -> Serving {
    let silent = |e: &dyn std::fmt::Display| Serving::Silent(e.to_string());
    let mut answer = match agent_that_trusts_all(ANSWER_TIME_MAX).get(format!("{url}/readyz")).call() {
        Ok(answer) => answer,
        Err(e) => return silent(&e),
    };
    let status = answer.status().as_u16();
    let body = answer.body_mut().with_config().limit(HEALTH_BYTES_MAX).read_to_string().unwrap_or_default();
    let code =
        serde_json::from_str::<serde_json::Value>(&body).ok().and_then(|body| body["code"].as_str().map(str::to_owned));
    match code.as_deref() {
        Some("replaced") => Serving::Replaced,
        Some(_) => Serving::Yes,
        None if status == 200 => Serving::Yes,
        None => silent(&format_args!("it answers {status}")),
    }
}

/// Reads a token from a file. The error: other users can read the file, or the file has no token.
pub(crate) fn token_in(file: &Path) -> Result<String, String> {
    let shown = file.display();
    let text = crate::files::read_given_text(file).map_err(|e| format!("cannot read {shown}: {e}"))?;
    if is_open_to_others(&file.to_string_lossy()) {
        return Err(format!("{shown} can be read by others: chmod 600 {shown}"));
    }
    match what_is_wrong(text.trim()) {
        None => Ok(text.trim().to_owned()),
        Some(what) => Err(format!("{shown} {what}")),
    }
}

impl PrimaryClient {
    /// `follower`: see [`Request::follower`](crate::ops::standby::protocol::Request::follower).
    pub(super) fn new(main: &Main, follower: &str, answer_time_max: Duration) -> Result<PrimaryClient, String> {
        let authority = main
            .ca_file
            .as_ref()
            .map(|path| crate::files::read_given(path).map_err(|e| format!("cannot read {}: {e}", path.display())));
        let agent = agent(authority.transpose()?.as_deref(), "--ca-file", answer_time_max)?;
        let (url, token) = (format!("{}{PATH}", main.url), token_in(&main.token_file)?);
        Ok(PrimaryClient { agent, url, token, follower: follower.to_owned() })
    }

    pub(super) fn tick(&self, lineage: &str, number: u64, offset: u64, epoch: u64) -> Result<Response, String> {
        let follower = &self.follower;
        self.ask(&json!({ "wish": "tick", "lineage": lineage, "number": number, "offset": offset, "epoch": epoch,
                          "follower": follower }))
    }

    pub(super) fn base(&self, lineage: &str, offset: u64, epoch: u64) -> Result<Response, String> {
        let follower = &self.follower;
        self.ask(&json!({ "wish": "base", "lineage": lineage, "offset": offset, "epoch": epoch, "follower": follower }))
    }

    /// Asks which of the two machines is the main one. `url`: the address of the machine that has the claim.
    pub(super) fn promoted(&self, site: &str, claim: &Claim, url: Option<&str>) -> Result<Response, String> {
        let Claim { epoch, mark } = claim;
        self.ask(&json!({ "wish": "promoted", "site": site, "epoch": epoch, "mark": mark,
                          "url": url.unwrap_or_default() }))
    }

    fn ask(&self, body: &serde_json::Value) -> Result<Response, String> {
        let unreached = |e: ureq::Error| format!("{} is not reached: {e}", self.url);
        let request = self.agent.post(&self.url).header("authorization", &format!("Bearer {}", self.token));
        let sent = request.header("content-type", "application/json").send(body.to_string().as_bytes());
        let mut answer = sent.map_err(unreached)?;
        let status = answer.status().as_u16();
        let header = |name: &str| answer.headers().get(name)?.to_str().ok().map(str::to_owned);
        let number = |name: &str| header(name).and_then(|text| text.parse::<u64>().ok());
        let (kind, epoch, total) = (header(KIND_HEADER), number(EPOCH_HEADER), number(BYTES_HEADER));
        let mark = header(MARK_HEADER).filter(|mark| mark.len() <= MARK_CHARS_MAX).unwrap_or_default();
        match status {
            200 => {}
            401 => return Err(format!("{} does not take the token", self.url)),
            404 => return Err(format!("{} has no standby in its settings: replica.token_file", self.url)),
            status => return Err(format!("{} answers {status}", self.url)),
        }
        let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec().map_err(unreached)?;
        let total = total.filter(|total| *total <= BYTES_MAX);
        let reply = kind.and_then(|kind| Reply::parse(&kind, bytes, total));
        let epoch = epoch.filter(|epoch| *epoch <= EPOCH_MAX.unsigned_abs());
        match (reply, epoch) {
            (Some(reply), Some(epoch)) => Ok(Response { reply, claim: Claim { epoch, mark } }),
            _ => Err(format!("{} does not answer as a tunneldesk does", self.url)),
        }
    }
}
