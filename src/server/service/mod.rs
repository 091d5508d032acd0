//! The HTTP service: from a request's head to its answer, and the request's line in the log.

mod addresses;
mod head;
mod listeners;
mod log_line;
mod malformed;
mod metrics;
pub(super) mod sessions;

use super::body;
use super::body_room::{BodyRoom, SMALL_BYTES};
use super::cors::{self, Origins};
use super::events::Hub;
use super::limiter::{ConnectionState, Limiter, Progress};
use super::live::{self, Streams};
use super::matcher::{self, Match};
use super::pool::{self, FinishedCall, Pool};
use super::tls::HANDSHAKES_MAX;
use crate::auth::Access;
use crate::config::{Limits, LogAddresses, Secret};
use crate::http::accept;
use crate::http::call::{Call, PrincipalId};
use crate::http::failure::Failure;
use crate::http::gzip;
use crate::http::reply::{self, Reply};
use crate::http::request_id;
use crate::http::row::Row;
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::routes::TABLE;
use crate::site::live::LiveConfig;
use crate::site::{CachedName, Site};
use crate::stats::Stats;
use crate::web::{self, Frame};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Incoming;
use ipnet::IpNet;
use log_line::LogLine;
use std::cell::{Cell, OnceCell};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

pub(super) type Response = hyper::Response<live::ResponseBody>;

/// Simultaneous handshakes of one network: half of all, so that one network cannot block https for the others.
const HANDSHAKES_PER_NETWORK_MAX: usize = HANDSHAKES_MAX / 2;
/// At the metrics port.
pub(super) const METRICS_CONNECTIONS_MAX: usize = 16;
/// Answers in constant time are sent at a multiple of this after a thread began with them: with the time in the queue before,
/// every answer would come at another part of a tick, and the one with more work more often after the end of the tick.
/// Longer than the work of any answer that hashes nothing, also on a slow disk, and too short for a person to notice.
const TICK: Duration = Duration::from_millis(20);
/// How long the answer to a delayed sign-in attempt is held back. No thread waits meanwhile.
const DELAY: Duration = Duration::from_millis(250);
/// How long a connection stays open between two requests, for proxies.
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The kind of listener that accepted a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListenerKind {
    /// Plain HTTP: over loopback, or on a site without TLS.
    Public,
    /// TLS.
    Secure,
    /// Plain HTTP on a site with TLS: everything is redirected to https, except what a device needs to trust the site.
    Clear,
    /// Metrics and health, nothing else: on loopback, or with a token.
    Metrics,
}

/// The state that all connections share.
pub(super) struct HttpService {
    pub pool: Pool,
    pub limiter: Arc<Limiter>,
    /// The limiter of the metrics port, so that metrics can be read while the other ports are full.
    pub metrics_limiter: Arc<Limiter>,
    /// Requests that arrived while the server was stopping.
    pub late_requests: AtomicU64,
    pub stats: Arc<Stats>,
    body_room: Arc<BodyRoom>,
    /// The open event streams.
    pub(super) streams: Arc<Streams>,
    /// Passes events on to them.
    pub(super) hub: Arc<Hub>,
    site: std::sync::Mutex<Site>,
    /// The site's name, for the error page of a request that reaches no operation.
    site_name: Arc<CachedName>,
    /// German as the site spells it.
    german: Language,
    /// The settings, for the names of the site.
    config: Arc<LiveConfig>,
    proxies: Vec<IpNet>,
    origins: Origins,
    /// When the server began, in Unix seconds.
    started_at: Moment,
    /// What `/metrics` wants to see.
    metrics_token: Option<Secret>,
    /// The https port that plain connections are redirected to.
    secure_port: u16,
    log_addresses: LogAddresses,
    /// `Strict-Transport-Security`, where the site asks for it.
    hsts: Option<HeaderValue>,
}

/// The other end of a connection.
pub(super) struct Peer {
    address: IpAddr,
    /// The address as the log shows it, formatted once a connection.
    log_address: Option<String>,
}

impl HttpService {
    pub(super) fn new(site: &Site, pool: Pool) -> HttpService {
        _ = site.name();
        site.store.release();
        let Limits { connections_max, connections_per_address_max, .. } = site.config.limits;
        let limiter = |all, per_network| {
            Arc::new(Limiter::new(all, per_network, HANDSHAKES_PER_NETWORK_MAX, &site.config.proxies, &site.stats))
        };
        HttpService {
            hub: Hub::new(Some(pool.asker()), &site.site_id),
            pool,
            limiter: limiter(connections_max, connections_per_address_max),
            metrics_limiter: limiter(METRICS_CONNECTIONS_MAX, METRICS_CONNECTIONS_MAX),
            late_requests: AtomicU64::new(0),
            stats: site.stats.clone(),
            streams: Streams::new(),
            body_room: Arc::default(),
            site: std::sync::Mutex::new(site.for_another_thread()),
            site_name: site.state(),
            german: site.german,
            config: site.config.clone(),
            proxies: site.config.proxies.clone(),
            origins: Origins::new(&site.config.allowed_origins),
            started_at: site.now(),
            metrics_token: site.config.metrics_token.clone(),
            secure_port: site.ports().https.first().copied().unwrap_or_default(),
            log_addresses: site.config.log.addresses,
            hsts: hsts(site.config.tls.hsts_days),
        }
    }

    /// Answers one request, whatever it is.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        peer: &Peer,
        kind: ListenerKind,
        progress: &Arc<Progress>,
    ) -> Response {
        let mut response = self.answer_one(request, peer, kind, progress).await;
        if progress.is_last() {
            self.late_requests.fetch_add(1, Ordering::Relaxed);
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    async fn answer_one(
        &self,
        request: Request<Incoming>,
        peer: &Peer,
        kind: ListenerKind,
        progress: &Arc<Progress>,
    ) -> Response {
        let caller = self.caller(peer.address, request.headers());
        let mut line = LogLine {
            started: Instant::now(),
            request_id: request_id::accept_or_create(request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok())),
            method: request.method().clone(),
            caller,
            log_address: self.log_address(peer, caller),
            from_home: self.is_from_home(caller, request.uri(), request.headers()),
            secure: kind == ListenerKind::Secure,
            row: None,
            language: accept::language(request.headers()).unwrap_or_default().spelt_as(self.german),
            monitor_user: None,
            body_share: None,
            body_unsent: false,
        };
        let language = line.language;
        let page = web::refusal_for(request.method(), request.uri().path(), request.headers(), line.from_home);
        let cors = self.origins.decide(&request);
        if kind == ListenerKind::Metrics && request.uri().path() == "/metrics" {
            progress.set(ConnectionState::Processing);
            let admitted = self.check_host(request.version(), request.headers());
            let reply = match admitted.and_then(|()| self.check_metrics_token(request.headers())) {
                // Metrics read the database, so another thread takes over the other connections meanwhile.
                Ok(()) if !matches!(*request.method(), Method::GET | Method::HEAD) => reply::refusal(
                    &Failure::method_not_allowed().allow("GET, HEAD".to_owned()),
                    language,
                    &line.request_id,
                ),
                Ok(()) => tokio::task::block_in_place(|| gzip::finish_beside_table(self.metrics(), request.headers())),
                Err(failure) => reply::refusal(&failure, language, &line.request_id),
            };
            return self.respond(line, finished(reply, None), cors);
        }
        let taken = self.take(request, progress, kind, &mut line).await;
        progress.set(ConnectionState::Processing);
        let finished = match taken {
            Ok((access, call)) => {
                line.monitor_user = call.monitor_user().map(str::to_owned);
                let fallback = pool::Fallback {
                    stats: &self.stats,
                    site_name: &self.site_name,
                    language,
                    request_id: &line.request_id,
                };
                let constant_time = call.row.constant_time;
                let mut finished = self.pool.run(&fallback, access, call).await;
                finished.rest = finished.rest.map(|rest| rest.with_progress(progress.clone()));
                finished = self.await_events(finished, &line, progress).await;
                if finished.delayed {
                    tokio::time::sleep(DELAY).await;
                }
                if constant_time {
                    next_tick(finished.begun.unwrap_or(line.started)).await;
                }
                finished
            }
            Err(failure) => {
                if let Some(reply) = cors.preflight(&failure) {
                    return self.respond(line, finished(reply, None), cors);
                }
                let reply = match page {
                    Some(page) => page(&failure, Frame::named(self.site_name.get(), language), &line.request_id),
                    None => reply::refusal(&failure, language, &line.request_id),
                };
                finished(reply, Some(failure))
            }
        };
        self.respond_with(line, finished, cors, Some(progress))
    }

    /// Reads all of the request and finds its operation.
    async fn take(
        &self,
        request: Request<Incoming>,
        progress: &Progress,
        kind: ListenerKind,
        line: &mut LogLine<'_>,
    ) -> Result<(&'static Access, Call), Failure> {
        hides_length(progress, &request)?;
        let (mut head, incoming) = request.into_parts();
        let client_waits = head::waits_to_send(&head.headers);
        let (row, params) = match self.find(&mut head, kind, line.from_home) {
            Ok(found) => found,
            Err(failure) => {
                line.body_unsent = body::discard(incoming, client_waits).await;
                return Err(failure);
            }
        };
        let route = TABLE[row];
        line.row = Some(row);
        if let Err(failure) = body::check_size(&incoming, route.body_bytes_max) {
            line.body_unsent = body::discard(incoming, client_waits).await;
            return Err(failure);
        }
        if route.body_bytes_max > SMALL_BYTES {
            line.body_share = Some(self.body_room.enter(line.caller.into()));
        }
        let body = body::read(incoming, route.body_bytes_max, line.body_share.as_ref()).await?;
        let call = Call {
            row: &route.row,
            method: head.method,
            path: head.uri.path().to_owned(),
            peer: line.caller,
            secure: kind == ListenerKind::Secure,
            from_home: line.from_home,
            headers: head.headers,
            german: self.german,
            query: head.uri.query().unwrap_or("").to_owned(),
            request_id: line.request_id.clone(),
            body,
            params,
            principal: Cell::new(PrincipalId::Anyone),
            delayed: Cell::new(false),
            outcome: Cell::default(),
            changes_before: 0,
            idempotency: OnceCell::new(),
        };
        Ok((&route.access, call))
    }

    /// The row of the table that the head names, with the path's parameters.
    fn find(&self, head: &mut Parts, kind: ListenerKind, from_home: bool) -> Result<(usize, Vec<String>), Failure> {
        head::check_size(head)?;
        head::check_form(head)?;
        head::adopt_target_host(head);
        self.check_host(head.version, &head.headers)?;
        let found = self.find_row(head, kind, from_home)?;
        head::check_encoding(&head.headers)?;
        Ok(found)
    }

    fn find_row(&self, head: &Parts, kind: ListenerKind, from_home: bool) -> Result<(usize, Vec<String>), Failure> {
        // A health check speaks HTTP/1.0 without a name.
        let is_nameless = !head.headers.contains_key(header::HOST);
        let exists = |row: &Row| row.from_home || !from_home || is_nameless && row.is_health();
        match matcher::find(&head.method, &head::plain_path(head.uri.path()), exists) {
            Match::Found(row, _) if kind == ListenerKind::Metrics && !TABLE[row].is_health() => {
                Err(Failure::unknown_path())
            }
            Match::Found(row, _) if kind == ListenerKind::Clear && !TABLE[row].in_clear => {
                Err(self.redirect_to_https(head))
            }
            Match::Found(row, params) => Ok((row, params)),
            Match::WrongMethod(allowed) => Err(Failure::method_not_allowed().allow(allowed)),
            Match::Unknown => Err(Failure::unknown_path()),
        }
    }

    /// Whether somebody may read `/metrics`: everybody on this machine, where the settings name no token.
    fn check_metrics_token(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let Some(token) = &self.metrics_token else { return Ok(()) };
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().split_at_checked(7));
        // The word is the same in every case of its letters (RFC 9110 §11.1).
        let presented = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer ")).map(|(_, token)| token);
        match bool::from(presented.unwrap_or_default().ct_eq(token.reveal().as_bytes())) {
            true => Ok(()),
            false => Err(Failure::not_signed_in().because("not the token of the metrics")),
        }
    }

    /// Runs `look` on the site, for `/metrics`.
    pub(super) fn with_site<T>(&self, look: impl FnOnce(&Site) -> T) -> T {
        look(&self.site.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// An answer without events.
    fn respond(&self, line: LogLine<'_>, finished: FinishedCall, cors: cors::CorsDecision) -> Response {
        self.respond_with(line, finished, cors, None)
    }

    fn respond_with(
        &self,
        line: LogLine<'_>,
        finished: FinishedCall,
        cors: cors::CorsDecision,
        client: Option<&Arc<Progress>>,
    ) -> Response {
        let (live, finished) = self.begin_stream(finished, &line, client);
        let took = line.started.elapsed();
        let status = finished.reply.status;
        self.stats.answered(line.row, status.as_u16(), took);
        line.log(&finished, status, took.as_micros() as u64);
        let Reply { status, mut headers, body, .. } = finished.reply;
        cors.apply(&mut headers);
        headers.insert(
            REQUEST_ID,
            HeaderValue::try_from(line.request_id).expect("a request id is checked when it is taken"),
        );
        // A proxy that keeps a connection for longer than we do sends its next request into the void.
        headers.insert(KEEP_ALIVE, HeaderValue::from_static("timeout=30"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if line.body_unsent {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(hsts) = self.hsts.as_ref().filter(|_| line.secure) {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, hsts.clone());
        }
        let body = match (live, finished.rest) {
            (Some(live), _) => live,
            (None, Some(rest)) => live::ResponseBody::Long(body, Box::new(rest)),
            (None, None) => live::ResponseBody::Whole(Full::new(body)),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

/// Waits for the end of a tick, so that the time of the answer does not tell whether a message was sent or a row found.
async fn next_tick(begun: Instant) {
    let beats = begun.elapsed().as_nanos() / TICK.as_nanos() + 1;
    tokio::time::sleep_until((begun + TICK * beats as u32).into()).await;
}

/// Refuses chunks in one read with a request before them: hyper hides a second length beside them. Clients wait for an answer
/// before they send chunks.
fn hides_length(progress: &Progress, request: &Request<Incoming>) -> Result<(), Failure> {
    if progress.has_seen_head() || !request.headers().contains_key(header::TRANSFER_ENCODING) {
        return Ok(());
    }
    progress.make_last();
    Err(Failure::bad_request().because("chunks in one read with a request before them"))
}

/// An answer that no operation made.
fn finished(reply: Reply, failure: Option<Failure>) -> FinishedCall {
    pool::finished(reply, PrincipalId::Anyone, failure)
}

/// The header's value, for this host alone: subdomains may belong to other operators.
fn hsts(days: i64) -> Option<HeaderValue> {
    let value = format!("max-age={}", days * 86_400);
    (days > 0).then(|| HeaderValue::try_from(value).expect("a number is a header value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ops::tests::new_site;
    use crate::store::data_dir::DataDir;

    #[test]
    fn in_clear_is_only_what_a_device_needs_before_it_trusts_the_site() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir, Config::defaults());
        let service = HttpService::new(&site, Pool::start(&site).unwrap());
        let mut in_clear = Vec::new();
        for route in TABLE.iter() {
            let path = format!("{}{}", route.base, route.path);
            let request = Request::builder().method(route.method.clone()).uri(path.replace(['{', '}'], ""));
            let mut head = request.header(header::HOST, "localhost").body(()).unwrap().into_parts().0;
            match service.find(&mut head, ListenerKind::Clear, false) {
                Ok(_) => in_clear.push(path),
                Err(failure) => {
                    let there = failure.location().unwrap_or_else(|| panic!("{path} is not sent over"));
                    assert!(there.starts_with("https://localhost") && there.ends_with(head.uri.path()), "{there}");
                }
            }
        }
        assert_eq!(in_clear, ["/healthz", "/readyz", "/ca", "/ca.crt", "/assets/{file}"]);
        service.pool.stop(Duration::from_secs(60));
    }
}
