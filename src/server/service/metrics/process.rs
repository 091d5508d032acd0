//! The process itself, under the names that Prometheus has for every program, and its version.

use crate::moment::Moment;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};
use std::fmt::Write;

pub(super) fn write(text: &mut String, started_at: Moment) {
    _ = writeln!(
        text,
        "# HELP tunneldesk_build_info 1; the label is the version.\n# TYPE tunneldesk_build_info gauge\n\
         tunneldesk_build_info{{version=\"{}\"}} 1",
        crate::VERSION
    );
    for (name, kind, help, value) in [
        ("start_time_seconds", "gauge", "When the process started, in Unix seconds.", Some(started_at.0 as f64)),
        ("resident_memory_bytes", "gauge", "Memory that the process has in use.", resident_bytes()),
        ("cpu_seconds_total", "counter", "Time of the processor that the process took.", cpu_seconds()),
        ("open_fds", "gauge", "File descriptors that are open.", descriptors()),
        ("max_fds", "gauge", "File descriptors that may be open.", descriptors_max()),
    ] {
        // What the system does not tell is left out rather than zero.
        let Some(value) = value else { continue };
        _ = writeln!(text, "# HELP process_{name} {help}\n# TYPE process_{name} {kind}\nprocess_{name} {value}");
    }
}

fn resident_bytes() -> Option<f64> {
    let pages: f64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page_size() as f64)
}

fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may contain spaces and parentheses; the eleventh and twelfth field behind it count.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: f64 =
        fields.split_ascii_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    Some(ticks / clock_ticks_per_second() as f64)
}

fn descriptors() -> Option<f64> {
    // One of them reads the directory.
    Some((std::fs::read_dir("/proc/self/fd").ok()?.count() as f64) - 1.0)
}

fn descriptors_max() -> Option<f64> {
    getrlimit(Resource::Nofile).current.map(|most| most as f64)
}
