//! How a command reaches a running server: nobody opens the live file beside it, so it carries the command out itself.
//!
//! Only the same user and root are heard, by the socket that [`socket`] opens.

use super::bar::Bar;
use super::shell;
use super::socket::{self, Named, Unheard};
use super::wire::{Sheet, Wire};
use super::{Outcome, answer_for_site};
use crate::site::Site;
use crate::site::pace;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TALK_TIME_MAX: Duration = Duration::from_secs(30);
/// Between two words of a server at long work, such as checking a large copy.
const SILENCE_MAX: Duration = Duration::from_secs(30 * 60);
/// Steps of long work are told at most so often.
const TELL_INTERVAL: Duration = Duration::from_millis(100);
const REQUEST_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Commands that are carried out at once; one more is refused.
const COMMANDS_MAX: usize = 8;

/// A command line on its way to the server, alone on its line. A secret (or the text of a file) travels here and in no
/// process list.
#[derive(Serialize, Deserialize)]
pub struct Request {
    pub args: Vec<String>,
    pub secret: Option<String>,
    /// How many bytes of a file come after it: the server may be another user, who cannot read that file.
    #[serde(default)]
    pub attached_bytes: Option<u64>,
}

/// What the server says, a line each: how far it is, and at the end what came of it.
#[derive(Serialize, Deserialize)]
enum Said {
    Step {
        step: String,
        done: u64,
        total: u64,
    },
    /// The next part of what it makes.
    Part(String),
    Done(Outcome),
}

/// Has the server of a data directory carry a command out. The error: why it did not, with what to do.
pub fn ask(
    dir: &Path,
    request: &Request,
    attached: Option<&mut (dyn Read + Send)>,
    bar: &mut Bar,
    sheet: &mut Sheet,
) -> Result<Outcome, String> {
    let nobody =
        || format!("{} is held by another process that takes no commands; wait for it or stop it", dir.display());
    match socket::connect(dir) {
        Ok(stream) => talk(&stream, request, attached, bar, sheet).ok_or_else(nobody),
        Err(Unheard::Nobody) => Err(nobody()),
        Err(Unheard::Stranger(path)) => Err(format!(
            "somebody else listens at {} in place of the server, and was told nothing: remove it, and start the server again",
            path.display()
        )),
    }
}

/// `None`: the other side ended before it said what came of it.
fn talk(
    stream: &UnixStream,
    request: &Request,
    attached: Option<&mut (dyn Read + Send)>,
    bar: &mut Bar,
    sheet: &mut Sheet,
) -> Option<Outcome> {
    stream.set_read_timeout(Some(SILENCE_MAX)).ok()?;
    let mut line = serde_json::to_vec(request).ok()?;
    line.push(b'\n');
    (&*stream).write_all(&line).ok()?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A server that refuses early does not hear the rest.
            _ = attached.map(|file| std::io::copy(file, &mut &*stream));
            stream.shutdown(Shutdown::Write)
        });
        for line in BufReader::new(stream).lines() {
            match serde_json::from_str(&line.ok()?).ok()? {
                Said::Step { step, done, total } => bar.tell(&step, done, total),
                Said::Part(text) => sheet.write(&text),
                Said::Done(outcome) => return Some(outcome),
            }
        }
        None
    })
}

/// Carries out commands until the process ends, each on a thread of its own, so that none waits for a backup whose second
/// place hangs. Requests come first: a backup takes a core for as long as it takes. The directory is held by this process;
/// nobody finds the socket any more once what is returned was dropped.
pub fn listen(dir: &Path, site: Site) -> std::io::Result<Named> {
    let (listener, named) = socket::bind(dir)?;
    let under_way = Arc::new(());
    let serve = move || {
        for stream in listener.incoming() {
            let begun = stream.and_then(|stream| begin(&site, stream, under_way.clone()));
            _ = begun.inspect_err(not_carried_out);
        }
    };
    std::thread::Builder::new().name("control".to_owned()).spawn(serve).map(|_| named)
}

/// Carries out one command on a thread of its own; each holds `under_way` once.
fn begin(site: &Site, stream: UnixStream, under_way: Arc<()>) -> std::io::Result<()> {
    // One is held by whoever listens, and one by this command.
    let busy = Arc::strong_count(&under_way) > COMMANDS_MAX + 1;
    let site = site.for_another_thread();
    let work = move || {
        pace::give_way();
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
    (&mut from_shell).take(REQUEST_BYTES_MAX).read_until(b'\n', &mut bytes)?;
    let outcome = match serde_json::from_slice::<Request>(&bytes) {
        _ if busy => Outcome::broken("too many commands are under way at once: try again when one of them is through"),
        Ok(request) => {
            let mut part = |text: &str| say(&stream, &Said::Part(text.to_owned()));
            let mut progress = teller(&stream);
            let attached = request.attached_bytes.map(|bytes| (&mut from_shell as &mut dyn Read, bytes));
            let mut wire = Wire { progress: &mut progress, attached, part: &mut part };
            let by = shell::by(user);
            // A fault in one command must not be the end of all commands.
            let answered = catch_unwind(AssertUnwindSafe(|| answer_for_site(site, by, &request, &mut wire)));
            answered.unwrap_or_else(|_| Outcome::broken("the command failed by a fault of ours; the log says where"))
        }
        Err(_) => Outcome::broken("the running server does not understand this command: is it another version?"),
    };
    site.store.rest();
    say(&stream, &Said::Done(outcome))?;
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
    socket::peer(stream).ok().filter(|user| [socket::ours(), 0].contains(user))
}
