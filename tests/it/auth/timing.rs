//! Whether two requests can be distinguished by the time of their answers: interleaved pairs, and Welch's t of the
//! times.

use crate::harness::{Request, Site};
use std::time::Instant;

/// Above this value of t the difference is not due to chance.
const T_MAX: f64 = 4.5;
/// A real difference shows in every round. A difference caused by tests that run at the same time shows in one or
/// another round, on a loaded machine in several.
const ROUNDS: usize = 5;

/// Sends both requests as a stranger `pairs` times. `between` runs after each pair and undoes its effects.
#[track_caller]
pub fn assert_alike(site: &Site, pairs: usize, requests: [Request; 2], between: impl Fn()) {
    let mut seen = Vec::new();
    while seen.len() < ROUNDS {
        let t = tell_apart(site, pairs, &requests, &between);
        println!("{} {}: t = {t:.2}", requests[0].method, requests[0].path);
        if t.abs() < T_MAX {
            return;
        }
        seen.push(t);
    }
    panic!("{} {}: told apart by time, t = {seen:?}", requests[0].method, requests[0].path);
}

fn tell_apart(site: &Site, pairs: usize, requests: &[Request; 2], between: &impl Fn()) -> f64 {
    let mut times = [Vec::new(), Vec::new()];
    for pair in 0..pairs {
        between();
        // The order within a pair alternates, so that coming first makes no difference.
        for which in [pair % 2, 1 - pair % 2] {
            times[which].push(seconds(site, &requests[which]));
        }
    }
    let [one, other] = times.map(trimmed);
    welch(&one, &other)
}

fn seconds(site: &Site, request: &Request) -> f64 {
    let stranger = site.stranger();
    let start = Instant::now();
    let reply = stranger.send(request);
    let took = start.elapsed().as_secs_f64();
    reply.ok();
    took
}

/// The faster half of the times. The slower half depends on the machine and would hide a difference.
fn trimmed(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times.truncate(times.len() / 2);
    times
}

fn welch(one: &[f64], other: &[f64]) -> f64 {
    let moments = |sample: &[f64]| {
        let count = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / count;
        let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    };
    let ((mean, error), (other_mean, other_error)) = (moments(one), moments(other));
    (mean - other_mean) / (error + other_error).sqrt()
}
