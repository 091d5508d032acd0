//! Rows that an import will write, staged in an unnamed file, which the operating system deletes when the process ends.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::marker::PhantomData;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

pub(super) struct Stage {
    file: BufWriter<File>,
}

pub(super) struct Staged<T> {
    file: BufReader<File>,
    line: String,
    of: PhantomData<T>,
}

impl Stage {
    /// Creates the file in `dir`, on the same disk as the database.
    pub(super) fn new(dir: &Path) -> io::Result<Stage> {
        static MAKING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let path = dir.join(".import");
        _ = std::fs::remove_file(&path);
        let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(Stage { file: BufWriter::new(file) })
    }

    /// Appends a row as a line of JSON.
    pub(super) fn append(&mut self, row: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, row)?;
        self.file.write_all(b"\n")
    }

    /// The staged rows from the beginning.
    pub(super) fn rows<T: DeserializeOwned>(self) -> io::Result<Staged<T>> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Staged { file: BufReader::new(file), line: String::new(), of: PhantomData })
    }
}

impl<T: DeserializeOwned> Staged<T> {
    pub(super) fn next(&mut self) -> io::Result<Option<T>> {
        self.line.clear();
        if self.file.read_line(&mut self.line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&self.line)?))
    }
}
