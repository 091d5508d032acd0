//! Opens files by name. A name may belong to something else than a file: a pipe makes whoever opens it wait, and a directory
//! reads like a broken disk. Here such a thing is refused before it is read, with what it is and what to do.

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// More than a settings file, a certificate or a list of tunnels has.
const GIVEN_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The longest wait for the first byte in a named pipe that a person names.
const PIPE_WAIT_SECONDS_MAX: i64 = 5;

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a file.
pub(crate) fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    refusing(options, path, |found| !found.is_file())
}

/// Reads all of a file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (open(path)?, Vec::new());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces the content of a file, and makes it where it is missing.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    open_with(OpenOptions::new().write(true).create(true).truncate(true), path)?.write_all(bytes.as_ref())
}

/// Copies a file with its mode.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    open(from)?;
    std::fs::copy(from, to).map(drop)
}

/// Opens a directory, to lock or flush it.
pub(crate) fn open_dir(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path)
}

/// Opens a file that a person names, for reading. Pipes and `/dev/null` are as good; a named pipe into which nobody writes is
/// refused after a while.
pub(crate) fn open_given(path: &Path) -> io::Result<File> {
    // What the shell passes: `/dev/stdin`, `<(…)`.
    if ["/dev", "/proc"].iter().any(|dir| path.starts_with(dir)) {
        return File::open(path);
    }
    let is_refused = |kind: FileType| !kind.is_file() && !kind.is_char_device() && !kind.is_fifo();
    let file = refusing(OpenOptions::new().read(true), path, |found| is_refused(found.file_type()))?;
    if file.metadata()?.file_type().is_fifo() {
        wait_for_writer(&file)?;
    }
    Ok(file)
}

/// Waits until there is something to read in a pipe that was opened without waiting, and makes reads wait again.
fn wait_for_writer(pipe: &File) -> io::Result<()> {
    let limit = Timespec { tv_sec: PIPE_WAIT_SECONDS_MAX, tv_nsec: 0 };
    if rustix::event::poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&limit))? == 0 {
        let what = format!("it is a named pipe, and nothing was written into it for {PIPE_WAIT_SECONDS_MAX} s");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let flags = rustix::fs::fcntl_getfl(pipe)?;
    Ok(rustix::fs::fcntl_setfl(pipe, flags - OFlags::NONBLOCK)?)
}

/// Reads a file that a person names: see [`open_given`].
pub(crate) fn read_given(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_given(path)?.take(GIVEN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > GIVEN_BYTES_MAX {
        let what = format!("it is larger than {} MiB", GIVEN_BYTES_MAX / 1024 / 1024);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(bytes)
}

/// Reads the text of a file that a person names: see [`open_given`].
pub(crate) fn read_given_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_given(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// What lies in a file's place, as the end of a sentence with what to do; `None`: a file, or nothing.
pub(crate) fn obstacle(path: &Path) -> Option<String> {
    match path.metadata() {
        Ok(found) if found.is_file() => None,
        Ok(found) => Some(describe(found.file_type())),
        Err(_) => dangling(path),
    }
}

/// Opens what is there without waiting for it, and then looks at it: so that it cannot be replaced in between.
fn refusing(options: &mut OpenOptions, path: &Path, is_refused: impl Fn(&Metadata) -> bool) -> io::Result<File> {
    #[cfg(debug_assertions)]
    if is_hanging_in_tests(path) {
        return options.custom_flags(0).open(path);
    }
    let opened = match options.custom_flags(libc::O_NONBLOCK).open(path) {
        // Another program has a lease of the file, and gives it back.
        Err(e) if e.kind() == io::ErrorKind::WouldBlock && path.is_file() => options.custom_flags(0).open(path),
        opened => opened,
    };
    let found = opened.as_ref().map_or_else(|_| path.metadata(), File::metadata);
    let obstacle = match found {
        Ok(found) if is_refused(&found) => Some(describe(found.file_type())),
        Ok(_) => None,
        Err(_) => dangling(path),
    };
    obstacle.map_or(opened, |what| Err(io::Error::new(io::ErrorKind::InvalidInput, what)))
}

/// Tests have a named pipe with the sticky bit stand in for a file on a share whose server is gone: opening it waits.
#[cfg(debug_assertions)]
fn is_hanging_in_tests(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.file_type().is_fifo() && found.permissions().mode() & libc::S_ISVTX != 0)
}

fn describe(kind: FileType) -> String {
    let what = match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    };
    format!("it is {what} and not a file: move it away")
}

/// A link to nothing.
fn dangling(path: &Path) -> Option<String> {
    let target = std::fs::read_link(path).ok()?;
    Some(format!(
        "it is a link to {}, which is not there: put the file back there, or remove the link",
        target.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::Mode;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_file_is_opened_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::fs::create_dir(at("directory")).unwrap();
        symlink("nowhere/file", at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        for (name, what) in [
            ("pipe", "a named pipe"),
            ("socket", "a socket"),
            ("directory", "a directory"),
            ("link", "nowhere/file"),
            ("device", "a device"),
        ] {
            let path = at(name);
            for said in [read(&path).unwrap_err().to_string(), write(&path, "x").unwrap_err().to_string()] {
                assert!(said.contains(what), "{name}: {said}");
            }
            assert!(obstacle(&path).unwrap().contains(what), "{name}");
            assert_eq!(open_given(&path).is_ok(), name == "device", "{name}");
        }
        let pipe = at("pipe");
        let writer = std::thread::spawn(move || std::fs::write(pipe, "through the pipe").unwrap());
        assert_eq!(read_given_text(&at("pipe")).unwrap(), "through the pipe");
        writer.join().unwrap();
        assert!(obstacle(&at("file")).is_none() && read(&at("file")).unwrap_err().kind() == io::ErrorKind::NotFound);
        write(&at("file"), "text").unwrap();
        symlink("file", at("good")).unwrap();
        assert!(read(&at("good")).unwrap() == b"text" && obstacle(&at("good")).is_none());
    }
}
