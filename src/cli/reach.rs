//! How a command comes to a data directory: it takes the directory, or finds the server that has it.
//!
//! Another command has a directory for as long as it works there, and a server has it for a moment before it listens. Neither
//! is a reason to refuse, so whoever comes in that moment waits.

use super::socket::{self, Unheard};
use crate::store::engine::data_dir::{DataDir, LockError};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a command waits for whoever has the directory and does not listen.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How often it looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// How long a server that has the directory may take to let somebody in who wants the directory alone.
const KNOCK_TIME_MAX: Duration = Duration::from_secs(1);

/// What a command came to.
pub(crate) enum Reached {
    /// The directory, which is ours.
    DataDir(DataDir),
    /// The server that has the directory.
    Server(UnixStream),
}

/// Why a command came to neither, with what to do.
#[derive(Debug)]
pub(crate) enum Unreached {
    /// The directory cannot be used.
    Unfit(String),
    /// Somebody has it who takes no commands.
    Held(String),
}

/// Takes a data directory, or finds its server, which has `heard_max` to let the command in.
pub(crate) fn reach(dir: &Path, heard_max: Duration) -> Result<Reached, Unreached> {
    reach_within(WAIT_MAX, dir, DataDir::lock, heard_max)
}

/// Takes a data directory with `hold`, for a command that no server can carry out.
pub(crate) fn take(dir: &Path, hold: impl Fn(&Path) -> Result<DataDir, LockError>) -> Result<DataDir, LockError> {
    match reach_within(WAIT_MAX, dir, hold, KNOCK_TIME_MAX) {
        Ok(Reached::DataDir(data_dir)) => Ok(data_dir),
        Ok(Reached::Server(_)) | Err(Unreached::Held(_)) => Err(LockError::InUse),
        Err(Unreached::Unfit(text)) => Err(LockError::Unusable(text)),
    }
}

fn reach_within(
    wait_max: Duration,
    dir: &Path,
    hold: impl Fn(&Path) -> Result<DataDir, LockError>,
    heard_max: Duration,
) -> Result<Reached, Unreached> {
    let began = Instant::now();
    loop {
        match hold(dir) {
            Ok(data_dir) => return Ok(Reached::DataDir(data_dir)),
            Err(LockError::Unusable(text)) => return Err(Unreached::Unfit(text)),
            Err(LockError::InUse) => {}
        }
        match socket::connect(dir, heard_max) {
            Ok(server) => return Ok(Reached::Server(server)),
            Err(Unheard::Nobody) if began.elapsed() < wait_max => std::thread::sleep(LOOK_INTERVAL),
            Err(unheard) => return Err(Unreached::Held(in_words(&unheard, dir, heard_max))),
        }
    }
}

fn in_words(unheard: &Unheard, dir: &Path, heard_max: Duration) -> String {
    match unheard {
        Unheard::Nobody => {
            format!("{} is held by another process that takes no commands; wait for it or stop it", dir.display())
        }
        Unheard::Hangs => format!(
            "the server of {} takes no more commands and did not within {} s, so nothing was done: look at its log, and \
             start the server again if it hangs",
            dir.display(),
            heard_max.as_secs()
        ),
        Unheard::Stranger(path) => format!(
            "somebody else listens at {} in place of the server, and was told nothing: remove it, and start the server again",
            path.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::data_dir;
    use socket2::{Domain, SockAddr, Socket, Type};
    use std::os::unix::net::UnixListener;

    const BRIEF: Duration = Duration::from_millis(50);
    /// No test waits longer for what must not come before.
    const LONG: Duration = Duration::from_secs(30);

    fn held(reached: Result<Reached, Unreached>) -> String {
        match reached {
            Err(Unreached::Held(text)) => text,
            Err(Unreached::Unfit(text)) => panic!("unfit: {text}"),
            Ok(_) => panic!("reached"),
        }
    }

    #[test]
    fn a_directory_that_another_command_has_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let other = DataDir::lock(dir.path()).unwrap();
        assert!(held(reach_within(BRIEF, dir.path(), DataDir::lock, LONG)).contains("takes no commands; wait for it"));
        let works = std::thread::spawn(move || {
            std::thread::sleep(2 * BRIEF);
            drop(other);
        });
        assert!(matches!(reach_within(LONG, dir.path(), DataDir::lock, LONG), Ok(Reached::DataDir(_))));
        works.join().unwrap();
    }

    #[test]
    fn a_server_that_is_starting_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let _server = DataDir::lock(dir.path()).unwrap();
        let control = data_dir::control(dir.path());
        let starts = std::thread::spawn(move || {
            std::thread::sleep(2 * BRIEF);
            UnixListener::bind(control).unwrap()
        });
        assert!(matches!(reach_within(LONG, dir.path(), DataDir::lock, LONG), Ok(Reached::Server(_))));
        let _listener = starts.join().unwrap();
        // Whoever needs the directory alone does not wait for a server, which may stay for years.
        let since = Instant::now();
        assert!(matches!(take(dir.path(), DataDir::lock), Err(LockError::InUse)));
        assert!(since.elapsed() < WAIT_MAX, "{:?}", since.elapsed());
    }

    #[test]
    fn a_server_that_lets_nobody_in_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let _server = DataDir::lock(dir.path()).unwrap();
        let listener = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        listener.bind(&SockAddr::unix(data_dir::control(dir.path())).unwrap()).unwrap();
        // The kernel makes a few connections, and nobody takes them.
        listener.listen(1).unwrap();
        let (since, mut waiting) = (Instant::now(), Vec::new());
        let said = loop {
            assert!(since.elapsed() < LONG, "{} connections were made", waiting.len());
            match reach_within(LONG, dir.path(), DataDir::lock, BRIEF) {
                Ok(Reached::Server(server)) => waiting.push(server),
                refused => break held(refused),
            }
        };
        assert!(said.contains("takes no more commands") && said.contains("nothing was done"), "{said}");
    }
}
