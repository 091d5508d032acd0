//! The processor time of one request, by the threads that work on it.

use crate::bars::{Figures, Measured, median};
use crate::report::micros;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Threads that spend less than this on a request are left out, in microseconds.
const NOTED_MIN_MICROS: f64 = 0.5;

/// The processor time of a program's threads, summed by thread name.
pub type Spent = BTreeMap<String, Duration>;

/// The processor time of a program's threads so far. A thread that ends meanwhile is left out.
pub fn spent(process: u32) -> Spent {
    let mut spent = Spent::new();
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for thread in threads {
        if let Some((name, time)) = of_thread(&thread.path()) {
            *spent.entry(name).or_default() += time;
        }
    }
    spent
}

/// The name of a thread and its processor time; the first number in `schedstat` is in nanoseconds.
fn of_thread(dir: &Path) -> Option<(String, Duration)> {
    let name = std::fs::read_to_string(dir.join("comm")).ok()?;
    let figures = std::fs::read_to_string(dir.join("schedstat")).ok()?;
    let nanos = figures.split_whitespace().next()?.parse().ok()?;
    Some((name.trim_end().to_owned(), Duration::from_nanos(nanos)))
}

/// Microseconds for each request, by thread name.
pub fn each(before: &Spent, after: &Spent, answers: usize) -> BTreeMap<String, f64> {
    let used = after.iter().map(|(name, now)| {
        let used = now.saturating_sub(before.get(name).copied().unwrap_or_default());
        (name.clone(), used.as_secs_f64() * 1e6 / answers.max(1) as f64)
    });
    used.collect()
}

impl Figures {
    /// The table; empty without measurements.
    pub fn as_table_of_stations(&self) -> String {
        let medians: Vec<(Measured, BTreeMap<&str, f64>)> =
            self.stations.iter().map(|(what, rounds)| (*what, medians(rounds))).collect();
        let noted = |(name, micros): (&&str, &f64)| (*micros >= NOTED_MIN_MICROS).then(|| name.to_string());
        let names: BTreeSet<String> = medians.iter().flat_map(|(_, each)| each.iter().filter_map(noted)).collect();
        if names.is_empty() {
            return String::new();
        }
        let mut text =
            "\nWhat one request costs, by the threads that work on it, the system's part included:\n\n|".to_owned();
        names.iter().for_each(|name| _ = write!(text, " | {name}"));
        text.push_str(" |\n|---|");
        names.iter().for_each(|_| text.push_str("---:|"));
        for (what, each) in medians {
            _ = write!(text, "\n| {}", what.name());
            names.iter().for_each(|name| _ = write!(text, " | {}", micros(each.get(&**name).copied().unwrap_or(0.0))));
            text.push_str(" |");
        }
        text + "\n"
    }
}

fn medians(rounds: &[BTreeMap<String, f64>]) -> BTreeMap<&str, f64> {
    let names: BTreeSet<&str> = rounds.iter().flat_map(BTreeMap::keys).map(String::as_str).collect();
    let of = |name| median(rounds.iter().map(|round| round.get(name).copied().unwrap_or(0.0)));
    names.into_iter().map(|name| (name, of(name))).collect()
}
