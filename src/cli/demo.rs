//! `tunneldesk demo`: a site full of invented people, as large as wanted.

use super::{CommandResult, Global, acquire, failed, holder, refused};
use crate::clock::Clock;
use crate::demo::{self, Made, Plan};
use crate::moment::Moment;
use crate::store::data_dir::{DataDir, LockError};
use clap::Args;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
pub(super) struct Demo {
    /// How many members
    #[arg(long, default_value_t = demo::USUAL.members, value_parser = clap::value_parser!(u64).range(40..=1_000_000))]
    members: u64,
    /// How many logbook entries, about
    #[arg(long, default_value_t = demo::USUAL.entries, value_parser = clap::value_parser!(u64).range(0..=50_000_000))]
    entries: u64,
    /// Another number, another site
    #[arg(long, default_value_t = demo::USUAL.seed)]
    seed: u64,
}

impl Demo {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let mut settings = global.settings();
        settings.for_demo();
        let config = super::check_settings(settings)?;
        let dir = config.data.clone();
        let data_dir = acquire::lock(&dir, DataDir::create).map_err(|error| match error {
            LockError::InUse => refused(format!("{}, or give another --data", holder::in_use(&dir))),
            LockError::Unusable(text) => failed(text),
        })?;
        if data_dir.database().exists() {
            return Err(refused(format!(
                "there is a site in {} already: remove it, or give another --data",
                dir.display()
            )));
        }
        let plan = Plan { members: self.members, entries: self.entries, seed: self.seed };
        let (port, begun) = (config.listen.first().map_or(0, |address| address.port()), Instant::now());
        let clock = || Clock::machine(Moment(0));
        let mut bar = global.bar();
        let mut progress = |step: &str, done, all| bar.set(step, done, all);
        let (site, made) = demo::create(&data_dir, config, &clock, &plan, &mut progress).map_err(failed)?;
        drop(bar);
        let mut facts = demo::Facts::gather(&site).map_err(failed)?;
        facts.publish(&dir, &site.config.public_url(port), &[]).map_err(failed)?;
        site.close();
        let megabytes = std::fs::metadata(data_dir.database()).map_or(0, |file| file.len() / 1_000_000);
        Ok(Box::new(Report { made, dir, megabytes, seconds: begun.elapsed().as_secs_f64() }))
    }
}

/// The demo site that was made, and the time that it took.
#[derive(Serialize)]
#[serde(transparent)]
struct Report {
    made: Made,
    #[serde(skip)]
    dir: PathBuf,
    #[serde(skip)]
    megabytes: u64,
    #[serde(skip)]
    seconds: f64,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Report { made, dir, megabytes, seconds } = self;
        write!(
            f,
            "{} members, {} logbook entries and {} bookings in {} ({megabytes} MB, {seconds:.1} s).\n\nNext:\n  \
             tunneldesk serve --demo --data {}",
            grouped(made.members),
            grouped(made.entries),
            grouped(made.bookings),
            dir.display(),
            dir.display()
        )
    }
}

/// A number with commas, such as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}
