//! How a command reaches a running server: nobody opens the live file beside it, so it carries the command out itself.
//!
//! Only the same user and root are heard, by the socket that [`socket`] opens.

use super::acquire::{self, AcquireError, Acquired};
use super::progress::ProgressBar;
use super::shell;
use super::socket::{self, SocketFile};
use super::streams::{OutputFile, Streams};
use super::{Output, answer_for_site};
use crate::site::Site;
use crate::site::priority;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TALK_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a command waits for a server that says nothing.
#[derive(Clone, Copy)]
struct Patience {
    /// To be let in, and then until the command was heard.
    heard: Duration,
    /// Between two words after that: checking a large copy takes its time.
    silence: Duration,
}

const PATIENCE: Patience = Patience { heard: Duration::from_secs(120), silence: Duration::from_secs(30 * 60) };
/// Steps of long work are told at most so often.
const TELL_INTERVAL: Duration = Duration::from_millis(100);
const REQUEST_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Commands that are carried out at once; one more is refused.
const COMMANDS_MAX: usize = 8;

/// A command line on its way to the server, alone on its line. A secret (or the text of a file) travels here and in no
/// process list.
#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    pub args: Vec<String>,
    pub secret: Option<String>,
    /// How many bytes of a file come after it: the server may be another user, who cannot read that file.
    #[serde(default)]
    pub attached_bytes: Option<u64>,
}

/// The server's messages to a command, a line each: that the server took the command, how far it is, and at the end its
/// output.
#[derive(Serialize, Deserialize)]
enum Said {
    Heard,
    Step {
        step: String,
        done: u64,
        total: u64,
    },
    /// The next part of what it makes.
    Part(String),
    Done(Output),
}

/// Why nobody knows what came of a command.
#[derive(Debug)]
enum NoOutcome {
    /// The server did not hear it, or said nothing more, for so long.
    Silent(Duration),
    /// The server closed the connection.
    Closed,
}

impl NoOutcome {
    fn of(error: &std::io::Error, waited: Duration) -> NoOutcome {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => NoOutcome::Silent(waited),
            _ => NoOutcome::Closed,
        }
    }

    /// With what to do.
    fn in_words(&self, dir: &Path) -> String {
        let what = match self {
            NoOutcome::Silent(waited) => format!("has said nothing for {} s", waited.as_secs()),
            NoOutcome::Closed => "ended before it answered".to_owned(),
        };
        format!(
            "the server of {} {what}, so whether the command was carried out is not known: look at its log, and start the \
             server again if it hangs",
            dir.display()
        )
    }
}

/// Takes a data directory, or finds its server.
pub(crate) fn lock_or_connect(dir: &Path) -> Result<Acquired, AcquireError> {
    acquire::lock_or_connect(dir, PATIENCE.heard)
}

/// Has the server of a data directory carry a command out. The error: why nobody knows whether it did, with what to do. The
/// wait for a server that hangs has a limit at each step.
pub(crate) fn ask(
    server: &UnixStream,
    dir: &Path,
    request: &Request,
    attached: Option<&mut (dyn Read + Send)>,
    bar: &mut ProgressBar,
    output_file: &mut OutputFile,
) -> Result<Output, String> {
    talk(server, PATIENCE, request, attached, bar, output_file).map_err(|no_outcome| no_outcome.in_words(dir))
}

fn talk(
    stream: &UnixStream,
    patience: Patience,
    request: &Request,
    attached: Option<&mut (dyn Read + Send)>,
    bar: &mut ProgressBar,
    output_file: &mut OutputFile,
) -> Result<Output, NoOutcome> {
    let because = |e: &std::io::Error| NoOutcome::of(e, patience.heard);
    stream.set_read_timeout(Some(patience.heard)).map_err(|e| because(&e))?;
    stream.set_write_timeout(Some(patience.heard)).map_err(|e| because(&e))?;
    let mut line = serde_json::to_vec(request).map_err(|_| NoOutcome::Closed)?;
    line.push(b'\n');
    (&*stream).write_all(&line).map_err(|e| because(&e))?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A server that refuses early does not hear the rest.
            _ = attached.map(|file| std::io::copy(file, &mut &*stream));
            stream.shutdown(Shutdown::Write)
        });
        let output = hear(stream, patience, bar, output_file);
        if output.is_err() {
            // The file, of which nobody takes the rest, is no longer sent.
            _ = stream.shutdown(Shutdown::Both);
        }
        output
    })
}

/// Reads the server's messages to the last one.
fn hear(
    stream: &UnixStream,
    patience: Patience,
    bar: &mut ProgressBar,
    output_file: &mut OutputFile,
) -> Result<Output, NoOutcome> {
    let mut waited = patience.heard;
    for line in BufReader::new(stream).lines() {
        let line = line.map_err(|e| NoOutcome::of(&e, waited))?;
        match serde_json::from_str(&line).map_err(|_| NoOutcome::Closed)? {
            Said::Heard => {}
            Said::Step { step, done, total } => bar.set(&step, done, total),
            Said::Part(text) => output_file.write(&text),
            Said::Done(output) => return Ok(output),
        }
        if waited != patience.silence {
            waited = patience.silence;
            let longer = stream.set_read_timeout(Some(waited)).and_then(|()| stream.set_write_timeout(Some(waited)));
            longer.map_err(|e| NoOutcome::of(&e, waited))?;
        }
    }
    Err(NoOutcome::Closed)
}

/// Carries out commands until the process ends, each on a thread of its own, so that none waits for a backup whose second
/// place hangs. Requests come first: a backup takes a core for as long as it takes. The directory is held by this process;
/// nobody finds the socket any more once what is returned was dropped.
pub fn listen(dir: &Path, site: Site) -> std::io::Result<SocketFile> {
    let (listener, socket_file) = socket::bind(dir)?;
    let under_way = Arc::new(());
    let serve = move || {
        for stream in listener.incoming() {
            let begun = stream.and_then(|stream| begin(&site, stream, under_way.clone()));
            _ = begun.inspect_err(not_carried_out);
        }
    };
    std::thread::Builder::new().name("control".to_owned()).spawn(serve).map(|_| socket_file)
}

/// Carries out one command on a thread of its own; each holds `under_way` once.
fn begin(site: &Site, stream: UnixStream, under_way: Arc<()>) -> std::io::Result<()> {
    // One is held by whoever listens, and one by this command.
    let busy = Arc::strong_count(&under_way) > COMMANDS_MAX + 1;
    let site = site.for_another_thread();
    let work = move || {
        priority::lower();
        _ = carry_out(&site, stream, busy).inspect_err(not_carried_out);
        drop(under_way);
    };
    std::thread::Builder::new().name("command".to_owned()).spawn(work).map(|_| ())
}

fn not_carried_out(cause: &std::io::Error) {
    tracing::warn!(%cause, "a command from the shell was not carried out");
}

/// `busy`: as many as may be are under way already.
fn carry_out(site: &Site, stream: UnixStream, busy: bool) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TALK_TIME_MAX))?;
    stream.set_write_timeout(Some(TALK_TIME_MAX))?;
    let user = user_of(&stream).ok_or(std::io::ErrorKind::PermissionDenied)?;
    let (mut bytes, mut from_shell) = (Vec::new(), BufReader::new(&stream));
    if (&mut from_shell).take(REQUEST_BYTES_MAX).read_until(b'\n', &mut bytes)? == 0 {
        // Somebody looked whether a server is here.
        return Ok(());
    }
    say(&stream, &Said::Heard)?;
    let output = match serde_json::from_slice::<Request>(&bytes) {
        _ if busy => Output::failed("too many commands are in progress at once: try again when one of them is through"),
        Ok(request) => {
            let mut part = |text: &str| say(&stream, &Said::Part(text.to_owned()));
            let mut progress = teller(&stream);
            let attached = request.attached_bytes.map(|bytes| (&mut from_shell as &mut dyn Read, bytes));
            let mut streams = Streams { progress: &mut progress, attached, part: &mut part };
            let by = shell::by(user);
            // A fault in one command must not be the end of all commands.
            let answered = catch_unwind(AssertUnwindSafe(|| answer_for_site(site, by, &request, &mut streams)));
            answered.unwrap_or_else(|_| Output::failed("the command failed by a fault of ours; the log says where"))
        }
        Err(_) => Output::failed("the running server does not understand this command: is it another version?"),
    };
    site.store.release();
    say(&stream, &Said::Done(output))?;
    // Closed with something unread, the other side would not hear the end.
    stream.shutdown(Shutdown::Write)?;
    std::io::copy(&mut from_shell, &mut std::io::sink()).map(drop)
}

fn say(mut stream: &UnixStream, said: &Said) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Tells the other side how far long work is; one that went away is no reason to stop.
fn teller(stream: &UnixStream) -> impl FnMut(&str, u64, u64) {
    let mut told: Option<(String, Instant)> = None;
    move |step, done, total| {
        let due = told.as_ref().is_none_or(|(last, at)| last != step || at.elapsed() >= TELL_INTERVAL);
        if due {
            _ = say(stream, &Said::Step { step: step.to_owned(), done, total });
            told = Some((step.to_owned(), Instant::now()));
        }
    }
}

/// The user that the other side runs as, if that is ours or root.
fn user_of(stream: &UnixStream) -> Option<u32> {
    socket::peer_user(stream).ok().filter(|user| [socket::effective_user(), 0].contains(user))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const BRIEF: Duration = Duration::from_millis(50);
    /// No test waits longer for what must not come before.
    const LONG: Duration = Duration::from_secs(30);
    /// No queue of the kernel's takes so many.
    const FILE_BYTES: u64 = 4 * 1024 * 1024;

    /// Runs a command, with a file, against a server that answers like this; the server's thread has ended once the channel
    /// closes.
    fn answered(
        patience: Patience,
        answer: impl FnOnce(&UnixStream, mpsc::Receiver<()>) + Send,
    ) -> Result<Output, NoOutcome> {
        let (command, server) = UnixStream::pair().unwrap();
        let request = Request { args: Vec::new(), secret: None, attached_bytes: Some(FILE_BYTES) };
        let mut file = std::io::repeat(b'x').take(FILE_BYTES);
        let (asking, through) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || answer(&server, through));
            let (bar, output_file) = (&mut ProgressBar::new(false), &mut OutputFile::new(None));
            let output = talk(&command, patience, &request, Some(&mut file), bar, output_file);
            drop(asking);
            output
        })
    }

    #[test]
    fn a_server_that_heard_the_command_has_longer_and_not_for_ever() {
        let patience = Patience { heard: BRIEF, silence: LONG };
        let output = answered(patience, |stream, _| {
            say(stream, &Said::Heard).unwrap();
            std::thread::sleep(3 * BRIEF);
            say(stream, &Said::Done(Output::failed("done"))).unwrap();
            std::io::copy(&mut &*stream, &mut std::io::sink()).unwrap();
        });
        assert_eq!(output.unwrap().text, "done");
        let silent = |stream: &UnixStream, through: mpsc::Receiver<()>| {
            say(stream, &Said::Heard).unwrap();
            _ = through.recv_timeout(LONG);
        };
        let gave_up = answered(Patience { heard: LONG, silence: BRIEF }, silent);
        assert!(matches!(gave_up, Err(NoOutcome::Silent(BRIEF))), "{:?}", gave_up.err());
        let gave_up = answered(patience, |_, _| {});
        assert!(matches!(gave_up, Err(NoOutcome::Closed)), "{:?}", gave_up.err());
    }

    #[test]
    fn a_command_that_is_never_heard_is_given_up() {
        let deaf = |_: &UnixStream, through: mpsc::Receiver<()>| _ = through.recv_timeout(LONG);
        let gave_up = answered(Patience { heard: BRIEF, silence: LONG }, deaf);
        let said = gave_up.err().unwrap().in_words(Path::new("site"));
        assert!(said.contains("has said nothing") && said.contains("not known: look at its log"), "{said}");
    }
}
