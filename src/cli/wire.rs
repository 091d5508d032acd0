//! The exchange between a running command and the terminal that it was typed at: progress, a file in, a file out. A
//! running server may carry the command out, perhaps as another user in another directory.

use super::owner::WayBack;
use super::{Outcome, Trouble, broken};
use crate::ops::backup::Progress;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// On the side of the site.
pub(super) struct Wire<'w> {
    pub progress: &'w mut Progress<'w>,
    /// The file that the command reads, and its bytes.
    pub attached: Option<(&'w mut dyn Read, u64)>,
    /// Takes the next part of what the command makes. An error: nobody listens any more.
    pub part: &'w mut dyn FnMut(&str) -> io::Result<()>,
}

/// On the side of the shell: what a command makes, to standard output, or to a file that is there whole or not at all.
pub(crate) struct Sheet {
    to: Option<PathBuf>,
    /// The file is that of whoever typed the command.
    pub way_back: WayBack,
    unfinished: Option<BufWriter<File>>,
    trouble: Option<io::Error>,
}

impl Sheet {
    pub(crate) fn new(to: Option<PathBuf>) -> Sheet {
        Sheet { to, way_back: WayBack::default(), unfinished: None, trouble: None }
    }

    pub(crate) fn write(&mut self, text: &str) {
        let Some(beside) = self.beside() else {
            // A reader that went away (a pipe into `head`) is not our trouble.
            _ = io::stdout().write_all(text.as_bytes());
            return;
        };
        let open = || {
            _ = std::fs::remove_file(&beside);
            File::options().write(true).create_new(true).mode(0o600).open(&beside).map(BufWriter::new)
        };
        let written = match &mut self.unfinished {
            Some(file) => file.write_all(text.as_bytes()),
            None => self.way_back.as_root(open).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                self.unfinished = Some(file);
                Ok(())
            }),
        };
        self.trouble = self.trouble.take().or(written.err());
    }

    fn beside(&self) -> Option<PathBuf> {
        let to = self.to.as_ref()?;
        Some(to.with_file_name(format!(".{}.unfinished", to.file_name().unwrap_or_default().to_string_lossy())))
    }

    /// The file gets its name once the command was done.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Result<Outcome, Trouble> {
        let (Some(to), Some(beside)) = (self.to.clone(), self.beside()) else { return Ok(outcome) };
        if let (None, Some(e)) = (&self.unfinished, &self.trouble) {
            return Err(broken(format!("cannot write {}: {e}", to.display())));
        }
        let Some(file) = self.unfinished.take() else { return Ok(outcome) };
        if outcome.code != 0 {
            _ = self.way_back.as_root(|| std::fs::remove_file(beside));
            return Ok(outcome);
        }
        let done = match self.trouble.take() {
            Some(trouble) => Err(trouble),
            None => file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all()),
        };
        match done.and_then(|()| self.way_back.as_root(|| std::fs::rename(&beside, &to))) {
            Ok(()) => Ok(outcome),
            Err(e) => {
                _ = self.way_back.as_root(|| std::fs::remove_file(beside));
                Err(broken(format!("cannot write {}: {e}", to.display())))
            }
        }
    }
}
