//! Commands that a running server carries out, because no other process may open its database. A command reaches the
//! server by the socket that [`socket`] opens; the server takes commands from its own user and from root.

use super::acquire::{self, AcquireError, Acquired};
use super::progress::ProgressBar;
use super::shell;
use super::socket::{self, SocketFile};
use super::streams::{OutputFile, Streams};
use super::{Output, run_request};
use crate::site::Site;
use crate::site::priority;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the server waits for the next bytes of a command.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a command waits for the server.
#[derive(Clone, Copy)]
struct Timeouts {
    /// The time until the connection is accepted, and then until the server has received the command.
    accept: Duration,
    /// The time between two messages after that: the check of a large backup may take long.
    silence: Duration,
}

const TIMEOUTS: Timeouts = Timeouts { accept: Duration::from_secs(120), silence: Duration::from_secs(30 * 60) };
/// The shortest time between two messages about the same step of long work.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
const REQUEST_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Commands that may be in progress; one more is refused.
const COMMANDS_MAX: usize = 8;

/// A command line on its way to the server, as one line of JSON. A secret (or the text of a file) is sent here, so that no
/// process list shows it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    pub args: Vec<String>,
    pub secret: Option<String>,
    /// The bytes of a file that follow the line: the server may be another user, who cannot read that file.
    #[serde(default)]
    pub attached_bytes: Option<u64>,
}

/// The server's messages to a command, one line of JSON each: received, progress, output, and at the end the result. Commands
/// and servers of other versions know the messages by the names in `rename`.
#[derive(Serialize, Deserialize)]
enum Message {
    #[serde(rename = "Heard")]
    Received,
    #[serde(rename = "Step")]
    Progress { step: String, done: u64, total: u64 },
    /// The next part of the command's output.
    #[serde(rename = "Part")]
    Output(String),
    #[serde(rename = "Done")]
    Finished(Output),
}

/// Why the result of a command is not known.
#[derive(Debug)]
enum ResultLost {
    /// The server sent no message for this long.
    Silent(Duration),
    /// The server closed the connection.
    Closed,
}

impl ResultLost {
    fn of(error: &std::io::Error, waited: Duration) -> ResultLost {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => ResultLost::Silent(waited),
            _ => ResultLost::Closed,
        }
    }

    /// The error text, which says what to do.
    fn describe(&self, dir: &Path) -> String {
        let what = match self {
            ResultLost::Silent(waited) => format!("has not answered for {} s", waited.as_secs()),
            ResultLost::Closed => "ended before it answered".to_owned(),
        };
        format!(
            "the server of {} {what}, so whether the command was carried out is not known: look at its log, and start the \
             server again if it hangs",
            dir.display()
        )
    }
}

/// Locks a data directory, or connects to its server.
pub(crate) fn lock_or_connect(dir: &Path) -> Result<Acquired, AcquireError> {
    acquire::lock_or_connect(dir, TIMEOUTS.accept)
}

/// Makes the server of a data directory carry out a command. Each wait for a server that hangs has a limit. The error
/// says why the result is not known, and what to do.
pub(crate) fn run_on_server(
    server: &UnixStream,
    dir: &Path,
    request: &Request,
    attached: Option<&mut (dyn Read + Send)>,
    bar: &mut ProgressBar,
    output_file: &mut OutputFile,
) -> Result<Output, String> {
    exchange(server, TIMEOUTS, request, attached, bar, output_file).map_err(|lost| lost.describe(dir))
}

/// Makes the server of a data directory answer a command that takes nothing along and shows no progress.
pub(crate) fn ask(server: &UnixStream, dir: &Path, args: &[OsString]) -> Result<Output, String> {
    let args = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let request = Request { args, secret: None, attached_bytes: None };
    run_on_server(server, dir, &request, None, &mut ProgressBar::new(false), &mut OutputFile::new(None))
}

fn exchange(
    stream: &UnixStream,
    timeouts: Timeouts,
    request: &Request,
    attached: Option<&mut (dyn Read + Send)>,
    bar: &mut ProgressBar,
    output_file: &mut OutputFile,
) -> Result<Output, ResultLost> {
    let because = |e: &std::io::Error| ResultLost::of(e, timeouts.accept);
    stream.set_read_timeout(Some(timeouts.accept)).map_err(|e| because(&e))?;
    stream.set_write_timeout(Some(timeouts.accept)).map_err(|e| because(&e))?;
    let mut line = serde_json::to_vec(request).map_err(|_| ResultLost::Closed)?;
    line.push(b'\n');
    (&*stream).write_all(&line).map_err(|e| because(&e))?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A server that refuses early does not read the rest.
            _ = attached.map(|file| std::io::copy(file, &mut &*stream));
            stream.shutdown(Shutdown::Write)
        });
        let output = read_messages(stream, timeouts, bar, output_file);
        if output.is_err() {
            // Ends the thread that sends the file, of which nothing more is read.
            _ = stream.shutdown(Shutdown::Both);
        }
        output
    })
}

/// Reads the server's messages to the last one.
fn read_messages(
    stream: &UnixStream,
    timeouts: Timeouts,
    bar: &mut ProgressBar,
    output_file: &mut OutputFile,
) -> Result<Output, ResultLost> {
    let mut waited = timeouts.accept;
    for line in BufReader::new(stream).lines() {
        let line = line.map_err(|e| ResultLost::of(&e, waited))?;
        match serde_json::from_str(&line).map_err(|_| ResultLost::Closed)? {
            Message::Received => {}
            Message::Progress { step, done, total } => bar.set(&step, done, total),
            Message::Output(text) => output_file.write(&text),
            Message::Finished(output) => return Ok(output),
        }
        if waited != timeouts.silence {
            waited = timeouts.silence;
            let longer = stream.set_read_timeout(Some(waited)).and_then(|()| stream.set_write_timeout(Some(waited)));
            longer.map_err(|e| ResultLost::of(&e, waited))?;
        }
    }
    Err(ResultLost::Closed)
}

/// Carries out commands until the process ends, each on a thread of its own, so that none waits for a backup whose off-site
/// directory hangs. The threads have a lower priority than requests. This process has the lock of the directory. Dropping the
/// returned value removes the socket.
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

/// Carries out one command on a thread of its own; each has one reference to `under_way`.
fn begin(site: &Site, stream: UnixStream, under_way: Arc<()>) -> std::io::Result<()> {
    // The listener has one reference, and this command one.
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

/// Carries out one command, and sends its output. `busy`: [`COMMANDS_MAX`] commands are under way already.
fn carry_out(site: &Site, stream: UnixStream, busy: bool) -> std::io::Result<()> {
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(READ_TIMEOUT))?;
    let user = user_of(&stream).ok_or(std::io::ErrorKind::PermissionDenied)?;
    let (mut bytes, mut from_shell) = (Vec::new(), BufReader::new(&stream));
    if (&mut from_shell).take(REQUEST_BYTES_MAX).read_until(b'\n', &mut bytes)? == 0 {
        // The client only checked whether a server listens.
        return Ok(());
    }
    send(&stream, &Message::Received)?;
    let output = match serde_json::from_slice::<Request>(&bytes) {
        _ if busy => Output::failed("too many commands are in progress: try again when one of them is through"),
        Ok(request) => {
            let mut part = |text: &str| send(&stream, &Message::Output(text.to_owned()));
            let mut progress = progress_sender(&stream);
            let attached = request.attached_bytes.map(|bytes| (&mut from_shell as &mut dyn Read, bytes));
            let mut streams = Streams { progress: &mut progress, attached, part: &mut part };
            let by = shell::actor(user);
            // A panic in one command must not end the others.
            let answered = catch_unwind(AssertUnwindSafe(|| run_request(site, by, &request, &mut streams)));
            answered
                .unwrap_or_else(|_| Output::failed("the command failed by a fault of the program; the log says where"))
        }
        Err(_) => Output::failed("the running server does not understand this command: is it another version?"),
    };
    site.store.release();
    send(&stream, &Message::Finished(output))?;
    // Closing with unread bytes would reset the connection, and the other side would lose the last message.
    stream.shutdown(Shutdown::Write)?;
    std::io::copy(&mut from_shell, &mut std::io::sink()).map(drop)
}

fn send(mut stream: &UnixStream, message: &Message) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Sends the progress of long work. A client that has disconnected does not stop the work.
fn progress_sender(stream: &UnixStream) -> impl FnMut(&str, u64, u64) {
    let mut sent: Option<(String, Instant)> = None;
    move |step, done, total| {
        let due = sent.as_ref().is_none_or(|(last, at)| last != step || at.elapsed() >= PROGRESS_INTERVAL);
        if due {
            _ = send(stream, &Message::Progress { step: step.to_owned(), done, total });
            sent = Some((step.to_owned(), Instant::now()));
        }
    }
}

/// The user of the other side, if commands are taken from that user.
fn user_of(stream: &UnixStream) -> Option<u32> {
    socket::peer_user(stream).ok().filter(|user| [socket::effective_user(), 0].contains(user))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const BRIEF: Duration = Duration::from_millis(50);
    /// Longer than any test waits.
    const LONG: Duration = Duration::from_secs(30);
    /// More than a socket's buffer takes.
    const FILE_BYTES: u64 = 4 * 1024 * 1024;

    /// Runs a command, with a file, against a server that runs `answer`; the server's thread has ended once the
    /// channel closes.
    fn answered(
        timeouts: Timeouts,
        answer: impl FnOnce(&UnixStream, mpsc::Receiver<()>) + Send,
    ) -> Result<Output, ResultLost> {
        let (command, server) = UnixStream::pair().unwrap();
        let request = Request { args: Vec::new(), secret: None, attached_bytes: Some(FILE_BYTES) };
        let mut file = std::io::repeat(b'x').take(FILE_BYTES);
        let (asking, through) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || answer(&server, through));
            let (bar, output_file) = (&mut ProgressBar::new(false), &mut OutputFile::new(None));
            let output = exchange(&command, timeouts, &request, Some(&mut file), bar, output_file);
            drop(asking);
            output
        })
    }

    #[test]
    fn a_server_that_received_the_command_has_more_time_and_not_for_ever() {
        let timeouts = Timeouts { accept: BRIEF, silence: LONG };
        let output = answered(timeouts, |stream, _| {
            send(stream, &Message::Received).unwrap();
            std::thread::sleep(3 * BRIEF);
            send(stream, &Message::Finished(Output::failed("done"))).unwrap();
            std::io::copy(&mut &*stream, &mut std::io::sink()).unwrap();
        });
        assert_eq!(output.unwrap().text, "done");
        let silent = |stream: &UnixStream, through: mpsc::Receiver<()>| {
            send(stream, &Message::Received).unwrap();
            _ = through.recv_timeout(LONG);
        };
        let gave_up = answered(Timeouts { accept: LONG, silence: BRIEF }, silent);
        assert!(matches!(gave_up, Err(ResultLost::Silent(BRIEF))), "{:?}", gave_up.err());
        let gave_up = answered(timeouts, |_, _| {});
        assert!(matches!(gave_up, Err(ResultLost::Closed)), "{:?}", gave_up.err());
    }

    #[test]
    fn a_command_that_is_never_received_is_given_up() {
        let deaf = |_: &UnixStream, through: mpsc::Receiver<()>| _ = through.recv_timeout(LONG);
        let gave_up = answered(Timeouts { accept: BRIEF, silence: LONG }, deaf);
        let said = gave_up.err().unwrap().describe(Path::new("site"));
        assert!(said.contains("has not answered") && said.contains("not known: look at its log"), "{said}");
    }
}
