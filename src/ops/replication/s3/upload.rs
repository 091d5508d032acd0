//! Uploads: a file that is complete before it is sent, or one that is sent in parts while it is written.

use super::xml::Answer;
use super::{Payload, S3Client, S3Request, Tries, Trouble};
use crate::keys::hex;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

/// More bytes are held in a file.
const MEMORY_BYTES_MAX: usize = 1024 * 1024;
const SCRATCH: &str = ".outgoing";
/// S3 takes no smaller parts, except the last one, and no more than ten thousand.
const PART_BYTES_MIN: u64 = 5 * 1024 * 1024;
const PARTS_MAX: u64 = 9_000;
const JOINED: &str = "CompleteMultipartUploadResult";

/// A complete file before it is sent: in memory, or in an unnamed file where it is large.
pub(crate) struct Spool {
    scratch: PathBuf,
    held: Vec<u8>,
    file: Option<File>,
    bytes: u64,
    digest: Sha256,
}

impl Spool {
    /// A spool with everything that `write` writes.
    pub(super) fn fill(
        client: &S3Client,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Spool> {
        let scratch = client.scratch.join(SCRATCH);
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
        if self.file.is_none() && self.held.len() + bytes.len() > MEMORY_BYTES_MAX {
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

/// An upload in parts. It is aborted when it is dropped before its end.
pub(super) struct Upload<'s> {
    client: &'s S3Client,
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
    pub(super) fn begin(client: &'s S3Client, key: &'s str, about: u64) -> Upload<'s> {
        let part_bytes = PART_BYTES_MIN.max(about.div_ceil(PARTS_MAX)) as usize;
        let (part, tags) = (Vec::with_capacity(part_bytes), Vec::new());
        Upload { client, key, part, part_bytes, id: None, tags, bytes: 0, is_finished: false }
    }

    fn send_part(&mut self) -> Result<(), Trouble> {
        let id = match &self.id {
            Some(id) => id.clone(),
            None => {
                let request = S3Request { method: "POST", key: self.key, query: &[("uploads", "")], headers: &[] };
                let (_, text) = self.client.send_whole(&request, &Payload::of(b""), Tries::Many)?;
                let id = Answer::parse(&text).and_then(|answer| answer.text("UploadId").map(str::to_owned));
                self.id.insert(id.ok_or_else(|| unexpected("begins no upload"))?).clone()
            }
        };
        let number = (self.tags.len() + 1).to_string();
        let query = [("partNumber", number.as_str()), ("uploadId", id.as_str())];
        let request = S3Request { method: "PUT", key: self.key, query: &query, headers: &[] };
        let (headers, _) = self.client.send_whole(&request, &Payload::of(&self.part), Tries::Many)?;
        let tag = headers.get("etag").and_then(|tag| tag.to_str().ok()).ok_or_else(|| unexpected("names no part"))?;
        self.tags.push(tag.to_owned());
        self.part.clear();
        Ok(())
    }

    /// Completes the upload, and returns the size of the file. [`Trouble::Exists`]: the name is taken.
    pub(super) fn finish(mut self) -> Result<u64, Trouble> {
        if self.id.is_none() {
            self.is_finished = true;
            self.client.put_once(self.key, &Payload::of(&self.part))?;
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
        let once = self.client.once_header();
        let request = S3Request { method: "POST", key: self.key, query: &query, headers: once };
        match self.client.send_whole(&request, &Payload::of(text.as_bytes()), Tries::Many) {
            // A status of 200 may come with an error in the body.
            Ok((_, text)) if Answer::parse(&text).is_some_and(|answer| answer.root == JOINED) => {}
            Ok(_) => return Err(unexpected("did not join the parts of an upload")),
            // The response to an earlier try was lost.
            Err(Trouble::Missing) if self.client.bytes_of(self.key)? == Some(self.bytes) => {}
            Err(trouble) => return Err(trouble),
        }
        self.is_finished = true;
        Ok(self.bytes)
    }
}

fn unexpected(what: &str) -> Trouble {
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
            // Stored parts cost money. An upload that cannot be aborted now is aborted with the next base.
            let request = S3Request { method: "DELETE", key: self.key, query: &[("uploadId", id)], headers: &[] };
            _ = self.client.send(&request, &Payload::of(b""), Tries::Few);
        }
    }
}
