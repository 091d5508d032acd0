//! What the technician types: one file a command. Exit codes: 0 done, 1 refused, 2 broken.

mod audit;
mod backup;
mod bar;
mod callbacks;
mod check;
mod clock;
mod contact;
pub mod control;
mod demo;
mod describe;
mod doctor;
mod export;
mod health;
mod import;
mod init;
mod key;
mod kiosk;
mod marks;
mod member;
mod outbox;
mod outcome;
mod owner;
mod partner;
mod reminders;
mod restore;
mod rollback;
mod routes;
mod serve;
mod session;
mod shell;
mod signer;
pub mod socket;
mod sync;
mod tls;
mod tunnel;
mod wire;

use crate::clock::Clock;
use crate::config::{Config, Settings};
use crate::site::Site;
use crate::store::engine::place::{Place, Unheld};
use clap::{Args, Parser, Subcommand};
use outcome::{Outcome, Trouble, broken, refused, say};
use owner::{become_owner, become_owner_for_now};
use serde::Serialize;
use shell::Shell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wire::{Sheet, Wire};

/// The on-site server of an indoor flight tunnel: membership, flight logbook and partner metrics.
#[derive(Parser)]
#[command(name = "tunneldesk", version = crate::VERSION, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args)]
struct Global {
    /// The settings file [default: ./tunneldesk.toml, then /etc/tunneldesk/tunneldesk.toml, where there is one]
    #[arg(long, global = true, env = "TUNNELDESK_CONFIG", value_name = "FILE", hide_env = true)]
    config: Option<PathBuf>,
    /// The data directory [default: `data` of the settings]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print JSON, for machines
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Run the site
    Serve(serve::Serve),
    /// Make a new site in the data directory
    Init(init::Init),
    /// Show the settings in force, or every mistake in them
    Check,
    /// Show every operation and who may call it
    Routes,
    /// Members: add, list, show, set-role, confirm, ban, unlock, reset-password, reset-second-factor, export, erase
    #[command(subcommand)]
    Member(member::Member),
    /// Partners: add, list, rotate, revoke
    #[command(subcommand)]
    Partner(partner::Partner),
    /// The moment that the file remembers: set-back, where the machine's clock once ran ahead
    #[command(subcommand)]
    Clock(clock::Clock),
    /// The site key: rotate
    #[command(subcommand)]
    Key(key::Key),
    /// Whom the tunnel lets sign for others: add, list, remove
    #[command(subcommand)]
    Signer(signer::Signer),
    /// Kiosks in the hall: pair, list, revoke
    #[command(subcommand)]
    Kiosk(kiosk::Kiosk),
    /// Sessions for jobs
    #[command(subcommand)]
    Session(session::Session),
    /// Messages on their way out: list, show, retry, marked, lift
    #[command(subcommand)]
    Outbox(outbox::Outbox),
    /// What third parties called back with: list, show, unmatched, match
    #[command(subcommand)]
    Callbacks(callbacks::Callbacks),
    /// What was written in the contact form: list, show, done
    #[command(subcommand)]
    Contact(contact::Contact),
    /// The tunnels that this site knows: list, import
    #[command(subcommand)]
    Tunnel(tunnel::Tunnel),
    /// Take members, logbook entries or bookings out of a CSV file: all of it, or nothing
    Import(import::Import),
    /// Write members, the logbook or bookings as CSV
    Export(export::Export),
    /// Remind members whose currency ends: the server does that every hour by itself
    Reminders(reminders::Reminders),
    /// Carry the partner metrics upstream now, or show how far they are; the server does it by itself
    Sync(sync::Sync),
    /// The certificate for https: init, status, renew, authority
    #[command(subcommand)]
    Tls(tls::Tls),
    /// Look at everything that may go wrong, and say what to do
    Doctor(doctor::Doctor),
    /// Who did what to whom from where: list, verify
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Copies of the whole site: make one, list them, try one
    Backup(backup::Command),
    /// Put a backup in the site's place; the server must be stopped
    Restore(restore::Restore),
    /// Take back the last upgrade, for the version from before; the server must be stopped
    Rollback,
    /// Ask the server on this machine whether it is ready
    Health,
    /// Make a demo site, as large as you like, and always the same
    Demo(demo::Demo),
    /// What a package carries beside the executable
    #[command(subcommand, hide = true)]
    Describe(describe::Describe),
}

/// The whole program.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let outcome = match Cli::try_parse_from(&args) {
        Ok(cli) => run(cli, &args),
        Err(e) => {
            _ = e.print();
            return ExitCode::from(u8::from(e.use_stderr()));
        }
    };
    crate::log::flush();
    say(&outcome);
    ExitCode::from(outcome.code)
}

fn run(cli: Cli, args: &[OsString]) -> Outcome {
    let Cli { global, command } = cli;
    match command {
        Command::Serve(serve) => serve.run(&global).into(),
        Command::Init(init) => init.run(&global).into(),
        Command::Check => check::run(&global).into(),
        Command::Routes => Ok(routes::run(global.json)).into(),
        Command::Demo(demo) => demo.run(&global).into(),
        Command::Clock(clock) => clock.run(&global).into(),
        Command::Key(key) => key.run(&global).into(),
        Command::Restore(restore) => restore.run(&global).into(),
        Command::Health => health::run(&global).into(),
        Command::Rollback => rollback::run(&global).into(),
        Command::Describe(describe) => describe.run().into(),
        Command::Doctor(doctor) => doctor.run(&global, args),
        Command::Sync(sync) if sync.is_from_elsewhere() => sync.run_from_elsewhere(&global).into(),
        command => at_the_site(&global, &command, args),
    }
}

impl Global {
    fn settings(&self) -> Settings {
        let mut settings = Settings::gather(self.config.clone().or_else(Settings::usual_file).as_deref());
        if let Some(data) = &self.data {
            settings.set("data", data.to_string_lossy().into_owned(), "--data");
        }
        settings
    }

    fn checked(&self) -> Result<Config, Trouble> {
        check_settings(self.settings())
    }
}

/// Why a directory is not ours, for a command that works on the file alone.
fn stop_it_first(unheld: Unheld, dir: &Path) -> Trouble {
    match unheld {
        Unheld::InUse => refused(format!("a tunneldesk is running on {}: stop it first", dir.display())),
        Unheld::Unfit(text) => refused(text),
    }
}

fn check_settings(settings: Settings) -> Result<Config, Trouble> {
    settings.check().map_err(|mistakes| refused(format!("the settings have mistakes:\n  {}", mistakes.join("\n  "))))
}

/// Runs a command on the file, or has the server run it that holds the file.
fn at_the_site(global: &Global, command: &Command, args: &[OsString]) -> Outcome {
    match at_either(global, command, args) {
        Ok(outcome) => outcome,
        Err(trouble) => Err(trouble).into(),
    }
}

fn at_either(global: &Global, command: &Command, args: &[OsString]) -> Result<Outcome, Trouble> {
    let secret = read_secret(command)?;
    let config = global.checked()?;
    let mut attached = attached(command)?;
    let mut sheet = Sheet::new(written(command));
    let mut bar = bar::Bar::new(!global.json);
    let dir = config.data.clone();
    let outcome = match Place::hold(&dir) {
        Ok(place) => {
            // A running server is asked by whoever we are; what we do ourselves, its owner does.
            let by = shell::by_us();
            match written(command) {
                Some(_) => sheet.way_back = become_owner_for_now(&dir)?,
                None => become_owner(&dir)?,
            }
            let mut progress = |step: &str, done, all| bar.tell(step, done, all);
            let opened = Site::open_telling(&place, config, Clock::machine(0), true, &mut progress);
            let (site, _) = opened.map_err(broken)?;
            let mut wire = Wire {
                progress: &mut progress,
                attached: attached.as_mut().map(|(file, bytes)| (file as &mut dyn std::io::Read, *bytes)),
                part: &mut |text| {
                    sheet.write(text);
                    Ok(())
                },
            };
            let outcome = perform(&Shell::new(&site, by), command, global.json, secret.as_deref(), &mut wire);
            site.close();
            outcome.into()
        }
        Err(Unheld::Unfit(text)) => return Err(refused(format!("{text}; make a site with `tunneldesk init`"))),
        Err(Unheld::InUse) => {
            let args = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
            let request = control::Request { args, secret, attached_bytes: attached.as_ref().map(|(_, bytes)| *bytes) };
            let file = attached.as_mut().map(|(file, _)| file as &mut (dyn std::io::Read + Send));
            control::ask(&dir, &request, file, &mut bar, &mut sheet).map_err(broken)?
        }
    };
    drop(bar);
    sheet.finish(outcome)
}

/// The file that a command reads, and its length: opened here, because a running server may be another user in another
/// directory.
fn attached(command: &Command) -> Result<Option<(std::fs::File, u64)>, Trouble> {
    let Command::Import(import) = command else { return Ok(None) };
    let unreadable = |e: std::io::Error| refused(format!("{} cannot be read: {e}", import.file().display()));
    let file = std::fs::File::open(import.file()).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    Ok(Some((file, bytes)))
}

/// Where a command has its result written, if not on standard output.
fn written(command: &Command) -> Option<PathBuf> {
    match command {
        Command::Export(export) => export.to(),
        Command::Member(member) => member.to(),
        _ => None,
    }
}

/// On the server's side: the same command line, on the server's own site.
fn answer_for_site(site: &Shell, request: &control::Request, wire: &mut Wire) -> Outcome {
    match Cli::try_parse_from(&request.args) {
        Ok(cli) => perform(site, &cli.command, cli.global.json, request.secret.as_deref(), wire).into(),
        Err(e) => Outcome { code: 1, text: e.to_string(), is_result: false },
    }
}

fn perform(
    site: &Shell,
    command: &Command,
    json: bool,
    secret: Option<&str>,
    wire: &mut Wire,
) -> Result<String, Trouble> {
    match command {
        Command::Member(command) => command.run(site, json, secret, wire),
        Command::Partner(command) => command.run(site, json),
        Command::Signer(command) => command.run(site, json),
        Command::Kiosk(command) => command.run(site, json),
        Command::Session(command) => command.run(site, json),
        Command::Outbox(command) => command.run(site, json),
        Command::Callbacks(command) => command.run(site, json),
        Command::Contact(command) => command.run(site, json),
        Command::Tunnel(command) => command.run(site, json, secret),
        Command::Import(command) => command.run(site, json, wire),
        Command::Export(command) => command.run(site, wire),
        Command::Reminders(command) => command.run(site, json),
        Command::Sync(command) => command.run(site, json, wire.progress),
        Command::Tls(command) => command.run(site, json),
        Command::Doctor(command) => command.answer(site),
        Command::Audit(command) => command.run(site, json, wire.progress),
        Command::Backup(command) => command.run(site, json, wire.progress),
        _ => Err(refused("a running server does not carry out this command")),
    }
}

/// The password that a command wants from standard input, or the file that it names: both are read here, because a
/// running server may be another user in another directory.
fn read_secret(command: &Command) -> Result<Option<String>, Trouble> {
    if let Command::Tunnel(command) = command {
        return command.read_file();
    }
    let Command::Member(command) = command else { return Ok(None) };
    if let Some(typed) = command.confirmation()? {
        return Ok(Some(typed));
    }
    if !command.wants_secret() {
        return Ok(None);
    }
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|e| broken(format!("cannot read the password from standard input: {e}")))?;
    Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// JSON as machines read it: one line.
fn as_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our own structs can be written as JSON")
}

/// A moment as people read it, in UTC.
fn shown_moment(moment: i64) -> String {
    jiff::Timestamp::from_second(moment)
        .map_or_else(|_| moment.to_string(), |t| t.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Which part of a list a person asks for.
#[derive(Args)]
struct Part {
    /// Rows to list
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: Option<i64>,
    /// Rows to pass over first
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    offset: i64,
}

impl Part {
    /// Unless it is said, a table has `usual` rows, and a machine gets all.
    fn limit(&self, usual: i64, json: bool) -> i64 {
        self.limit.unwrap_or(if json { i64::MAX } else { usual })
    }
}

/// The line under a table that does not show all rows: how many come after it, and how to see them. Empty where none do.
fn left_out(total: i64, offset: i64, listed: usize) -> String {
    let next = offset.saturating_add(listed as i64);
    match total - next {
        more @ 1.. if listed > 0 => format!("\n… and {more} more: --offset {next}, or a larger --limit"),
        _ => String::new(),
    }
}

/// Rows under headings, in columns as wide as they need to be.
fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(headings[column].len())
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect::<Vec<_>>();
        padded.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(headings.to_vec())];
    lines.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    lines.join("\n")
}
