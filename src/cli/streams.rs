//! The streams between a command and the terminal where it was typed: progress, an input file, output. A running
//! server may carry the command out, perhaps as another user in another directory.

use super::output::ignoring_closed_pipe;
use super::owner::RootAccess;
use super::{CommandError, Output, failed};
use crate::ops::Progress;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The streams of a command, on the side that carries it out.
pub(super) struct Streams<'w> {
    pub progress: &'w mut Progress<'w>,
    /// The file that the command reads, and its length in bytes.
    pub attached: Option<(&'w mut dyn Read, u64)>,
    /// Takes the next part of the command's output. An error: the client closed the connection.
    pub part: &'w mut dyn FnMut(&str) -> io::Result<()>,
}

/// The output of a command, on the side of the shell: to standard output, to a file that is written completely or not at all,
/// or to a device or pipe.
pub(crate) struct OutputFile {
    to: Option<PathBuf>,
    /// Whether `to` is a device or a pipe, which is written to and never replaced.
    is_device: bool,
    /// The way back to the rights of root, by which the file is created as the user who typed the command.
    pub root_access: RootAccess,
    unfinished: Option<BufWriter<File>>,
    trouble: Option<io::Error>,
}

impl OutputFile {
    pub(crate) fn new(to: Option<PathBuf>) -> OutputFile {
        let is_device = to.as_ref().is_some_and(|to| to.metadata().is_ok_and(|file| !file.is_file()));
        // The file behind a link is replaced, not the link.
        let to = to.map(|to| if is_device { to } else { to.canonicalize().unwrap_or(to) });
        OutputFile { to, is_device, root_access: RootAccess::default(), unfinished: None, trouble: None }
    }

    pub(crate) fn write(&mut self, text: &str) {
        let Some(beside) = self.beside() else {
            let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
            self.trouble = self.trouble.take().or(ignoring_closed_pipe(written).err());
            return;
        };
        let is_device = self.is_device;
        let open = || {
            if is_device {
                return File::options().write(true).open(&beside).map(BufWriter::new);
            }
            _ = std::fs::remove_file(&beside);
            File::options().write(true).create_new(true).mode(0o600).open(&beside).map(BufWriter::new)
        };
        let opened = match self.unfinished.take() {
            Some(file) => Ok(file),
            None => self.root_access.as_root(open),
        };
        let written = opened.and_then(|file| self.unfinished.insert(file).write_all(text.as_bytes()));
        self.trouble = self.trouble.take().or(written.err());
    }

    /// The file that is written: a device itself, or a file that gets its name in the end.
    fn beside(&self) -> Option<PathBuf> {
        let to = self.to.as_ref()?;
        if self.is_device {
            return Some(to.clone());
        }
        Some(to.with_file_name(format!(".{}.unfinished", to.file_name().unwrap_or_default().to_string_lossy())))
    }

    /// Gives the file its name once the command is done.
    pub(crate) fn finish(mut self, output: Output) -> Result<Output, CommandError> {
        let (Some(to), Some(beside)) = (self.to.clone(), self.beside()) else {
            return match self.trouble.take() {
                Some(e) if output.code == 0 => Err(failed(format!("the result cannot be written: {e}"))),
                _ => Ok(output),
            };
        };
        if let (None, Some(e)) = (&self.unfinished, &self.trouble) {
            return Err(failed(format!("cannot write {}: {e}", to.display())));
        }
        let Some(file) = self.unfinished.take() else { return Ok(output) };
        let written = match self.trouble.take() {
            Some(trouble) => Err(trouble),
            None => file.into_inner().map_err(io::IntoInnerError::into_error),
        };
        let done = match written {
            Ok(_) if self.is_device => return Ok(output),
            Ok(_) if output.code != 0 => Ok(()),
            Ok(file) => file.sync_all().and_then(|()| self.root_access.as_root(|| std::fs::rename(&beside, &to))),
            Err(e) => Err(e),
        };
        if !self.is_device && (done.is_err() || output.code != 0) {
            _ = self.root_access.as_root(|| std::fs::remove_file(beside));
        }
        match done {
            Err(e) if output.code == 0 => Err(failed(format!("cannot write {}: {e}", to.display()))),
            _ => Ok(output),
        }
    }
}

/// What a command that failed has written does not stay: it is people's data.
impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.unfinished.take().is_some()
            && let Some(beside) = self.beside().filter(|_| !self.is_device)
        {
            _ = self.root_access.as_root(|| std::fs::remove_file(beside));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_without_an_end_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = OutputFile::new(Some(dir.path().join("members.csv")));
        file.write("jane");
        let files = || std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(files(), 1);
        drop(file);
        assert_eq!(files(), 0);
    }
}
