//! The server's counters, for `/metrics` and the tests. Counters are atomic and cheap.

use crate::http::row::rows;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the histogram of answer times, in microseconds.
pub(crate) const BOUNDS_MICROS: [u64; 10] =
    [250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_500_000];

/// Counters since the start, for the metrics.
pub struct Stats {
    /// One for each row of the table, and a last one for requests that match none.
    routes: LazyLock<Vec<RouteStats>>,
    /// Operations that ended in a fault of the program.
    pub panics: AtomicU64,
    /// Connections that are open now.
    pub connections_open: AtomicU64,
    /// Connections that were refused because of their number.
    pub connections_refused: AtomicU64,
    /// Connections that ended in an error.
    pub connections_broken: AtomicU64,
    /// Requests that found the queue full.
    pub queue_full: AtomicU64,
    /// Requests that waited too long in the queue.
    pub queue_too_long: AtomicU64,
}

/// Counters of one row of the table.
#[derive(Default)]
pub struct RouteStats {
    /// By the first digit of the status, 1 to 5.
    pub answers: [AtomicU64; 5],
    /// Counts up to each bound, and above the last.
    pub times: [AtomicU64; BOUNDS_MICROS.len() + 1],
    /// Microseconds of all answers together.
    pub micros_sum: AtomicU64,
}

impl Default for Stats {
    fn default() -> Stats {
        Stats {
            routes: LazyLock::new(|| (0..=rows().len()).map(|_| RouteStats::default()).collect()),
            panics: AtomicU64::new(0),
            connections_open: AtomicU64::new(0),
            connections_refused: AtomicU64::new(0),
            connections_broken: AtomicU64::new(0),
            queue_full: AtomicU64::new(0),
            queue_too_long: AtomicU64::new(0),
        }
    }
}

impl Stats {
    /// Counts one answer of the row with this index in the table; `None`: no row matched.
    pub(crate) fn answered(&self, row: Option<usize>, status: u16, took: Duration) {
        let route = &self.routes[row.unwrap_or(rows().len())];
        let micros = took.as_micros() as u64;
        let bucket = BOUNDS_MICROS.iter().position(|bound| micros <= *bound).unwrap_or(BOUNDS_MICROS.len());
        route.answers[usize::from(status / 100).clamp(1, 5) - 1].fetch_add(1, Ordering::Relaxed);
        route.times[bucket].fetch_add(1, Ordering::Relaxed);
        route.micros_sum.fetch_add(micros, Ordering::Relaxed);
    }

    /// One for each row of the table in its order, and a last one for requests that match none.
    pub fn routes(&self) -> &[RouteStats] {
        &self.routes
    }
}
