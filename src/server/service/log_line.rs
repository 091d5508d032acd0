//! The log line of a request.

use super::super::body_room::BodyShare;
use super::super::pool::FinishedCall;
use crate::http::row::CallerKind;
use crate::i18n::language::Language;
use crate::log;
use crate::routes::TABLE;
use http::{Method, StatusCode};
use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Instant;

/// The values of a log line that do not come from the answer.
pub(super) struct LogLine<'p> {
    pub(super) started: Instant,
    pub(super) request_id: String,
    pub(super) method: Method,
    /// The client, behind our proxies.
    pub(super) caller: IpAddr,
    pub(super) log_address: Option<Cow<'p, str>>,
    /// Whether the request came by a name that the internet knows.
    pub(super) from_home: bool,
    /// Whether the request came over TLS.
    pub(super) secure: bool,
    pub(super) row: Option<usize>,
    /// The reader's language, for a refusal.
    pub(super) language: Language,
    pub(super) monitor_user: Option<String>,
    /// The room of a large body, given back with the answer.
    pub(super) body_share: Option<BodyShare>,
    /// Whether the client waits before it sends the body of a refused request, so that the connection ends.
    pub(super) body_unsent: bool,
}

impl LogLine<'_> {
    /// Writes the line, which has no value that a person typed. The line of a fault is an error once in a minute for each
    /// route and cause, with the number of those that were left out, and else a line like any other.
    pub(super) fn log(&self, finished: &FinishedCall, status: StatusCode, micros: u64) {
        let route = self.row.map_or("-", |row| TABLE[row].path);
        let (id, method, who, status) =
            (&*self.request_id, self.method.as_str(), &*finished.principal.text(), status.as_u16());
        let (code, cause, tag) = (finished.code, finished.cause.as_deref(), self.monitor_user.as_deref());
        let (outcome, address) = (finished.outcome.word(status), self.log_address.as_deref());
        if status >= 500 {
            // Anybody can call what the server cannot do: a callback without its key, say.
            match log::due((route, code, cause)) {
                Some(left_out) => tracing::error!(
                    id, method, route, who, address, status, outcome, micros, code, cause, tag, left_out, "request"
                ),
                None => {
                    tracing::info!(
                        id, method, route, who, address, status, outcome, micros, code, cause, tag, "request"
                    );
                }
            }
        } else if self.row.is_some_and(|row| TABLE[row].caller_kind == CallerKind::Standby) && status == 200 {
            // The standby sends a request for each group of commits.
            tracing::debug!(id, method, route, who, address, status, outcome, micros, code, tag, "request");
        } else {
            tracing::info!(id, method, route, who, address, status, outcome, micros, code, tag, "request");
        }
    }
}
