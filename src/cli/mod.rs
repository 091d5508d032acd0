//! The command line: one file a command. Exit codes: 0 done, 1 refused, 2 failed.

mod acquire;
mod audit;
mod backup;
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
mod health;
mod import;
mod init;
mod key;
mod kiosk;
mod member;
mod outbox;
mod output;
mod owner;
mod partner;
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

use crate::clock::Clock;
use crate::config::{Config, Settings};
use crate::domain::audit::Actor;
use crate::domain::local_time::TimeZone;
use crate::site::Site;
use acquire::{AcquireError, Acquired};
use clap::{Args, Parser, Subcommand};
use output::{CommandError, CommandResult, Output, done, failed, nothing, refused, text};
use owner::{become_owner, become_owner_reversibly};
use progress::ProgressBar;
use shell::Shell;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use streams::{OutputFile, Streams};
use table::{Part, Row, Table};

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
    let output = match Cli::try_parse_from(&args) {
        Ok(cli) => run(cli, &args),
        Err(e) => {
            _ = e.print();
            return ExitCode::from(u8::from(e.use_stderr()));
        }
    };
    crate::log::flush();
    output.print();
    ExitCode::from(output.code)
}

fn run(cli: Cli, args: &[OsString]) -> Output {
    let Cli { global, command } = cli;
    let json = global.json;
    let answered = match command {
        Command::Serve(serve) => serve.run(&global),
        Command::Init(init) => init.run(&global),
        Command::Check => check::run(&global),
        Command::Routes => routes::run(),
        Command::Demo(demo) => demo.run(&global),
        Command::Clock(clock) => clock.run(&global),
        Command::Key(key) => key.run(&global),
        Command::Restore(restore) => restore.run(&global),
        Command::Standby(standby) => standby.run(&global),
        Command::Promote(promote) => promote.run(&global),
        Command::Health => health::run(&global),
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
            settings.set("data", data.to_string_lossy().into_owned(), "--data");
        }
        settings
    }

    fn checked(&self) -> Result<Config, CommandError> {
        check_settings(self.settings())
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

/// Runs a command on the database, or makes the running server carry it out.
fn run_on_site(global: &Global, command: &Command, args: &[OsString]) -> Result<Output, CommandError> {
    let secret = read_secret(command)?;
    let config = global.checked()?;
    let mut attached = attached(command)?;
    let mut output_file = OutputFile::new(output_path(command));
    let mut bar = global.bar();
    let dir = config.data.clone();
    let output = match control::lock_or_connect(&dir) {
        Ok(Acquired::Locked(data_dir)) => {
            // A command reaches a running server as the user who typed it; work on the database is done as its owner.
            let actor = shell::shell_actor();
            match output_path(command) {
                Some(_) => output_file.root_access = become_owner_reversibly(&dir)?,
                None => become_owner(&dir)?,
            }
            let mut progress = |step: &str, done, all| bar.set(step, done, all);
            let opened = Site::open_with_progress(&data_dir, config, Clock::machine(0), true, &mut progress);
            let (site, _) = opened.map_err(failed)?;
            show_moments_of(&site);
            let mut streams = Streams {
                progress: &mut progress,
                attached: attached.as_mut().map(|(file, bytes)| (file as &mut dyn std::io::Read, *bytes)),
                part: &mut |text| {
                    output_file.write(text);
                    Ok(())
                },
            };
            let shell = Shell::new(&site, actor, global.json);
            let output = Output::of(perform(&shell, command, secret.as_deref(), &mut streams), global.json);
            site.close();
            output
        }
        Err(AcquireError::Unusable(text)) => {
            return Err(refused(format!("{text}; make a site with `tunneldesk init`")));
        }
        Err(AcquireError::InUse(text)) => return Err(failed(text)),
        Ok(Acquired::Server(server)) => {
            let args = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
            let request = control::Request { args, secret, attached_bytes: attached.as_ref().map(|(_, bytes)| *bytes) };
            let file = attached.as_mut().map(|(file, _)| file as &mut (dyn std::io::Read + Send));
            control::run_on_server(&server, &dir, &request, file, &mut bar, &mut output_file).map_err(failed)?
        }
    };
    drop(bar);
    output_file.finish(output)
}

/// The file that a command reads, and its length: opened here, because a running server may be another user in another
/// directory.
fn attached(command: &Command) -> Result<Option<(std::fs::File, u64)>, CommandError> {
    let Command::Import(import) = command else { return Ok(None) };
    let unreadable = |e: std::io::Error| refused(format!("{} cannot be read: {e}", import.file().display()));
    let file = std::fs::File::open(import.file()).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    Ok(Some((file, bytes)))
}

/// The file that a command writes its result to, if not standard output.
fn output_path(command: &Command) -> Option<PathBuf> {
    if let Command::Export(export) = command {
        return export.output_path();
    }
    if let Command::Member(member) = command { member.output_path() } else { None }
}

/// Carries out a command line on the server's own site.
fn run_request(site: &Site, actor: Actor, request: &control::Request, streams: &mut Streams) -> Output {
    let Cli { global, command } = match Cli::try_parse_from(&request.args) {
        Ok(cli) => cli,
        Err(e) => return Output::refused(e.to_string()),
    };
    show_moments_of(site);
    let shell = Shell::new(site, actor, global.json);
    Output::of(perform(&shell, &command, request.secret.as_deref(), streams), global.json)
}

fn perform(site: &Shell, command: &Command, secret: Option<&str>, streams: &mut Streams) -> CommandResult {
    match command {
        Command::Member(command) => command.run(site, secret, streams),
        Command::Partner(command) => command.run(site),
        Command::Signer(command) => command.run(site),
        Command::Kiosk(command) => command.run(site),
        Command::Session(command) => command.run(site),
        Command::Outbox(command) => command.run(site),
        Command::Callbacks(command) => command.run(site),
        Command::Contact(command) => command.run(site),
        Command::Tunnel(command) => command.run(site, secret),
        Command::Import(command) => command.run(site, streams),
        Command::Export(command) => command.run(site, streams),
        Command::Reminders(command) => command.run(site),
        Command::Sync(command) => command.run(site, streams.progress),
        Command::Tls(command) => command.run(site),
        Command::Doctor(command) => command.answer(site),
        Command::Audit(command) => command.run(site, streams),
        Command::Backup(command) => command.run(site, streams.progress),
        Command::Serve(_)
        | Command::Init(_)
        | Command::Check
        | Command::Routes
        | Command::Clock(_)
        | Command::Key(_)
        | Command::Restore(_)
        | Command::Standby(_)
        | Command::Promote(_)
        | Command::Rollback
        | Command::Health
        | Command::Demo(_)
        | Command::Describe(_) => Err(refused("a running server does not carry out this command")),
    }
}

/// Reads the password that a command takes from standard input, or the file that it names. Both are read here, because a running
/// server may be another user in another directory.
fn read_secret(command: &Command) -> Result<Option<String>, CommandError> {
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
        .map_err(|e| failed(format!("cannot read the password from standard input: {e}")))?;
    Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
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
fn shown_moment(moment: i64) -> String {
    TIME_ZONE.with_borrow(|zone| zone.date_time_zone(moment))
}
