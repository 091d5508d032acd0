//! The command line: one file a command. Exit codes: 0 done, 1 refused, 2 failed.

mod acquire;
mod audit;
mod backup;
mod backup_choice;
mod bounces;
mod callbacks;
mod check;
mod clock;
mod contact;
pub mod control;
mod demo;
mod describe;
mod doctor;
mod export;
mod found_backups;
mod health;
mod holder;
mod import;
mod init;
mod key;
mod kiosk;
mod member;
mod on_site;
mod outbox;
mod output;
mod owner;
mod partner;
mod partner_hook;
mod point_in_time;
mod progress;
mod reminders;
mod restore;
mod rollback;
mod routes;
mod serve;
mod session;
mod shell;
mod signer;
pub mod socket;
mod standby;
mod streams;
mod sync;
mod table;
mod tls;
mod tunnel;
mod upgrade;

use crate::config::{Config, Settings};
use crate::domain::local_time::TimeZone;
use crate::moment::Moment;
use crate::site::Site;
use clap::{Args, Parser, Subcommand};
use on_site::{run_on_site, run_request};
use output::{CommandError, CommandResult, Output, done, failed, nothing, refused, text};
use progress::ProgressBar;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use table::{Row, RowRange, Table};

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
    data: Option<String>,
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
    Check(check::Check),
    /// Show every operation and who may call it
    Routes,
    /// Members: add, list, show, set-role, confirm, ban, unlock, reset-password, reset-second-factor, export, erase
    #[command(subcommand)]
    Member(member::Member),
    /// Partners: add, list, rotate, revoke
    #[command(subcommand)]
    Partner(partner::Partner),
    /// The latest moment that the database has seen: set-back, after the machine's clock ran ahead
    #[command(subcommand)]
    Clock(clock::Clock),
    /// The site key: rotate
    #[command(subcommand)]
    Key(key::Key),
    /// Instructors who may sign at this tunnel: add, list, remove
    #[command(subcommand)]
    Signer(signer::Signer),
    /// Kiosks: pair, list, revoke
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
    /// Audit log: list, verify
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Copies of the whole site: make one, list them, try one
    Backup(backup::Command),
    /// Put a backup in the site's place; the server must be stopped
    Restore(restore::Restore),
    /// Follow a site on another machine, to take its place if it is lost
    Standby(standby::Standby),
    /// Take the place of the machine that this one follows: typed by a person, with the standby stopped
    Promote(standby::Promote),
    /// Upgrade the database of an earlier version, after a backup; `serve` does it by itself at its start
    Upgrade,
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

/// Runs the program: parses the command line, runs the command and prints its output. Returns the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(refused) = output::refuse_control(args.iter().map(|arg| arg.to_string_lossy())) {
        return ExitCode::from(refused.print());
    }
    let output = match Cli::try_parse_from(&args) {
        Ok(cli) => run(cli, &args),
        Err(e) => {
            let printed = e.print().and_then(|()| std::io::stdout().flush());
            return ExitCode::from(match output::ignoring_closed_pipe(printed) {
                Err(cause) if !e.use_stderr() => output::unwritten(&cause),
                _ => u8::from(e.use_stderr()),
            });
        }
    };
    crate::log::flush();
    ExitCode::from(output.print())
}

fn run(cli: Cli, args: &[OsString]) -> Output {
    let Cli { global, command } = cli;
    let json = global.json;
    let answered = match command {
        Command::Serve(serve) => serve.run(&global),
        Command::Init(init) => init.run(&global),
        Command::Check(check) => check.run(&global, args),
        Command::Routes => routes::run(),
        Command::Demo(demo) => demo.run(&global),
        Command::Clock(clock) => clock.run(&global),
        Command::Key(key) => key.run(&global),
        Command::Restore(restore) => restore.run(&global),
        Command::Standby(standby) => standby.run(&global),
        Command::Promote(promote) => promote.run(&global),
        Command::Health => health::run(&global),
        Command::Upgrade => upgrade::run(&global),
        Command::Rollback => rollback::run(&global),
        Command::Describe(describe) => describe.run(),
        Command::Doctor(doctor) => doctor.run(&global, args),
        Command::Sync(sync) if sync.is_remote() => sync.run_remote(&global),
        Command::Member(_)
        | Command::Partner(_)
        | Command::Signer(_)
        | Command::Kiosk(_)
        | Command::Session(_)
        | Command::Outbox(_)
        | Command::Callbacks(_)
        | Command::Contact(_)
        | Command::Tunnel(_)
        | Command::Import(_)
        | Command::Export(_)
        | Command::Reminders(_)
        | Command::Sync(_)
        | Command::Tls(_)
        | Command::Audit(_)
        | Command::Backup(_) => {
            return run_on_site(&global, &command, args).unwrap_or_else(|trouble| Output::of(Err(trouble), json));
        }
    };
    Output::of(answered, json)
}

impl Global {
    fn settings(&self) -> Settings {
        let mut settings = Settings::gather(self.config.clone().or_else(Settings::usual_file).as_deref());
        if let Some(data) = &self.data {
            settings.set("data", data.clone(), "--data");
        }
        settings
    }

    fn checked(&self) -> Result<Config, CommandError> {
        check_settings(self.settings())
    }

    /// The settings for a restore, and the mistakes in those that it does not need: a site has to come back first.
    fn checked_for_restore(&self) -> Result<(Config, Vec<String>), CommandError> {
        match self.settings().check() {
            Ok(config) => Ok((config, Vec::new())),
            Err(mistakes) => Ok((check_settings(self.settings().for_restore())?, mistakes)),
        }
    }

    /// Whether progress bars are shown.
    fn shows_progress(&self) -> bool {
        !self.json
    }

    fn bar(&self) -> ProgressBar {
        ProgressBar::new(self.shows_progress())
    }
}

fn check_settings(settings: Settings) -> Result<Config, CommandError> {
    settings.check().map_err(|mistakes| refused(format!("the settings have mistakes:\n  {}", mistakes.join("\n  "))))
}

thread_local! {
    /// The time zone of the site whose command this thread runs; UTC while no site is open.
    static TIME_ZONE: RefCell<TimeZone> = const { RefCell::new(TimeZone::UTC) };
}

/// Makes this thread show moments in the site's time zone.
fn show_moments_of(site: &Site) {
    let zone = site.time_zone().unwrap_or(TimeZone::UTC);
    site.store.release();
    show_moments_in(zone);
}

/// Makes this thread show moments in a time zone, for a command that opens no site.
fn show_moments_in(zone: TimeZone) {
    TIME_ZONE.set(zone);
}

/// A moment as people read it, in the time zone of the site whose command runs: `2026-11-21 14:30 CET`.
fn shown_moment(moment: Moment) -> String {
    TIME_ZONE.with_borrow(|zone| zone.date_time_zone(moment))
}
