//! `/metrics`: the counters in the text format of Prometheus.

mod process;

use super::HttpService;
use crate::http::reply::{self, Reply};
use crate::jobs;
use crate::ops::{health, replication, standby};
use crate::routes::TABLE;
use crate::server::queue::Usage;
use crate::site::Site;
use crate::stats::{BOUNDS_MICROS, RouteStats};
use crate::store::Condition;
use crate::store::tables::{audit, outbox};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

impl HttpService {
    /// The answer to `GET /metrics`.
    pub(super) fn metrics(&self) -> Reply {
        write(self)
    }
}

fn write(service: &HttpService) -> Reply {
    let mut text = String::with_capacity(16 * 1024);
    process::write(&mut text, service.started_at);
    pool(&mut text, service);
    requests(&mut text, service);
    durations(&mut text, service);
    service.with_site(|site| {
        gauges(&mut text, service, site);
        doctor(&mut text, site);
    });
    reply::bytes("text/plain; version=0.0.4; charset=utf-8", text)
}

fn gauges(text: &mut String, service: &HttpService, site: &Site) {
    let (stats, writer) = (&service.stats, site.store.writer());
    let wal_bytes = std::fs::metadata(crate::store::data_dir::wal(&site.config.data)).map_or(0, |file| file.len());
    let (messages, sync) = (message_counts(site), sync_counts(site));
    let condition = writer.condition();
    let is = |what: Condition| u64::from(condition == what);
    for (name, kind, help, value) in [
        ("panics_total", "counter", "Operations that panicked.", get(&stats.panics)),
        ("connections", "gauge", "Open connections.", get(&stats.connections_open)),
        ("connections_refused_total", "counter", "Connections over a limit.", get(&stats.connections_refused)),
        (
            "connections_broken_total",
            "counter",
            "Connections that ended in an error or a time-out.",
            get(&stats.connections_broken),
        ),
        ("connections_max", "gauge", "Open connections that are allowed.", site.config.limits.connections_max as u64),
        ("queue_full_total", "counter", "Requests refused because a queue was full.", get(&stats.queue_full)),
        (
            "queue_too_long_total",
            "counter",
            "Requests refused because they waited too long.",
            get(&stats.queue_too_long),
        ),
        ("store_commits_total", "counter", "Flushes of the disk.", get(&writer.commits)),
        ("store_transactions_total", "counter", "Write transactions.", get(&writer.transactions)),
        ("store_writers_waiting", "gauge", "Threads waiting for the writer.", writer.waiting() as u64),
        (
            "store_stopped",
            "gauge",
            "1 when a flush failed and the database accepts no more writes.",
            is(Condition::Stopped),
        ),
        ("store_full", "gauge", "1 while the disk is full and only sign-ins are written.", is(Condition::Full)),
        ("store_replaced", "gauge", "1 when another machine has replaced this one.", is(Condition::Replaced)),
        ("store_read_only", "gauge", "1 when the file system accepts no writes.", is(Condition::ReadOnly)),
        ("store_damaged", "gauge", "1 when the database was found damaged.", is(Condition::Damaged)),
        ("store_wal_bytes", "gauge", "Size of the write-ahead log.", wal_bytes),
        (
            "clock_suspect",
            "gauge",
            "1 when the clock is behind the latest moment in the database.",
            u64::from(site.clock.is_suspect()),
        ),
        ("outbox_waiting", "gauge", "Messages that wait to be sent.", messages.0),
        ("outbox_dead", "gauge", "Messages that cannot be delivered; tunneldesk outbox list shows them.", messages.1),
        ("sync_waiting_rows", "gauge", "Rows of the history that wait for the receiver.", sync.waiting_rows),
        ("sync_lag_seconds", "gauge", "How long the oldest waiting row has waited.", sync.lag_seconds),
        (
            "sync_refused_rows",
            "gauge",
            "Rows that the receiver refuses; tunneldesk sync --status shows them.",
            sync.refused_rows,
        ),
        ("sync_failed_tries", "gauge", "Failed tries in a row.", sync.failed_tries),
        ("sync_rows_total", "counter", "Rows that the receiver accepted.", sync.rows),
    ] {
        _ = write!(
            text,
            "# HELP tunneldesk_{name} {help}\n# TYPE tunneldesk_{name} {kind}\ntunneldesk_{name} {value}\n"
        );
    }
}

/// How much of each queue of requests and of the writer is used.
fn pool(text: &mut String, service: &HttpService) {
    let queues: Vec<Usage> = service.pool.usage().collect();
    for (name, help, value) in [
        (
            "threads_busy",
            "Threads that work on a request of this kind.",
            (|queue| queue.threads_busy) as fn(&Usage) -> usize,
        ),
        ("threads_max", "Threads that may work on requests of this kind.", |queue| queue.threads_max),
        ("waiting", "Requests that wait for such a thread.", |queue| queue.jobs_waiting),
        ("waiting_max", "Requests that may wait; more are refused with 503.", |queue| queue.jobs_max),
    ] {
        _ = writeln!(text, "# HELP tunneldesk_pool_{name} {help}\n# TYPE tunneldesk_pool_{name} gauge");
        for queue in &queues {
            _ = writeln!(text, "tunneldesk_pool_{name}{{queue=\"{}\"}} {}", queue.name, value(queue));
        }
    }
    let seconds = service.with_site(|site| get(&site.store.writer().commit_micros)) as f64 / 1e6;
    _ = writeln!(
        text,
        "# HELP tunneldesk_store_commit_seconds_total Time that flushes took: its rate is the share of the time in which the \
         writer waits for the disk.\n# TYPE tunneldesk_store_commit_seconds_total counter\n\
         tunneldesk_store_commit_seconds_total {seconds}"
    );
}

/// The doctor's checks, and the number and hash of the last audit row: a monitoring system that stores the metrics also
/// stores evidence against a shortened audit log.
fn doctor(text: &mut String, site: &Site) {
    let facts = health::quick(site);
    text.push_str(
        "# HELP tunneldesk_health The state of each health check: 0 ok, 1 warning, 2 alarm.\n# TYPE tunneldesk_health gauge\n",
    );
    for fact in &*facts {
        _ = writeln!(text, "tunneldesk_health{{fact=\"{}\"}} {}", fact.name, fact.state as u8);
    }
    for (name, figure) in facts.iter().filter_map(|fact| Some((fact.name, fact.figure?))) {
        let (unit, help, value) = (figure.unit, figure.help, figure.value);
        _ = writeln!(
            text,
            "# HELP tunneldesk_health_{name}_{unit} {help}\n# TYPE tunneldesk_health_{name}_{unit} gauge\n\
             tunneldesk_health_{name}_{unit} {value}"
        );
    }
    if let Some(status) = replication::status(site) {
        _ = writeln!(
            text,
            "# HELP tunneldesk_off_site_behind_bytes Writes that the off-site store has not confirmed.\n\
             # TYPE tunneldesk_off_site_behind_bytes gauge\ntunneldesk_off_site_behind_bytes {}",
            status.behind_bytes
        );
    }
    if let Some(status) = standby::status(site) {
        _ = writeln!(
            text,
            "# HELP tunneldesk_standby_behind_bytes Writes that the standby has not confirmed.\n\
             # TYPE tunneldesk_standby_behind_bytes gauge\ntunneldesk_standby_behind_bytes {}\n\
             # HELP tunneldesk_standby_in_step 1 while the standby has all but the latest writes.\n\
             # TYPE tunneldesk_standby_in_step gauge\ntunneldesk_standby_in_step {}",
            status.behind_bytes,
            u8::from(status.is_in_step)
        );
    }
    let head = site.store.read(|tx| Ok(audit::head(tx)?));
    site.store.release();
    if let Ok(head) = head {
        _ = writeln!(
            text,
            "# HELP tunneldesk_audit_head Rows of the audit log. `tunneldesk audit head` has the hash of the last.\n\
             # TYPE tunneldesk_audit_head gauge\ntunneldesk_audit_head {}",
            head.seq
        );
    }
}

/// The numbers of waiting and dead messages; zero while the database cannot be read, which other metrics report.
fn message_counts(site: &Site) -> (u64, u64) {
    let (waiting, dead) = site.store.read(|tx| Ok(outbox::counts(tx)?)).unwrap_or_default();
    site.store.release();
    (waiting.unsigned_abs(), dead.unsigned_abs())
}

/// The state of the sync upstream.
#[derive(Default)]
struct SyncCounts {
    waiting_rows: u64,
    lag_seconds: u64,
    refused_rows: u64,
    failed_tries: u64,
    rows: u64,
}

/// Zero on a site without a sync upstream.
fn sync_counts(site: &Site) -> SyncCounts {
    if site.config.sync.is_none() {
        return SyncCounts::default();
    }
    let status = jobs::sync::status(site);
    site.store.release();
    let counts = |status: jobs::sync::Status| SyncCounts {
        waiting_rows: status.waiting_rows.unsigned_abs(),
        lag_seconds: status.lag_seconds.unsigned_abs(),
        refused_rows: status.refused_rows.unsigned_abs(),
        failed_tries: status.failed_tries.unsigned_abs(),
        rows: status.rows.unsigned_abs(),
    };
    status.map(counts).unwrap_or_default()
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Routes with at least one request, each with its labels.
fn requested_routes(service: &HttpService) -> impl Iterator<Item = (String, &RouteStats)> {
    let label = |row: usize| match TABLE.get(row) {
        Some(route) => format!("method=\"{}\",route=\"{}{}\"", route.method, route.base, route.path),
        None => "method=\"\",route=\"\"".to_owned(),
    };
    let was_asked = |route: &&RouteStats| route.answers.iter().any(|count| get(count) > 0);
    service
        .stats
        .routes()
        .iter()
        .enumerate()
        .map(move |(row, route)| (label(row), route))
        .filter(move |(_, route)| was_asked(route))
}

fn requests(text: &mut String, service: &HttpService) {
    text.push_str(
        "# HELP tunneldesk_requests_total Answers by operation and status.\n# TYPE tunneldesk_requests_total counter\n",
    );
    for (labels, route) in requested_routes(service) {
        for (class, count) in route.answers.iter().enumerate().filter(|(_, count)| get(count) > 0) {
            _ = writeln!(text, "tunneldesk_requests_total{{{labels},status=\"{}xx\"}} {}", class + 1, get(count));
        }
    }
}

fn durations(text: &mut String, service: &HttpService) {
    const NAME: &str = "tunneldesk_request_seconds";
    _ = writeln!(text, "# HELP {NAME} From the request's head to its answer.\n# TYPE {NAME} histogram");
    for (labels, route) in requested_routes(service) {
        let mut sum = 0;
        for (bucket, count) in route.times.iter().enumerate() {
            sum += get(count);
            let bound =
                BOUNDS_MICROS.get(bucket).map_or("+Inf".to_owned(), |micros| (*micros as f64 / 1e6).to_string());
            _ = writeln!(text, "{NAME}_bucket{{{labels},le=\"{bound}\"}} {sum}");
        }
        let seconds = get(&route.micros_sum) as f64 / 1e6;
        _ = writeln!(text, "{NAME}_sum{{{labels}}} {seconds}\n{NAME}_count{{{labels}}} {sum}");
    }
}
