//! What is written there: a file that is known whole before it goes, or one that goes in parts while it is written.

use super::xml::Answer;
use super::{Ask, Payload, Store, Tries, Trouble};
use crate::keys::hex;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

/// More than that goes into a file.
const HELD_BYTES_MAX: usize = 1024 * 1024;
const SCRATCH: &str = ".outgoing";
/// No store takes smaller parts, but for the last, nor more than ten thousand.
const PART_BYTES_MIN: u64 = 5 * 1024 * 1024;
const PARTS_MAX: u64 = 9_000;
const JOINED: &str = "CompleteMultipartUploadResult";

/// A file before it goes: in memory, or, where it is large, in a file without a name.
pub(crate) struct Spool {
    scratch: PathBuf,
    held: Vec<u8>,
    file: Option<File>,
    bytes: u64,
    digest: Sha256,
}

impl Spool {
    /// With all that `write` writes.
    pub(super) fn fill(store: &Store, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<Spool> {
        let scratch = store.scratch.join(SCRATCH);
        let mut spool = Spool { scratch, held: Vec::new(), file: None, bytes: 0, digest: Sha256::new() };
        write(&mut spool)?;
        Ok(spool)
    }

    pub(super) fn payload(&self) -> Payload<'_> {
        let open = || -> io::Result<Box<dyn Read>> {
            match &self.file {
                Some(file) => Ok(Box::new(Spooled { file, at: 0 })),
                None => Ok(Box::new(&self.held[..])),
            }
        };
        Payload { bytes: self.bytes, sha256: hex(&self.digest.clone().finalize()), open: Box::new(open) }
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && self.held.len() + bytes.len() > HELD_BYTES_MAX {
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&self.scratch)?;
            std::fs::remove_file(&self.scratch)?;
            (&file).write_all(&self.held)?;
            (self.held, self.file) = (Vec::new(), Some(file));
        }
        match &mut self.file {
            Some(file) => file.write_all(bytes)?,
            None => self.held.extend_from_slice(bytes),
        }
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Spooled<'f> {
    file: &'f File,
    at: u64,
}

impl Read for Spooled<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(to, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// A large file on its way, in parts. One that is not finished is taken back.
pub(super) struct Upload<'s> {
    store: &'s Store,
    key: &'s str,
    part: Vec<u8>,
    part_bytes: usize,
    id: Option<String>,
    /// The parts' tags, in order.
    tags: Vec<String>,
    bytes: u64,
    is_finished: bool,
}

impl<'s> Upload<'s> {
    /// `about`: bytes.
    pub(super) fn begin(store: &'s Store, key: &'s str, about: u64) -> Upload<'s> {
        let part_bytes = PART_BYTES_MIN.max(about.div_ceil(PARTS_MAX)) as usize;
        let (part, tags) = (Vec::with_capacity(part_bytes), Vec::new());
        Upload { store, key, part, part_bytes, id: None, tags, bytes: 0, is_finished: false }
    }

    fn send_part(&mut self) -> Result<(), Trouble> {
        let id = match &self.id {
            Some(id) => id.clone(),
            None => {
                let ask = Ask { method: "POST", key: self.key, query: &[("uploads", "")], headers: &[] };
                let (_, text) = self.store.ask_whole(&ask, &Payload::of(b""), Tries::Many)?;
                let id = Answer::parse(&text).and_then(|answer| answer.text("UploadId").map(str::to_owned));
                self.id.insert(id.ok_or_else(|| odd("begins no upload"))?).clone()
            }
        };
        let number = (self.tags.len() + 1).to_string();
        let query = [("partNumber", number.as_str()), ("uploadId", id.as_str())];
        let ask = Ask { method: "PUT", key: self.key, query: &query, headers: &[] };
        let (headers, _) = self.store.ask_whole(&ask, &Payload::of(&self.part), Tries::Many)?;
        let tag = headers.get("etag").and_then(|tag| tag.to_str().ok()).ok_or_else(|| odd("names no part"))?;
        self.tags.push(tag.to_owned());
        self.part.clear();
        Ok(())
    }

    /// The file is there, whole, from now on. Its size in bytes. [`Trouble::Exists`]: another one is.
    pub(super) fn finish(mut self) -> Result<u64, Trouble> {
        if self.id.is_none() {
            self.is_finished = true;
            self.store.put_once(self.key, &Payload::of(&self.part))?;
            return Ok(self.bytes);
        }
        if !self.part.is_empty() {
            self.send_part()?;
        }
        let id = self.id.clone().unwrap_or_default();
        let parts = self.tags.iter().zip(1..).map(|(tag, number)| {
            let tag = quick_xml::escape::escape(tag.as_str());
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
        });
        let text: String = parts.collect();
        let text = format!("<CompleteMultipartUpload>{text}</CompleteMultipartUpload>");
        let query = [("uploadId", id.as_str())];
        let once = self.store.once_header();
        let ask = Ask { method: "POST", key: self.key, query: &query, headers: once };
        match self.store.ask_whole(&ask, &Payload::of(text.as_bytes()), Tries::Many) {
            // A success may turn out to be none while the store joins the parts.
            Ok((_, text)) if Answer::parse(&text).is_some_and(|answer| answer.root == JOINED) => {}
            Ok(_) => return Err(odd("did not join the parts of an upload")),
            // The answer to an earlier try was lost.
            Err(Trouble::Missing) if self.store.bytes_of(self.key)? == Some(self.bytes) => {}
            Err(trouble) => return Err(trouble),
        }
        self.is_finished = true;
        Ok(self.bytes)
    }
}

fn odd(what: &str) -> Trouble {
    Trouble::Later(format!("the store {what}"))
}

impl Write for Upload<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.part.len() == self.part_bytes {
            self.send_part().map_err(|trouble| trouble.into_io(&self.key))?;
        }
        let taken = bytes.len().min(self.part_bytes - self.part.len());
        self.part.extend_from_slice(&bytes[..taken]);
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.as_deref().filter(|_| !self.is_finished) {
            // Parts that stay are paid for: what cannot be taken back now goes with the next base.
            let ask = Ask { method: "DELETE", key: self.key, query: &[("uploadId", id)], headers: &[] };
            _ = self.store.ask(&ask, &Payload::of(b""), Tries::Few);
        }
    }
}
