//! A folder of a bucket: the files whose names have one prefix.

use super::upload::{Spool, Upload};
use super::xml::Answer;
use super::{Payload, S3Client, S3Request, Tries, Trouble};
use crate::keys::{hex, random};
use crate::ops::outside::object::Object;
use http::HeaderMap;
use sha2::{Digest, Sha256};
use std::fmt::{self, Debug, Display, Formatter};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use ureq::BodyReader;

/// The header that asks the service to refuse a name that is taken.
const ONCE: &[(&str, &str)] = &[("if-none-match", "*")];
/// How often a download is resumed after its connection broke.
const RESUMES_MAX: u32 = 5;
/// The longest name below a folder that is of a site. Longer ones are passed over.
const NAME_LENGTH_MAX: usize = 128;
/// Pages of a list, at most: a million names.
const PAGES_MAX: usize = 1_000;

/// Shown as `s3://BUCKET/FOLDER`.
#[derive(Clone)]
pub(crate) struct Folder {
    pub(super) client: Arc<S3Client>,
    /// The prefix without the slash at its end; empty: the whole bucket.
    key: String,
}

/// The names in a folder; those of folders only where they are listed apart.
#[derive(Default)]
pub(super) struct Listed {
    pub files: Vec<String>,
    pub folders: Vec<String>,
}

impl Folder {
    pub(crate) fn new(client: Arc<S3Client>) -> Folder {
        let key = client.settings.prefix.clone();
        Folder { client, key }
    }

    pub(crate) fn within(&self, name: &str) -> Folder {
        Folder { client: self.client.clone(), key: self.key_of(name) }
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> String {
        self.key.rsplit('/').next().unwrap_or_default().to_owned()
    }

    pub(super) fn key_of(&self, name: &str) -> String {
        if self.key.is_empty() { name.to_owned() } else { format!("{}/{name}", self.key) }
    }

    pub(super) fn key(&self, object: Object) -> String {
        self.key_of(&object.to_string())
    }

    fn io_error<T>(&self, object: Object, result: Result<T, Trouble>) -> io::Result<T> {
        result.map_err(|trouble| trouble.into_io(&self.within(&object.to_string())))
    }

    /// The numbered files in it.
    pub(crate) fn list(&self) -> io::Result<Vec<Object>> {
        let listed = self.client.list(&self.key_of(""), true, &mut || ());
        let names = listed.map_err(|trouble| trouble.into_io(self))?.files;
        Ok(names.iter().filter_map(|name| Object::parse(name)).collect())
    }

    pub(crate) fn bytes_of(&self, object: Object) -> io::Result<Option<u64>> {
        self.io_error(object, self.client.bytes_of(&self.key(object)))
    }

    pub(crate) fn open(&self, object: Object) -> io::Result<Box<dyn Read>> {
        let opened = Download::open(&self.client, self.key(object));
        Ok(Box::new(self.io_error(object, opened)?))
    }

    /// Puts a file that `write` writes; a later try takes its bytes from `written`. Returns its size.
    /// [`io::ErrorKind::AlreadyExists`]: a different file has that name.
    pub(crate) fn put(
        &self,
        object: Object,
        written: &mut Option<Spool>,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let spool = match written {
            Some(spool) => spool,
            None => written.insert(Spool::fill(&self.client, write)?),
        };
        let payload = spool.payload();
        self.io_error(object, self.client.put_once(&self.key(object), &payload))?;
        Ok(payload.bytes)
    }

    /// Uploads a large file of about this size while `write` writes it.
    pub(super) fn upload<T>(
        &self,
        object: Object,
        about: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        let key = self.key(object);
        let mut upload = Upload::begin(&self.client, &key, about);
        let wrote = write(&mut upload)?;
        self.io_error(object, upload.finish())?;
        Ok(wrote)
    }

    /// Whether the folder takes files. Notes whether the service keeps the first of two files of one name.
    pub(crate) fn probe(&self) -> Result<(), String> {
        let (client, key) = (&self.client, self.key(Object::Probe));
        let put = || {
            let bytes = random::<32>();
            let request = S3Request { method: "PUT", key: &key, query: &[], headers: client.once_header() };
            match client.send_whole(&request, &Payload::of(&bytes), Tries::Few) {
                Ok(_) => Ok(true),
                Err(Trouble::Exists) => Ok(false),
                Err(trouble) => Err(trouble),
            }
        };
        let probed = match put() {
            Err(Trouble::Unknown(_)) => {
                client.knows_header.store(false, Ordering::Relaxed);
                put()
            }
            probed => probed,
        };
        let replaced = probed.and_then(|first| Ok(first && put()?)).map_err(|trouble| {
            let cause = trouble.into_io(&key);
            format!("cannot write to {self}: {cause}")
        })?;
        client.keeps_first.store(!replaced, Ordering::Relaxed);
        client.delete(&key).map_err(|trouble| format!("cannot delete in {self}: {}", trouble.into_io(self)))
    }

    pub(crate) fn keeps_first(&self) -> bool {
        self.client.keeps_first()
    }
}

impl Display for Folder {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let slash = if self.key.is_empty() { "" } else { "/" };
        write!(f, "s3://{}{slash}{}", self.client.settings.bucket, self.key)
    }
}

impl Debug for Folder {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl S3Client {
    /// The header that asks the service to refuse a name that is taken, if it is supported.
    pub(super) fn once_header(&self) -> &'static [(&'static str, &'static str)] {
        if self.knows_header.load(Ordering::Relaxed) { ONCE } else { &[] }
    }

    /// Puts a file unless its name is taken. The same file may be there already, after a lost response.
    /// [`Trouble::Exists`]: a different file is there.
    pub(super) fn put_once(&self, key: &str, payload: &Payload) -> Result<(), Trouble> {
        if !self.keeps_first() && self.bytes_of(key)?.is_some() {
            return self.compare(key, payload, true);
        }
        let request = S3Request { method: "PUT", key, query: &[], headers: self.once_header() };
        match self.send_whole(&request, payload, Tries::Few) {
            Ok(_) => Ok(()),
            Err(Trouble::Exists) => self.compare(key, payload, true),
            Err(Trouble::Unknown(_)) if self.knows_header.swap(false, Ordering::Relaxed) => self.put_once(key, payload),
            Err(trouble) => Err(trouble),
        }
    }

    /// Compares the file there with the payload. `fills`: an empty file may be overwritten.
    fn compare(&self, key: &str, payload: &Payload, fills: bool) -> Result<(), Trouble> {
        let request = S3Request { method: "GET", key, query: &[], headers: &[] };
        let (head, body) = self.send(&request, &Payload::of(b""), Tries::Few)?.into_parts();
        let (mut file, mut digest, mut piece, mut bytes) = (body.into_reader(), Sha256::new(), vec![0; 64 * 1024], 0);
        loop {
            match file.read(&mut piece).map_err(|e| Trouble::Later(e.to_string()))? {
                0 => break,
                // Another file, of whatever size.
                _ if bytes > payload.bytes => break,
                read => {
                    digest.update(&piece[..read]);
                    bytes += read as u64;
                }
            }
        }
        match hex(&digest.finalize()) == payload.sha256 {
            true => Ok(()),
            false if fills && bytes == 0 => self.fill(key, &tag(&head.headers), payload),
            false => Err(Trouble::Exists),
        }
    }

    /// Overwrites an empty file, which has this tag. No site writes one, but a service may keep it of an upload whose connection
    /// broke before the first byte, as SeaweedFS 4 does.
    fn fill(&self, key: &str, tag: &str, payload: &Payload) -> Result<(), Trouble> {
        let request = S3Request { method: "PUT", key, query: &[], headers: &[("if-match", tag)] };
        match self.send_whole(&request, payload, Tries::Few) {
            Ok(_) => Ok(()),
            // Another machine was faster, or the response to an earlier try was lost.
            Err(Trouble::Exists) => self.compare(key, payload, false),
            Err(Trouble::Unknown(_)) => Err(Trouble::Exists),
            Err(trouble) => Err(trouble),
        }
    }

    pub(super) fn bytes_of(&self, key: &str) -> Result<Option<u64>, Trouble> {
        let request = S3Request { method: "HEAD", key, query: &[], headers: &[] };
        match self.send_whole(&request, &Payload::of(b""), Tries::Few) {
            Ok((headers, _)) => Ok(Some(number(&headers, "content-length").unwrap_or_default())),
            Err(Trouble::Missing) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// The text of a file of limited size, and its tag. `None`: it is not there.
    pub(super) fn text(&self, key: &str, bytes_max: u64) -> Result<Option<(String, String)>, Trouble> {
        let request = S3Request { method: "GET", key, query: &[], headers: &[] };
        match self.send_limited(&request, &Payload::of(b""), Tries::Few, bytes_max) {
            Ok((headers, text)) => Ok(Some((text, tag(&headers)))),
            Err(Trouble::Missing) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Deletes a file, also if it is gone already.
    pub(super) fn delete(&self, key: &str) -> Result<(), Trouble> {
        let request = S3Request { method: "DELETE", key, query: &[], headers: &[] };
        match self.send_whole(&request, &Payload::of(b""), Tries::Few) {
            Ok(_) | Err(Trouble::Missing) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    /// Lists all names with a prefix, without it. `page_read` is called after each page.
    pub(super) fn list(&self, prefix: &str, by_folder: bool, page_read: &mut dyn FnMut()) -> Result<Listed, Trouble> {
        let (mut listed, mut from) = (Listed::default(), String::new());
        for _ in 0..PAGES_MAX {
            let mut query = vec![("list-type", "2"), ("prefix", prefix)];
            query.extend(by_folder.then_some(("delimiter", "/")));
            query.extend((!from.is_empty()).then_some(("continuation-token", from.as_str())));
            let request = S3Request { method: "GET", key: "", query: &query, headers: &[] };
            let (_, text) = self.send_whole(&request, &Payload::of(b""), Tries::Few)?;
            let odd = || Trouble::Later(format!("{} answers with no list", self.settings.endpoint));
            let answer = Answer::parse(&text).filter(|answer| answer.root == "ListBucketResult").ok_or_else(odd)?;
            let rest = |name: &str| {
                let rest = name.strip_prefix(prefix)?.trim_end_matches('/');
                (rest.len() <= NAME_LENGTH_MAX).then(|| rest.to_owned())
            };
            listed.files.extend(answer.texts("Contents/Key").filter_map(rest).filter(|name| !name.is_empty()));
            listed.folders.extend(answer.texts("CommonPrefixes/Prefix").filter_map(rest));
            page_read();
            match answer.text("NextContinuationToken").filter(|_| answer.text("IsTruncated") == Some("true")) {
                Some(next) => from = next.to_owned(),
                None => return Ok(listed),
            }
        }
        Err(Trouble::Refused(format!("{} has too many names", self.settings.endpoint)))
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

fn tag(headers: &HeaderMap) -> String {
    headers.get("etag").and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned()
}

/// A download, which is resumed when its connection breaks.
struct Download {
    client: Arc<S3Client>,
    key: String,
    tag: String,
    at: u64,
    bytes: u64,
    body: BodyReader<'static>,
    resumes: u32,
}

impl Download {
    fn open(client: &Arc<S3Client>, key: String) -> Result<Download, Trouble> {
        let request = S3Request { method: "GET", key: &key, query: &[], headers: &[] };
        let (head, body) = client.send(&request, &Payload::of(b""), Tries::Many)?.into_parts();
        let (tag, bytes) = (tag(&head.headers), number(&head.headers, "content-length").unwrap_or_default());
        Ok(Download { client: client.clone(), key, tag, at: 0, bytes, body: body.into_reader(), resumes: 0 })
    }

    fn resume(&mut self) -> Result<(), Trouble> {
        let range = format!("bytes={}-", self.at);
        let headers = [("range", range.as_str()), ("if-match", self.tag.as_str())];
        let headers = if self.tag.is_empty() { &headers[..1] } else { &headers };
        let request = S3Request { method: "GET", key: &self.key, query: &[], headers };
        let (head, body) = self.client.send(&request, &Payload::of(b""), Tries::Many)?.into_parts();
        if head.status != http::StatusCode::PARTIAL_CONTENT {
            return Err(Trouble::Refused("the store does not send the rest of a file".to_owned()));
        }
        self.body = body.into_reader();
        Ok(())
    }
}

impl Read for Download {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.body.read(to) {
                Ok(read) if read > 0 || to.is_empty() || self.at >= self.bytes => {
                    self.at += read as u64;
                    return Ok(read);
                }
                Err(e) if self.resumes == RESUMES_MAX => return Err(e),
                Ok(_) if self.resumes == RESUMES_MAX => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
            self.resumes += 1;
            self.resume().map_err(|trouble| trouble.into_io(&self.key))?;
        }
    }
}

#[cfg(test)]
mod tests;
