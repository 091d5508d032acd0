//! The socket by which commands reach a running server: a file in the data directory, where no other user can put one. Each
//! side checks the user of the other before it sends anything.
//!
//! On a disk that takes no writes the socket lies outside the data directory, in a directory of the service's own.

use crate::store::data_dir;
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest path that fits into the kernel's address of a socket, whose last byte is zero.
const ADDRESS_BYTES_MAX: usize = 107;
/// Created by the service manager for the service alone (`RuntimeDirectory=` of the unit).
const RUNTIME_DIR: &str = "/run/tunneldesk";
/// The permission bits of group and others.
const OTHERS: u32 = 0o077;

/// The file of a socket on which this process listens; removed when this is dropped.
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// Why a command did not reach a server.
pub(crate) enum ConnectError {
    /// No process listens.
    NoServer,
    /// The server accepted no connection within the time.
    TimedOut,
    /// A process of another user listens. Nothing was sent.
    NotOurs(PathBuf),
}

/// Listens for commands. This process has the lock of the directory, so a socket that is there was left by a killed server.
pub(crate) fn bind(dir: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let found = std::fs::metadata(dir)?;
    bind_at(data_dir::control(dir)).or_else(|refused| {
        let mut beside = fallback_paths(&found).filter(|path| is_private(path.parent()));
        beside.find_map(|path| bind_at(path).ok()).ok_or(refused)
    })
}

fn bind_at(path: PathBuf) -> io::Result<(UnixListener, SocketFile)> {
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let listener = with_short_path(&path, |short| UnixListener::bind(short))?;
    let socket_file = SocketFile(path);
    std::fs::set_permissions(&socket_file.0, Permissions::from_mode(0o600))?;
    Ok((listener, socket_file))
}

/// Connects to the server of a data directory, within a time.
pub(crate) fn connect(dir: &Path, time_max: Duration) -> Result<UnixStream, ConnectError> {
    let Ok(found) = std::fs::metadata(dir) else { return Err(ConnectError::NoServer) };
    let mut connect_error = ConnectError::NoServer;
    for path in std::iter::once(data_dir::control(dir)).chain(fallback_paths(&found)) {
        let Ok(socket) = std::fs::symlink_metadata(&path) else { continue };
        // Connects to no other user's socket, whose answer could take long.
        if socket.file_type().is_socket() && is_trusted(socket.uid(), &found) {
            let stream = match with_short_path(&path, |short| connect_within(short, time_max)) {
                Ok(stream) => stream,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Err(ConnectError::TimedOut),
                Err(_) => continue,
            };
            if peer_user(&stream).is_ok_and(|user| is_trusted(user, &found)) {
                return Ok(stream);
            }
        }
        connect_error = ConnectError::NotOurs(path);
    }
    Err(connect_error)
}

/// Connects. While the listener's queue is full, the kernel waits for as long as a write may take, so that is set first.
fn connect_within(path: &Path, time_max: Duration) -> io::Result<UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_write_timeout(Some(time_max))?;
    socket.connect(&SockAddr::unix(path)?)?;
    Ok(OwnedFd::from(socket).into())
}

/// Paths for the socket of a data directory that takes none. The names contain the directory's device and inode, which are
/// the same by every path that leads to it.
fn fallback_paths(data: &Metadata) -> impl Iterator<Item = PathBuf> + use<> {
    let name = format!("control-{}-{}.sock", data.dev(), data.ino());
    [PathBuf::from(RUNTIME_DIR), temporary_dir(data.uid())].into_iter().map(move |dir| dir.join(&name))
}

fn temporary_dir(user: u32) -> PathBuf {
    format!("/tmp/tunneldesk-{user}").into()
}

/// Whether only this user may use the directory; the temporary one is created if it is missing.
fn is_private(dir: Option<&Path>) -> bool {
    let Some(dir) = dir else { return false };
    if dir == temporary_dir(effective_user()) {
        _ = DirBuilder::new().mode(0o700).create(dir);
    }
    std::fs::symlink_metadata(dir).is_ok_and(|found| {
        found.is_dir() && found.uid() == effective_user() && found.permissions().mode() & OTHERS == 0
    })
}

/// Whether a user may be the other side: the owner of the data directory, root, or this process's own user.
fn is_trusted(user: u32, data: &Metadata) -> bool {
    [data.uid(), 0, effective_user()].contains(&user)
}

/// Opens a socket by a path of any length: a long one is replaced by a path through a descriptor of its directory.
fn with_short_path<T>(path: &Path, open: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().as_bytes().len() <= ADDRESS_BYTES_MAX {
        return open(path);
    }
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let dir = File::open(dir)?;
    open(&Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name))
}

/// The user of the process at the other end of a connection.
pub(crate) fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// The effective user of this process.
pub(crate) fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}
