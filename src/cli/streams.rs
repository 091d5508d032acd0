//! The streams between a command and the terminal where it was typed: progress, an input file, output. A running
//! server may carry the command out, perhaps as another user in another directory.

use super::output::ignoring_closed_pipe;
use super::owner::RootAccess;
use super::{CommandError, Output, failed};
use crate::ops::backup::Progress;
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

/// The output of a command, on the side of the shell: to standard output, or to a file that is written whole or not at all.
pub(crate) struct OutputFile {
    to: Option<PathBuf>,
    /// The way back to the rights of root, by which the file is created as the user who typed the command.
    pub root_access: RootAccess,
    unfinished: Option<BufWriter<File>>,
    trouble: Option<io::Error>,
}

impl OutputFile {
    pub(crate) fn new(to: Option<PathBuf>) -> OutputFile {
        OutputFile { to, root_access: RootAccess::default(), unfinished: None, trouble: None }
    }

    pub(crate) fn write(&mut self, text: &str) {
        let Some(beside) = self.beside() else {
            let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
            self.trouble = self.trouble.take().or(ignoring_closed_pipe(written).err());
            return;
        };
        let open = || {
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

    fn beside(&self) -> Option<PathBuf> {
        let to = self.to.as_ref()?;
        Some(to.with_file_name(format!(".{}.unfinished", to.file_name().unwrap_or_default().to_string_lossy())))
    }

    /// Gives the file its name once the command is done.
    pub(crate) fn finish(mut self, output: Output) -> Result<Output, CommandError> {
        let (Some(to), Some(beside)) = (self.to.clone(), self.beside()) else {
            return match self.trouble {
                Some(e) if output.code == 0 => Err(failed(format!("the result cannot be written: {e}"))),
                _ => Ok(output),
            };
        };
        if let (None, Some(e)) = (&self.unfinished, &self.trouble) {
            return Err(failed(format!("cannot write {}: {e}", to.display())));
        }
        let Some(file) = self.unfinished.take() else { return Ok(output) };
        if output.code != 0 {
            _ = self.root_access.as_root(|| std::fs::remove_file(beside));
            return Ok(output);
        }
        let done = match self.trouble.take() {
            Some(trouble) => Err(trouble),
            None => file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all()),
        };
        match done.and_then(|()| self.root_access.as_root(|| std::fs::rename(&beside, &to))) {
            Ok(()) => Ok(output),
            Err(e) => {
                _ = self.root_access.as_root(|| std::fs::remove_file(beside));
                Err(failed(format!("cannot write {}: {e}", to.display())))
            }
        }
    }
}
