//! The commands on the database of a site: run here, or by the server that has the database open.

use super::acquire::{AcquireError, Acquired};
use super::output::{CommandError, CommandResult, Output, failed, refuse_control, refused};
use super::owner::{become_owner, become_owner_reversibly};
use super::shell::{self, Shell};
use super::streams::{OutputFile, Streams};
use super::{Cli, Command, Global, control, show_moments_of};
use crate::clock::Clock;
use crate::domain::audit::Actor;
use crate::files;
use crate::moment::Moment;
use crate::site::Site;
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Runs a command on the database, or makes the running server carry it out.
pub(super) fn run_on_site(global: &Global, command: &Command, args: &[OsString]) -> Result<Output, CommandError> {
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
            let site = Site::open(&data_dir, config, Clock::machine(Moment(0))).map_err(failed)?;
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
        Err(AcquireError::Unusable(text)) => return Err(refused(with_next_step(&text, &dir))),
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

/// The error for a data directory that cannot be used, with what to do.
pub(super) fn with_next_step(error: &str, dir: &Path) -> String {
    let next = match std::fs::metadata(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => "make a site with `tunneldesk init`",
        Ok(found) if !found.is_dir() => "name the directory of a site with --data",
        _ => "run the command as the owner of that directory, or as root",
    };
    format!("{error}; {next}")
}

/// The file that a command reads, and its length: opened here, because a running server may be another user in another
/// directory.
fn attached(command: &Command) -> Result<Option<(std::fs::File, u64)>, CommandError> {
    let Command::Import(import) = command else { return Ok(None) };
    let unreadable = |e: std::io::Error| refused(format!("{} cannot be read: {e}", import.file().display()));
    let file = files::open_given(import.file()).map_err(unreadable)?;
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
pub(super) fn run_request(site: &Site, actor: Actor, request: &control::Request, streams: &mut Streams) -> Output {
    if let Some(refused) = refuse_control(request.args.iter().map(|arg| arg.as_str().into())) {
        return refused;
    }
    let Cli { global, command } = match Cli::try_parse_from(&request.args) {
        Ok(cli) => cli,
        Err(e) => return Output::refused(e.to_string()),
    };
    show_moments_of(site);
    let shell = Shell::in_server(site, actor, global.json);
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
        Command::Check(command) => command.answer(site),
        Command::Serve(_)
        | Command::Init(_)
        | Command::Routes
        | Command::Clock(_)
        | Command::Key(_)
        | Command::Restore(_)
        | Command::Standby(_)
        | Command::Promote(_)
        | Command::Upgrade
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
