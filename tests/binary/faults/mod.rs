//! Faults of the machine: disks that fill, fail, turn read-only or lose their power, damaged files, slow clients, and
//! too few descriptors or too little memory. The tests use the real executable and are a short form of each campaign;
//! `tests/faults`, `tests/bursts` and `tests/power-cuts` run the full length.
//!
//! A test that the machine cannot run says so directly on standard error, because the test harness captures what tests
//! print.

mod bursts;
mod damage;
mod descriptors;
mod flips;
mod flush;
mod full_disk;
pub mod injected;
mod machine;
mod memory;
mod power_cuts;
mod read_only;
mod slow_clients;

pub use injected::{TRACER, tracer};
use std::io::Write;

/// The length of a campaign: the number in this environment variable, otherwise `short`.
pub fn rounds(variable: &str, short: u64) -> u64 {
    std::env::var(variable).map_or(short, |rounds| rounds.parse().expect("a number of rounds"))
}

/// The value, or `None` after reporting why the test is skipped. With `TUNNELDESK_SKIPS=none`, as at full length, a
/// test that cannot run fails.
pub fn or_skip<T>(given: Result<T, String>) -> Option<T> {
    if let (Err(why), Ok("none")) = (&given, std::env::var("TUNNELDESK_SKIPS").as_deref()) {
        panic!("{why}");
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    given.inspect_err(|why| _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}")).ok()
}
