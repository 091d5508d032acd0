//! The targets of the benchmark, and whether they were met.

use crate::generator::Seen;
use std::collections::BTreeMap;
use std::time::Duration;

/// The measurements, in the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measured {
    Bare,
    Profile,
    Time,
    Record,
    Booking,
    Desk,
    Flush,
    Argon2,
    Login,
    MixedMost,
    MixedProfile,
    MixedTime,
    MixedLogin,
    MixedDesk,
    Mixed,
    Calm,
    Guessed,
    Guesses,
    GuessedFromEverywhere,
    GuessesFromEverywhere,
    Quiet,
    BackedUp,
    Plain,
    Copied,
    ReadPlain,
    ReadCopied,
}

/// The results of every round, by measurement.
#[derive(Default)]
pub struct Figures {
    pub seen: BTreeMap<Measured, Vec<Seen>>,
    /// For some measurements, the microseconds of each server thread for one request.
    pub stations: BTreeMap<Measured, Vec<BTreeMap<String, f64>>>,
    pub idle_kib: Vec<u64>,
    pub idle_again_kib: u64,
    pub loaded_kib: u64,
    /// The peak before the sign-ins of each round. Each hash of a password takes 19 MiB while it is computed.
    pub unhashed_kib: u64,
    pub guessed_kib: u64,
    /// The peak memory of the server with an off-site copy.
    pub copied_kib: u64,
    pub started_in: Vec<Duration>,
    /// The outcome of restoring a backup that was made under load: its rows, or the difference from the site at that
    /// moment.
    pub restored: Option<Result<i64, String>>,
}

pub struct Bar {
    pub text: String,
    pub target: String,
    pub reached: String,
    pub met: bool,
}

impl Measured {
    pub fn name(self) -> &'static str {
        match self {
            Measured::Bare => "a: bare hyper, a constant",
            Measured::Profile => "b: GET account/profile/user",
            Measured::Time => "c: POST account/logbook/time/",
            Measured::Record => "d: GET op/{id}, signed",
            Measured::Booking => "d: POST op/generate-token, a booking",
            Measured::Desk => "d: GET /desk, the day",
            Measured::Flush => "e: flushes of the disk",
            Measured::Argon2 => "f: Argon2id on all cores",
            Measured::Login => "f: POST auth/login",
            Measured::MixedMost => "i: reads, writes, sign-ins and desk pages",
            Measured::MixedProfile => "i: the profile, at a fixed rate",
            Measured::MixedTime => "i: time entries, at a fixed rate",
            Measured::MixedLogin => "i: sign-ins, at a fixed rate",
            Measured::MixedDesk => "i: the desk's day, at a fixed rate",
            Measured::Mixed => "i: all four together",
            Measured::Calm => "g: the profile, 16 calm callers",
            Measured::Guessed => "g, beside guesses from one address",
            Measured::Guesses => "g: guesses from one address",
            Measured::GuessedFromEverywhere => "g, beside guesses from everywhere",
            Measured::GuessesFromEverywhere => "g: guesses from everywhere",
            Measured::Quiet => "h: the profile, calm, others write",
            Measured::BackedUp => "h, beside one backup after another",
            Measured::Plain => "j: time entries, not copied",
            Measured::Copied => "j: time entries, copied off site",
            Measured::ReadPlain => "j: the profile, not copied",
            Measured::ReadCopied => "j: the profile, copied off site",
        }
    }
}

impl Figures {
    pub fn add(&mut self, what: Measured, seen: Seen) {
        self.seen.entry(what).or_default().push(seen);
    }

    pub fn per_second(&self, what: Measured) -> f64 {
        median(self.seen[&what].iter().map(|seen| seen.per_second))
    }

    pub fn time(&self, what: Measured, of: impl Fn(&Seen) -> Duration) -> Duration {
        Duration::from_secs_f64(median(self.seen[&what].iter().map(|seen| of(seen).as_secs_f64())))
    }

    /// The median of each round's ratio. A machine whose speed drifts changes both measurements of a round alike.
    fn ratio(&self, of: Measured, to: Measured) -> f64 {
        median(self.seen[&of].iter().zip(&self.seen[&to]).map(|(of, to)| of.per_second / to.per_second))
    }

    pub fn bars(&self) -> Vec<Bar> {
        let mut bars = if self.seen.contains_key(&Measured::Bare) { self.bars_of_requests() } else { Vec::new() };
        if self.seen.contains_key(&Measured::BackedUp) {
            bars.push(self.p99_at_most(Measured::BackedUp, Measured::Quiet, 1.5));
        }
        if self.seen.contains_key(&Measured::Copied) {
            bars.extend(self.bars_of_the_off_site_copy());
        }
        bars.extend(self.restored.as_ref().map(|restored| Bar {
            text: "a copy made under load, restored: by count and content the site at its moment".to_owned(),
            target: "equal".to_owned(),
            reached: restored.as_ref().map_or_else(String::clone, |rows| format!("{rows} rows equal")),
            met: restored.is_ok(),
        }));
        bars
    }

    fn bars_of_the_off_site_copy(&self) -> [Bar; 5] {
        use Measured::*;
        [
            self.at_least(Copied, Plain, 0.95),
            self.at_least(ReadCopied, ReadPlain, 0.95),
            self.p99_at_most(Copied, Plain, 1.2),
            self.p99_at_most(ReadCopied, ReadPlain, 1.2),
            below("resident memory at the most, with an off-site copy", self.copied_kib as f64 / 1024.0, 64.0, "MB"),
        ]
    }

    fn bars_of_requests(&self) -> Vec<Bar> {
        use Measured::*;
        vec![
            self.at_least(Profile, Bare, 0.5),
            self.at_least(Record, Bare, 0.5),
            self.costs_at_most(Record, Profile, 1.35),
            self.per_second_at_least(Booking, 5_000.0),
            self.at_least(Login, Argon2, 0.9),
            below(
                "p99.9 of reads, writes, sign-ins and desk pages at 60 % of their highest rate, waiting counted",
                self.time(Mixed, |seen| seen.p999).as_secs_f64() * 1e3,
                50.0,
                "ms",
            ),
            self.p99_at_most(Guessed, Calm, 2.0),
            self.p99_at_most(GuessedFromEverywhere, Calm, 2.0),
            below("resident memory at the most, under guesses", self.guessed_kib as f64 / 1024.0, 128.0, "MB"),
            below(
                "resident memory when idle",
                median(self.idle_kib.iter().map(|kib| *kib as f64)) / 1024.0,
                12.0,
                "MB",
            ),
            below(
                "resident memory at the most, while no password is hashed",
                self.unhashed_kib as f64 / 1024.0,
                48.0,
                "MB",
            ),
            below("resident memory at the most, under every load", self.loaded_kib as f64 / 1024.0, 48.0, "MB"),
            below(
                "from start to first answer",
                median(self.started_in.iter().map(Duration::as_secs_f64)) * 1e3,
                50.0,
                "ms",
            ),
        ]
    }

    fn p99_at_most(&self, of: Measured, to: Measured, target: f64) -> Bar {
        let p99 = |what: Measured| self.seen[&what].iter().map(|seen| seen.p99.as_secs_f64());
        let reached = median(p99(of).zip(p99(to)).map(|(of, to)| of / to));
        Bar {
            text: format!("p99 of {} / {}", of.name(), to.name()),
            target: format!("≤ {target}"),
            reached: format!("{reached:.2}"),
            met: reached > 0.0 && reached <= target,
        }
    }

    /// The target for the ratio of the processor time for one answer.
    fn costs_at_most(&self, of: Measured, to: Measured, target: f64) -> Bar {
        let cost = |what: Measured| self.seen[&what].iter().map(|seen| seen.cpu.as_secs_f64());
        let reached = median(cost(of).zip(cost(to)).map(|(of, to)| of / to));
        Bar {
            text: format!("CPU of {} / {}", of.name(), to.name()),
            target: format!("≤ {target}"),
            reached: format!("{reached:.2}"),
            met: reached > 0.0 && reached <= target,
        }
    }

    fn per_second_at_least(&self, what: Measured, target: f64) -> Bar {
        let reached = self.per_second(what);
        Bar {
            text: format!("{} a second, on the disk", what.name()),
            target: format!("≥ {target}"),
            reached: format!("{reached:.0}"),
            met: reached >= target,
        }
    }

    fn at_least(&self, of: Measured, to: Measured, target: f64) -> Bar {
        let reached = self.ratio(of, to);
        Bar {
            text: format!("{} / {}", of.name(), to.name()),
            target: format!("≥ {target}"),
            reached: format!("{reached:.2}"),
            met: reached >= target,
        }
    }
}

fn below(text: &str, reached: f64, target: f64, unit: &str) -> Bar {
    Bar {
        text: text.to_owned(),
        target: format!("< {target} {unit}"),
        reached: format!("{reached:.1} {unit}"),
        met: reached > 0.0 && reached < target,
    }
}

/// The median; 0 if there are no values.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}
