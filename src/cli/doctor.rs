//! `tunneldesk doctor`: the status of the site, one fact a line, and what to do. The process that has the lock of the
//! data directory finds the facts; the process in the shell puts them into words for its terminal.

use super::acquire::{AcquireError, Acquired};
use super::on_site::with_next_step;
use super::output::Answer;
use super::owner::become_owner;
use super::shell::{self, Shell};
use super::{CommandError, CommandResult, Global, control, failed, refused, text};
use crate::app::papers::unprintable_names;
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{Detail, Subject};
use crate::domain::health::{self, Fact, State};
use crate::moment::Moment;
use crate::ops::audit_end;
use crate::ops::health::{Depth, check, check_closed, leftovers, title};
use crate::site::Site;
use crate::store::alarm;
use crate::store::data_dir::DataDir;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::io::IsTerminal;
use std::os::unix::net::UnixStream;

#[derive(Args)]
#[command(after_help = "Exit codes: 0 OK; 1 a warning; 2 something critical. Works with and without a running server.")]
pub(super) struct Doctor {
    /// Writes that the last stop lost, changes by another program, or corrected bits are noted: the alarm about them is over
    #[arg(long)]
    noted: bool,
}

/// A fact as machines read it.
#[derive(Serialize, Deserialize)]
struct Line {
    name: String,
    title: String,
    state: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct DoctorReport {
    state: String,
    facts: Vec<Line>,
    /// Whether words have the colour of their state, for a terminal.
    #[serde(skip)]
    colour: bool,
}

impl Display for DoctorReport {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&report_text(self, self.colour))
    }
}

impl Doctor {
    /// Runs in the shell's process: the facts come from the database, or from the server that has its lock.
    pub(super) fn run(&self, global: &Global, args: &[OsString]) -> CommandResult {
        let config = global.checked()?;
        let mut report = match control::lock_or_connect(&config.data) {
            Ok(Acquired::Locked(data_dir)) => {
                become_owner(&config.data)?;
                report_of(&facts(&data_dir, config, self.noted)?)
            }
            Ok(Acquired::Server(server)) => ask(&server, &config, args)?,
            Err(AcquireError::Unusable(why)) => {
                report_of(&check_closed(&config.data, &with_next_step(&why, &config.data)))
            }
            Err(AcquireError::InUse(why)) => report_of(&check_closed(&config.data, &why)),
        };
        report.colour = std::io::stdout().is_terminal() && crate::config::wants_colour();
        match report.code() {
            0 => Ok(Box::new(report)),
            code => Err(CommandError::Report(code, Box::new(report))),
        }
    }

    /// Runs in the server's process: returns JSON, which the shell's process puts into words.
    pub(super) fn answer(&self, site: &Shell) -> CommandResult {
        if self.noted {
            note(site)?;
        }
        text(report_of(&check_all(site)).json())
    }
}

fn facts(data_dir: &DataDir, config: Config, noted: bool) -> Result<Vec<Fact>, CommandError> {
    // Leftovers are looked for before the site is opened, which removes them.
    let left = leftovers(data_dir.dir());
    let facts = match Site::open(data_dir, config, Clock::machine(Moment(0))) {
        Ok(site) => {
            let shell = Shell::new(&site, shell::shell_actor(), false);
            let done = if noted { note(&shell) } else { Ok(()) };
            let facts = done.map(|()| check_all(&shell));
            site.close();
            facts?
        }
        Err(why) => check_closed(data_dir.dir(), &why),
    };
    Ok(facts.into_iter().filter(|fact| fact.name != "leftovers").chain(left).collect())
}

/// Every fact, that about the names on documents too.
fn check_all(site: &Site) -> Vec<Fact> {
    let mut facts = check(site, Depth::Full);
    let place = facts.iter().position(|fact| fact.name == "version").unwrap_or(facts.len());
    facts.insert(place, unprintable_names(site));
    facts
}

/// Ends the alarms of lost writes, of changes by another program and of corrected bits, and records the actor in the audit log.
fn note(site: &Shell) -> Result<(), CommandError> {
    let stands = |kind: &alarm::Kind| alarm::find(&site.config.data, *kind).is_some();
    for kind in [alarm::Kind::LostLog, alarm::Kind::Changed, alarm::Kind::Corrected].into_iter().filter(stands) {
        site.change(|cx| cx.record("alarm.noted", &Subject::Site, &Detail::none()))?;
        alarm::clear(&site.config.data, kind);
        audit_end::forget(&site.config.data);
        site.forget_health();
    }
    Ok(())
}

/// Requests the facts from the server.
fn ask(server: &UnixStream, config: &Config, args: &[OsString]) -> Result<DoctorReport, CommandError> {
    let outcome = match control::ask(server, &config.data, args) {
        Ok(outcome) => outcome,
        Err(why) => return Ok(report_of(&check_closed(&config.data, &why))),
    };
    match outcome.code {
        0 => serde_json::from_str(&outcome.text)
            .map_err(|_| failed("the running server does not understand this command: is it another version?")),
        1 => Err(refused(outcome.text)),
        _ => Err(failed(outcome.text)),
    }
}

fn report_of(facts: &[Fact]) -> DoctorReport {
    let line = |fact: &Fact| Line {
        name: fact.name.to_owned(),
        title: title(fact).in_english(),
        state: fact.state.name().to_owned(),
        text: fact.text.in_english(),
        next: fact.next.as_ref().map(crate::i18n::language::Text::in_english),
    };
    DoctorReport {
        state: health::worst(facts).name().to_owned(),
        facts: facts.iter().map(line).collect(),
        colour: false,
    }
}

impl DoctorReport {
    fn code(&self) -> u8 {
        State::parse(&self.state).map_or(2, |state| state as u8)
    }
}

const RESET: &str = "\u{1b}[0m";

fn colour_of(state: &str) -> &'static str {
    match State::parse(state) {
        Some(State::Ok) => "\u{1b}[32m",
        Some(State::Warning) => "\u{1b}[1;33m",
        Some(State::Alarm) | None => "\u{1b}[1;31m",
    }
}

/// The word for a state, as the desk has it in English.
fn word_of(state: &str) -> &'static str {
    match State::parse(state) {
        Some(State::Ok) => "OK",
        Some(State::Warning) => "Warning",
        Some(State::Alarm) | None => "Critical",
    }
}

/// The facts as text: a line for each, and below it what to do.
fn report_text(report: &DoctorReport, colour: bool) -> String {
    let painted = |text: String, state: &str| match colour {
        true => format!("{}{text}{RESET}", colour_of(state)),
        false => text,
    };
    let width = report.facts.iter().map(|line| line.title.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for line in &report.facts {
        let state = painted(format!("{:8}", word_of(&line.state)), &line.state);
        lines.push(format!("{state}  {:width$}  {}", line.title, line.text));
        if let Some(next) = &line.next {
            let indent = " ".repeat(10 + width);
            lines.push(format!("{indent}  {}", painted(format!("→ {next}"), &line.state)));
        }
    }
    let count = |state: State| report.facts.iter().filter(|line| line.state == state.name()).count();
    let verdict = match (count(State::Alarm), count(State::Warning)) {
        (0, 0) => "Everything is OK.".to_owned(),
        (0, 1) => "One warning.".to_owned(),
        (0, many) => format!("{many} warnings."),
        (1, _) => "One thing is critical.".to_owned(),
        (many, _) => format!("{many} things are critical."),
    };
    format!("{}\n\n{}", lines.join("\n"), painted(verdict, &report.state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::language::Text;

    #[test]
    fn lines_stand_in_columns_and_colours_are_for_terminals_alone() {
        let warning = Fact::judged("space", State::Warning, Text::new("health.store"), Text::new("health.space.next"));
        let report = report_of(&[Fact::ok("store", Text::new("health.store")), warning]);
        let plain = report_text(&report, false);
        let lines: Vec<&str> = plain.lines().collect();
        assert!(lines[0].starts_with("OK        Database    The database can"), "{plain}");
        assert!(lines[1].starts_with("Warning   Free space  The database can"), "{plain}");
        assert!(lines[2].starts_with("                      → Free up space"), "{plain}");
        assert_eq!((lines[4], report.code()), ("One warning.", 1));
        assert!(!plain.contains('\u{1b}'));
        let coloured = report_text(&report, true);
        assert_eq!(coloured.matches("\u{1b}[1;33m").count(), coloured.matches(RESET).count() - 1, "{coloured}");
    }
}
