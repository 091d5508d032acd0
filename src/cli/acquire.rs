//! How a command gets at a data directory: it locks the directory, or connects to the server that has the lock.
//!
//! Another command has the lock for as long as it works, and a server has it for a moment before it listens. Neither is a
//! reason to refuse, so the command waits for a few seconds.

use super::owner::become_owner;
use super::socket::{self, ConnectError};
use super::{CommandError, Global, holder, refused};
use crate::config::Config;
use crate::store::data_dir::{DataDir, LockError, database, standby_copy};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a command waits for a process that has the lock and does not listen.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(5);
/// How often the command tries again.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// How long a server may take to accept the connection of a command that needs the directory for itself.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// A locked data directory, or its server.
pub(crate) enum Acquired {
    /// The directory, locked by this process.
    Locked(DataDir),
    /// A connection to the server that has the lock.
    Server(UnixStream),
}

/// Why a command got neither the lock nor a connection, in a text that says what to do.
#[derive(Debug)]
pub(crate) enum AcquireError {
    /// The directory cannot be used.
    Unusable(String),
    /// A process that takes no commands has the lock.
    InUse(String),
}

/// Locks a data directory, or connects to its server, which has `connect_timeout` to accept.
pub(crate) fn lock_or_connect(dir: &Path, connect_timeout: Duration) -> Result<Acquired, AcquireError> {
    lock_or_connect_within(LOCK_WAIT_MAX, dir, DataDir::lock, connect_timeout)
}

/// Locks a data directory with `lock`, for a command that no server can carry out.
pub(crate) fn lock(dir: &Path, lock: impl Fn(&Path) -> Result<DataDir, LockError>) -> Result<DataDir, LockError> {
    match lock_or_connect_within(LOCK_WAIT_MAX, dir, lock, CONNECT_TIMEOUT) {
        Ok(Acquired::Locked(data_dir)) => Ok(data_dir),
        Ok(Acquired::Server(_)) | Err(AcquireError::InUse(_)) => Err(LockError::InUse),
        Err(AcquireError::Unusable(text)) => Err(LockError::Unusable(text)),
    }
}

/// The settings and the data directory, for a command that needs the directory for itself: the process becomes the
/// directory's owner, and locks it with `lock`.
pub(super) fn offline(
    global: &Global,
    lock_dir: impl Fn(&Path) -> Result<DataDir, LockError>,
) -> Result<(Config, DataDir), CommandError> {
    let config = global.checked()?;
    let data_dir = lock_offline(&config, lock_dir)?;
    Ok((config, data_dir))
}

/// The data directory of such a command, whose settings are known.
pub(super) fn lock_offline(
    config: &Config,
    lock_dir: impl Fn(&Path) -> Result<DataDir, LockError>,
) -> Result<DataDir, CommandError> {
    become_owner(&config.data)?;
    lock(&config.data, lock_dir).map_err(|error| match error {
        LockError::InUse => refused(holder::in_use(&config.data)),
        LockError::Unusable(text) => refused(text),
    })
}

fn lock_or_connect_within(
    wait_max: Duration,
    dir: &Path,
    lock: impl Fn(&Path) -> Result<DataDir, LockError>,
    connect_timeout: Duration,
) -> Result<Acquired, AcquireError> {
    let began = Instant::now();
    loop {
        match lock(dir) {
            Ok(data_dir) => return Ok(Acquired::Locked(data_dir)),
            Err(LockError::Unusable(text)) => return Err(AcquireError::Unusable(text)),
            Err(LockError::InUse) => {}
        }
        match socket::connect(dir, connect_timeout) {
            Ok(server) => return Ok(Acquired::Server(server)),
            Err(ConnectError::NoServer) if began.elapsed() < wait_max => std::thread::sleep(RETRY_INTERVAL),
            Err(connect_error) => return Err(AcquireError::InUse(describe(&connect_error, dir, connect_timeout))),
        }
    }
}

fn describe(connect_error: &ConnectError, dir: &Path, connect_timeout: Duration) -> String {
    match connect_error {
        ConnectError::NoServer if standby_copy(dir).exists() && !database(dir).exists() => format!(
            "a standby runs on {}, which takes no commands: `tunneldesk doctor` on the main machine says how far it is behind",
            dir.display()
        ),
        ConnectError::NoServer => {
            format!("{}; it takes no commands", holder::in_use(dir))
        }
        ConnectError::TimedOut => format!(
            "the server of {} takes no more commands and did not within {} s, so nothing was done: look at its log, and \
             start the server again if it hangs",
            dir.display(),
            connect_timeout.as_secs()
        ),
        ConnectError::NotOurs(path) => format!(
            "another user listens at {} in place of the server, and was sent nothing: remove it, and start the server again",
            path.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::data_dir;
    use socket2::{Domain, SockAddr, Socket, Type};
    use std::os::unix::net::UnixListener;

    const BRIEF: Duration = Duration::from_millis(50);
    /// Longer than any test waits.
    const LONG: Duration = Duration::from_secs(30);

    fn held(reached: Result<Acquired, AcquireError>) -> String {
        match reached {
            Err(AcquireError::InUse(text)) => text,
            Err(AcquireError::Unusable(text)) => panic!("unfit: {text}"),
            Ok(_) => panic!("reached"),
        }
    }

    #[test]
    fn a_directory_that_another_command_has_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let other = DataDir::lock(dir.path()).unwrap();
        assert!(
            held(lock_or_connect_within(BRIEF, dir.path(), DataDir::lock, LONG))
                .ends_with("stop it first; it takes no commands")
        );
        let works = std::thread::spawn(move || {
            std::thread::sleep(2 * BRIEF);
            drop(other);
        });
        assert!(matches!(lock_or_connect_within(LONG, dir.path(), DataDir::lock, LONG), Ok(Acquired::Locked(_))));
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
        assert!(matches!(lock_or_connect_within(LONG, dir.path(), DataDir::lock, LONG), Ok(Acquired::Server(_))));
        let _listener = starts.join().unwrap();
        // A command that needs the directory for itself does not wait for a server, which may run for years.
        let since = Instant::now();
        assert!(matches!(lock(dir.path(), DataDir::lock), Err(LockError::InUse)));
        assert!(since.elapsed() < LOCK_WAIT_MAX, "{:?}", since.elapsed());
    }

    #[test]
    fn a_server_that_accepts_no_connection_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let _server = DataDir::lock(dir.path()).unwrap();
        let listener = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        listener.bind(&SockAddr::unix(data_dir::control(dir.path())).unwrap()).unwrap();
        // The kernel queues a few connections, and no process accepts them.
        listener.listen(1).unwrap();
        let (since, mut waiting) = (Instant::now(), Vec::new());
        let said = loop {
            assert!(since.elapsed() < LONG, "{} connections were made", waiting.len());
            match lock_or_connect_within(LONG, dir.path(), DataDir::lock, BRIEF) {
                Ok(Acquired::Server(server)) => waiting.push(server),
                refused => break held(refused),
            }
        };
        assert!(said.contains("takes no more commands") && said.contains("nothing was done"), "{said}");
    }
}
