//! What the machine can do to a site: disks that fill, fail, turn read-only or lose their power, files that are
//! damaged, clients that are slow, and too little of everything. On the real executable, and a short form of each
//! campaign; `tests/faults` and `tests/power-cuts` run them at full length.
//!
//! Where a machine does not let a test do what it needs, the test says so on standard error, past the harness that
//! keeps what others print.

mod damage;
mod descriptors;
mod flips;
mod flush;
mod full_disk;
mod injected;
mod machine;
mod memory;
mod power_cuts;
mod read_only;
mod slow_clients;

pub use injected::{TRACER, tracer};
use std::io::Write;

/// How long a campaign is: the number in this variable, else the short form's.
pub fn rounds(variable: &str, short: u64) -> u64 {
    std::env::var(variable).map_or(short, |rounds| rounds.parse().expect("a number of rounds"))
}

/// What the machine gave, or `None` after saying why the test is skipped. With `TUNNELDESK_SKIPS=none`, as at full
/// length, a test that cannot be run has failed.
pub fn or_skip<T>(given: Result<T, String>) -> Option<T> {
    if let (Err(why), Ok("none")) = (&given, std::env::var("TUNNELDESK_SKIPS").as_deref()) {
        panic!("{why}");
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    given.inspect_err(|why| _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}")).ok()
}
