//! The benchmark: the product's throughput, compared with the best that the same machine can do in the same minutes.
//!
//! Everything runs on the same processors as the generator, in rounds that take each measurement in turn, because the
//! speed of machines drifts: ratios are taken within a round, and their medians judged. Run it by `tests/load/run`.

#![allow(unreachable_pub, clippy::too_many_lines, reason = "nothing imports from here; tables of cases are long")]

mod backup;
mod bare;
mod bars;
#[allow(dead_code, reason = "the suite drives the same browser, and asks more of it")]
#[path = "../it/harness/browser.rs"]
mod browser;
mod bulk;
#[allow(dead_code, reason = "as above")]
#[path = "../it/harness/chromium.rs"]
mod chromium;
mod clerk;
mod desk;
#[allow(dead_code, reason = "as above")]
#[path = "../it/harness/devtools.rs"]
mod devtools;
mod generator;
mod live;
mod machine;
mod off_site;
mod paint;
mod pocketbase;
mod report;
mod scale;
mod searches;
mod server;
mod site;
mod stations;

use bars::{Figures, Measured};
use generator::{Callers, EAGER, Load, Seen, run_together};
use server::Server;
use site::Requests;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Many short rounds, because the speed of the machine changes within seconds.
const ROUNDS: u32 = 9;
const SECONDS: f64 = 2.0;
/// The factor for the measured time of backups. Calm callers send few requests, so that one stall of the machine would
/// affect a hundredth of their answers; and a backup takes a second or more.
const MORE_FOR_BACKUPS: u32 = 2;
const STARTS: usize = 7;
/// The fixed rates of reads, writes, sign-ins and desk pages, as a share of the highest rate of each when all four run
/// as fast as possible.
const SHARE_OF_HIGHEST: f64 = 0.6;
/// Members who read their profile while others guess passwords: 800 requests a second.
const CALM: Callers = Callers { connections: 16, every: Some(Duration::from_millis(20)), open: false };

/// The extent of a run.
struct Plan {
    rounds: u32,
    time: Duration,
    /// `None`: everything.
    only: Option<Only>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Only {
    /// The cost of backups for readers.
    Backups,
    /// The cost of the continuous off-site copy.
    OffSite,
}

impl Plan {
    /// Whether the run is long enough to save its result.
    fn is_full(&self) -> bool {
        self.rounds >= ROUNDS && self.time >= Duration::from_secs_f64(SECONDS)
    }
}

/// The servers, on copies of one site. A server without requests costs nothing.
struct Servers {
    bare: Server,
    product: Server,
    /// The server whose passwords are guessed.
    guessed: Server,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("bare") => bare::serve(),
        _ if !args.iter().any(|arg| arg == "--bench") => println!("the benchmark is run by tests/load/run"),
        Some("scale") => return finish(measure_apart("Scale", &scale::PLAN, scale::measure)),
        Some("bulk") => return finish(measure_apart("Bulk", &bulk::PLAN, bulk::measure)),
        Some("pocketbase") => return finish(measure_apart("PocketBase", &pocketbase::PLAN, pocketbase::measure)),
        Some("desk") => return finish(measure_apart("Desk", &desk::PLAN, desk::measure)),
        _ => return finish(plan(&args).and_then(|plan| measure(&plan))),
    }
    ExitCode::SUCCESS
}

fn finish(measured: Result<bool, String>) -> ExitCode {
    match measured {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("load: {trouble}");
            ExitCode::from(2)
        }
    }
}

fn plan(args: &[String]) -> Result<Plan, String> {
    let number = |name: &str, default: f64| match args.iter().position(|arg| arg == name) {
        None => Ok(default),
        Some(place) => {
            args.get(place + 1).and_then(|text| text.parse().ok()).filter(|n| *n > 0.0).ok_or(format!("{name} N"))
        }
    };
    let (rounds, seconds) = (number("--rounds", f64::from(ROUNDS))?, number("--seconds", SECONDS)?);
    let only = args.iter().find_map(|arg| match arg.as_str() {
        "--backups-only" => Some(Only::Backups),
        "--off-site-only" => Some(Only::OffSite),
        _ => None,
    });
    Ok(Plan { rounds: rounds as u32, time: Duration::from_secs_f64(seconds), only })
}

/// Benchmarks that need a site of their own: see [`scale`], [`desk`] and [`bulk`].
fn measure_apart(
    name: &str,
    plan: &Plan,
    measure: fn(&Path) -> Result<(String, bool), String>,
) -> Result<bool, String> {
    let (table, met) = measure(room()?.path())?;
    let about = about(plan);
    let text =
        format!("# {name}, {}\n\n{}\n\n{}; {}.\n\n{table}", about.date, about.machine, about.product, about.runs);
    println!("{text}");
    let part = format!("-{}", name.to_lowercase());
    println!("kept as {}", report::keep_text(&part, &about, &text)?.display());
    Ok(met)
}

fn room() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|e| format!("no room to work in: {e}"))
}

/// Measures, reports, and returns whether every target was met.
fn measure(plan: &Plan) -> Result<bool, String> {
    let room = room()?;
    let dir = room.path().join("site");
    eprintln!("making a site …");
    let (requests, clerk) = site::prepare(&dir)?;
    let mut figures = Figures::default();
    match plan.only {
        Some(Only::Backups) => {
            let backed = backup::Backed::start(&dir, &clerk)?;
            in_rounds(plan, || run_backups(plan, &backed, &requests, &mut figures))?;
            figures.restored = Some(backed.finish(room.path())?);
        }
        Some(Only::OffSite) => {
            let copied = off_site::Copied::start(&dir, &requests)?;
            in_rounds(plan, || run_copied(plan, &copied, &requests, &mut figures))?;
            figures.copied_kib = copied.finish()?;
        }
        None => {
            let backed = backup::Backed::start(&dir, &clerk)?;
            measure_starts(&dir, &mut figures)?;
            let copied = off_site::Copied::start(&dir, &requests)?;
            let servers = Servers::start(&dir)?;
            in_rounds(plan, || {
                run_round(plan, &servers, &requests, room.path(), &mut figures)?;
                run_backups(plan, &backed, &requests, &mut figures)?;
                run_copied(plan, &copied, &requests, &mut figures)
            })?;
            figures.idle_again_kib = servers.product.memory_kib("VmRSS");
            figures.copied_kib = copied.finish()?;
            servers.stop()?;
            figures.restored = Some(backed.finish(room.path())?);
        }
    }
    conclude(plan, &figures)
}

fn in_rounds(plan: &Plan, mut round: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    (1..=plan.rounds).try_for_each(|number| {
        eprintln!("round {number} of {}", plan.rounds);
        round()
    })
}

/// Measures the effect of the off-site copy on writers and readers.
fn run_copied(
    plan: &Plan,
    copied: &off_site::Copied,
    requests: &Requests,
    figures: &mut Figures,
) -> Result<(), String> {
    copied.measure(requests, plan.time)?.into_iter().for_each(|(what, seen)| note(figures, what, seen));
    Ok(())
}

/// Measures the effect of a backup on readers.
fn run_backups(plan: &Plan, backed: &backup::Backed, requests: &Requests, figures: &mut Figures) -> Result<(), String> {
    let (quiet, busy) = backed.measure(requests, plan.time * MORE_FOR_BACKUPS)?;
    note(figures, Measured::Quiet, quiet);
    note(figures, Measured::BackedUp, busy);
    Ok(())
}

/// Measures the time from the start to the first answer, and the memory before any request.
fn measure_starts(dir: &Path, figures: &mut Figures) -> Result<(), String> {
    for _ in 0..STARTS {
        let server = Server::product(dir)?;
        figures.started_in.push(server.started_in);
        figures.idle_kib.push(server.memory_kib("VmRSS"));
        server.stop()?;
    }
    Ok(())
}

impl Servers {
    fn start(dir: &Path) -> Result<Servers, String> {
        Ok(Servers {
            guessed: Server::product(&server::copy(dir, "guessed")?)?,
            product: Server::product(dir)?,
            bare: Server::bare()?,
        })
    }

    fn stop(self) -> Result<(), String> {
        [self.product, self.guessed].into_iter().try_for_each(Server::stop)
    }
}

fn run_round(
    plan: &Plan,
    servers: &Servers,
    requests: &Requests,
    room: &Path,
    figures: &mut Figures,
) -> Result<(), String> {
    use Measured::*;
    let loads: [(Measured, &Load, &Server); 6] = [
        (Bare, &requests.constant, &servers.bare),
        (Profile, &requests.profile, &servers.product),
        (Record, &requests.record, &servers.product),
        (Booking, &requests.booking, &servers.product),
        (Desk, &requests.desk, &servers.product),
        (Time, &requests.time, &servers.product),
    ];
    servers.product.forget_peak()?;
    for (what, load, server) in loads {
        run_one(what, load, server, plan.time, figures)?;
    }
    figures.unhashed_kib = figures.unhashed_kib.max(servers.product.memory_kib("VmHWM"));
    // Hashes are measured before and after the sign-ins that they are compared with: 64 sign-ins at a time take a
    // second each.
    let before = machine::hashes_per_second(plan.time);
    run_one(Login, &requests.login, &servers.product, plan.time * 2, figures)?;
    note(figures, Argon2, alone((before + machine::hashes_per_second(plan.time)) / 2.0));
    run_mix(plan, servers, requests, figures)?;
    figures.loaded_kib = figures.loaded_kib.max(servers.product.memory_kib("VmHWM"));
    run_guesses(plan, servers, requests, figures)?;
    note(figures, Flush, alone(machine::flushes_per_second(room, plan.time.min(Duration::from_secs(1)))?));
    Ok(())
}

fn run_one(what: Measured, load: &Load, server: &Server, time: Duration, figures: &mut Figures) -> Result<(), String> {
    let (before, threads) = (server.cpu(), server.spent());
    let seen = load.run(server.address, time).map_err(|e| format!("{}: {e}", what.name()))?;
    figures.stations.entry(what).or_default().push(stations::each(&threads, &server.spent(), seen.answers));
    note(figures, what, seen.costing(server.cpu() - before));
    Ok(())
}

/// Reads, writes, sign-ins and desk pages at once: as fast as possible, and then at a fixed share of that rate.
fn run_mix(plan: &Plan, servers: &Servers, requests: &Requests, figures: &mut Figures) -> Result<(), String> {
    use Measured::*;
    let loads = [
        (MixedProfile, &requests.profile),
        (MixedTime, &requests.time),
        (MixedLogin, &requests.login),
        (MixedDesk, &requests.desk),
    ];
    let run = |paced: &[(&Load, Callers)], time| {
        run_together(paced, servers.product.address, time).map_err(|e| format!("{}: {e}", Mixed.name()))
    };
    let eager = loads.map(|(_, load)| (load, Callers { connections: EAGER.connections / loads.len(), ..EAGER }));
    let (highest, most) = run(&eager, plan.time)?;
    note(figures, MixedMost, most);
    let paced: Vec<_> = loads
        .iter()
        .zip(highest)
        .map(|((_, load), highest)| (*load, Callers::at_rate(SHARE_OF_HIGHEST * highest.per_second)))
        .collect();
    let (each, together) = run(&paced, plan.time * 2)?;
    loads.into_iter().zip(each).for_each(|((what, _), seen)| note(figures, what, seen));
    note(figures, Mixed, together);
    Ok(())
}

/// Measures the effect of a flood of wrong passwords on honest members.
fn run_guesses(plan: &Plan, servers: &Servers, requests: &Requests, figures: &mut Figures) -> Result<(), String> {
    use Measured::*;
    let address = servers.guessed.address;
    let said = |what: Measured| move |e: String| format!("{}: {e}", what.name());
    note(figures, Calm, requests.profile.run_by_these(CALM, address, plan.time).map_err(said(Calm))?);
    for (what, flood, guesses) in [
        (Guessed, Guesses, &requests.guesses),
        (GuessedFromEverywhere, GuessesFromEverywhere, &requests.guesses_from_everywhere),
    ] {
        let (seen, guessed) = requests.profile.run_beside(CALM, guesses, address, plan.time).map_err(said(what))?;
        note(figures, what, seen);
        note(figures, flood, guessed);
    }
    figures.guessed_kib = servers.guessed.memory_kib("VmHWM");
    Ok(())
}

/// A rate without times of answers.
fn alone(per_second: f64) -> Seen {
    Seen { per_second, answers: 0, p50: Duration::ZERO, p99: Duration::ZERO, p999: Duration::ZERO, cpu: Duration::ZERO }
}

fn note(figures: &mut Figures, what: Measured, seen: Seen) {
    let (name, per_second) = (what.name(), report::whole(seen.per_second));
    eprintln!(
        "  {name:32} {per_second:>9} a second, {:>8.1} us of the server's time each",
        seen.cpu.as_secs_f64() * 1e6
    );
    figures.add(what, seen);
}

fn about(plan: &Plan) -> report::About {
    let runs = match plan.rounds {
        1 => "one run".to_owned(),
        rounds => format!(
            "medians of {rounds} interleaved runs of {:.0} s ({:.0} s for backups), generator on the same cores",
            plan.time.as_secs_f64(),
            (plan.time * MORE_FOR_BACKUPS).as_secs_f64()
        ),
    };
    report::About {
        runs,
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        machine: machine::describe(),
        product: format!("tunneldesk {}, built as it is shipped", env!("CARGO_PKG_VERSION")),
    }
}

/// Prints the result, saves it if the run has full length, and names missed targets.
fn conclude(plan: &Plan, figures: &Figures) -> Result<bool, String> {
    let about = about(plan);
    println!("{}", figures.as_markdown(&about));
    if plan.only.is_none() && plan.is_full() {
        println!("kept as {}", report::keep(figures, &about)?.display());
    }
    let missed: Vec<_> = figures.bars().into_iter().filter(|bar| !bar.met).collect();
    missed.iter().for_each(|bar| eprintln!("missed: {} ({}, wanted {})", bar.text, bar.reached, bar.target));
    Ok(missed.is_empty())
}
