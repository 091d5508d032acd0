//! A folder of a bucket, and the files in it: the names that begin alike.

use super::upload::{Spool, Upload};
use super::xml::Answer;
use super::{Ask, Payload, Store, Tries, Trouble};
use crate::keys::{hex, random};
use http::HeaderMap;
use sha2::{Digest, Sha256};
use std::fmt::{self, Debug, Display, Formatter};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use ureq::BodyReader;

const PROBE: &str = ".probe";
const ONCE: &[(&str, &str)] = &[("if-none-match", "*")];
/// How often a file that is read is taken up again where its connection broke.
const BREAKS_MAX: u32 = 5;
/// A list of a million names, which no site has.
const PAGES_MAX: usize = 1_000;

/// Shown as `s3://BUCKET/FOLDER`.
#[derive(Clone)]
pub(crate) struct Folder {
    pub(super) store: Arc<Store>,
    /// Within the bucket, without a slash at its end; empty: the bucket itself.
    key: String,
}

/// The names that begin alike, up to the next slash where folders are told apart.
#[derive(Default)]
pub(super) struct Listed {
    pub files: Vec<String>,
    pub folders: Vec<String>,
}

impl Folder {
    pub(crate) fn new(store: Arc<Store>) -> Folder {
        let key = store.settings.prefix.clone();
        Folder { store, key }
    }

    pub(crate) fn within(&self, name: &str) -> Folder {
        Folder { store: self.store.clone(), key: self.key_of(name) }
    }

    /// The last part of the name.
    pub(crate) fn name(&self) -> String {
        self.key.rsplit('/').next().unwrap_or_default().to_owned()
    }

    pub(super) fn key_of(&self, name: &str) -> String {
        if self.key.is_empty() { name.to_owned() } else { format!("{}/{name}", self.key) }
    }

    fn said<T>(&self, name: &str, asked: Result<T, Trouble>) -> io::Result<T> {
        asked.map_err(|trouble| trouble.into_io(&self.within(name)))
    }

    /// The names of the files in it.
    pub(crate) fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.said("", self.store.list(&self.key_of(""), true, &mut || ()))?.files)
    }

    pub(crate) fn bytes_of(&self, name: &str) -> io::Result<Option<u64>> {
        self.said(name, self.store.bytes_of(&self.key_of(name)))
    }

    pub(crate) fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        let opened = Download::open(&self.store, self.key_of(name));
        Ok(Box::new(self.said(name, opened)?))
    }

    /// Puts a file there that `write` writes, unless `written` has it from an earlier try: the store compares the bytes.
    /// How many there are. [`io::ErrorKind::AlreadyExists`]: another file has that name.
    pub(crate) fn put(
        &self,
        name: &str,
        written: &mut Option<Spool>,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let spool = match written {
            Some(spool) => spool,
            None => written.insert(Spool::fill(&self.store, write)?),
        };
        let payload = spool.payload();
        self.said(name, self.store.put_once(&self.key_of(name), &payload))?;
        Ok(payload.bytes)
    }

    /// A large file, of about so many bytes, that goes while `write` writes it.
    pub(super) fn upload<T>(
        &self,
        name: &str,
        about: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        let key = self.key_of(name);
        let mut upload = Upload::begin(&self.store, &key, about);
        let wrote = write(&mut upload)?;
        self.said(name, upload.finish())?;
        Ok(wrote)
    }

    /// Whether it takes files, and whether the store keeps the first of two.
    pub(crate) fn probe(&self) -> Result<(), String> {
        let (store, key) = (&self.store, self.key_of(PROBE));
        let put = || {
            let bytes = random::<32>();
            let ask = Ask { method: "PUT", key: &key, query: &[], headers: store.once_header() };
            match store.ask_whole(&ask, &Payload::of(&bytes), Tries::Few) {
                Ok(_) => Ok(true),
                Err(Trouble::Exists) => Ok(false),
                Err(trouble) => Err(trouble),
            }
        };
        let probed = match put() {
            Err(Trouble::Unknown(_)) => {
                store.knows_header.store(false, Ordering::Relaxed);
                put()
            }
            probed => probed,
        };
        let replaced = probed.and_then(|first| Ok(first && put()?)).map_err(|trouble| {
            let cause = trouble.into_io(&self.within(PROBE));
            format!("cannot write to {self}: {cause}")
        })?;
        store.keeps_first.store(!replaced, Ordering::Relaxed);
        store.delete(&key).map_err(|trouble| format!("cannot delete in {self}: {}", trouble.into_io(self)))
    }

    pub(crate) fn keeps_first(&self) -> bool {
        self.store.keeps_first()
    }
}

impl Display for Folder {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let slash = if self.key.is_empty() { "" } else { "/" };
        write!(f, "s3://{}{slash}{}", self.store.settings.bucket, self.key)
    }
}

impl Debug for Folder {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Store {
    /// What asks the store to refuse a file whose name is taken.
    pub(super) fn once_header(&self) -> &'static [(&'static str, &'static str)] {
        if self.knows_header.load(Ordering::Relaxed) { ONCE } else { &[] }
    }

    /// Done also where the same file is there, as after a lost answer. [`Trouble::Exists`]: it is another.
    pub(super) fn put_once(&self, key: &str, payload: &Payload) -> Result<(), Trouble> {
        if !self.keeps_first() && self.bytes_of(key)?.is_some() {
            return self.compare(key, payload, true);
        }
        let ask = Ask { method: "PUT", key, query: &[], headers: self.once_header() };
        match self.ask_whole(&ask, payload, Tries::Few) {
            Ok(_) => Ok(()),
            Err(Trouble::Exists) => self.compare(key, payload, true),
            Err(Trouble::Unknown(_)) if self.knows_header.swap(false, Ordering::Relaxed) => self.put_once(key, payload),
            Err(trouble) => Err(trouble),
        }
    }

    /// Whether the file that is there is the same. `fills`: one with nothing in it is nobody's.
    fn compare(&self, key: &str, payload: &Payload, fills: bool) -> Result<(), Trouble> {
        let ask = Ask { method: "GET", key, query: &[], headers: &[] };
        let (head, body) = self.ask(&ask, &Payload::of(b""), Tries::Few)?.into_parts();
        let (mut file, mut digest, mut piece, mut bytes) = (body.into_reader(), Sha256::new(), vec![0; 64 * 1024], 0);
        loop {
            match file.read(&mut piece).map_err(|e| Trouble::Later(e.to_string()))? {
                0 => break,
                read => {
                    digest.update(&piece[..read]);
                    bytes += read;
                }
            }
        }
        match hex(&digest.finalize()) == payload.sha256 {
            true => Ok(()),
            false if fills && bytes == 0 => self.fill(key, &tag(&head.headers), payload),
            false => Err(Trouble::Exists),
        }
    }

    /// Puts a file where one with nothing in it is, which has this tag: no site writes such a one. A store may keep it of a file
    /// whose connection broke before its first byte, as SeaweedFS 4 does.
    fn fill(&self, key: &str, tag: &str, payload: &Payload) -> Result<(), Trouble> {
        let ask = Ask { method: "PUT", key, query: &[], headers: &[("if-match", tag)] };
        match self.ask_whole(&ask, payload, Tries::Few) {
            Ok(_) => Ok(()),
            // Somebody was quicker, or the answer to an earlier try was lost.
            Err(Trouble::Exists) => self.compare(key, payload, false),
            Err(Trouble::Unknown(_)) => Err(Trouble::Exists),
            Err(trouble) => Err(trouble),
        }
    }

    pub(super) fn bytes_of(&self, key: &str) -> Result<Option<u64>, Trouble> {
        let ask = Ask { method: "HEAD", key, query: &[], headers: &[] };
        match self.ask_whole(&ask, &Payload::of(b""), Tries::Few) {
            Ok((headers, _)) => Ok(Some(number(&headers, "content-length").unwrap_or_default())),
            Err(Trouble::Missing) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Its text and tag; `None`: it is not there.
    pub(super) fn text(&self, key: &str) -> Result<Option<(String, String)>, Trouble> {
        let ask = Ask { method: "GET", key, query: &[], headers: &[] };
        match self.ask_whole(&ask, &Payload::of(b""), Tries::Few) {
            Ok((headers, text)) => Ok(Some((text, tag(&headers)))),
            Err(Trouble::Missing) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// What is not there is gone as well.
    pub(super) fn delete(&self, key: &str) -> Result<(), Trouble> {
        let ask = Ask { method: "DELETE", key, query: &[], headers: &[] };
        match self.ask_whole(&ask, &Payload::of(b""), Tries::Few) {
            Ok(_) | Err(Trouble::Missing) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    /// All names that begin so, without what they begin with; `turned` is told each page.
    pub(super) fn list(&self, prefix: &str, by_folder: bool, turned: &mut dyn FnMut()) -> Result<Listed, Trouble> {
        let (mut listed, mut from) = (Listed::default(), String::new());
        for _ in 0..PAGES_MAX {
            let mut query = vec![("list-type", "2"), ("prefix", prefix)];
            query.extend(by_folder.then_some(("delimiter", "/")));
            query.extend((!from.is_empty()).then_some(("continuation-token", from.as_str())));
            let ask = Ask { method: "GET", key: "", query: &query, headers: &[] };
            let (_, text) = self.ask_whole(&ask, &Payload::of(b""), Tries::Few)?;
            let odd = || Trouble::Later(format!("{} answers with no list", self.settings.endpoint));
            let answer = Answer::parse(&text).filter(|answer| answer.root == "ListBucketResult").ok_or_else(odd)?;
            let rest = |name: &str| name.strip_prefix(prefix).map(|rest| rest.trim_end_matches('/').to_owned());
            listed.files.extend(answer.all("Contents/Key").filter_map(rest).filter(|name| !name.is_empty()));
            listed.folders.extend(answer.all("CommonPrefixes/Prefix").filter_map(rest));
            turned();
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

/// A file that is read; taken up again where its connection breaks.
struct Download {
    store: Arc<Store>,
    key: String,
    tag: String,
    at: u64,
    bytes: u64,
    body: BodyReader<'static>,
    breaks: u32,
}

impl Download {
    fn open(store: &Arc<Store>, key: String) -> Result<Download, Trouble> {
        let ask = Ask { method: "GET", key: &key, query: &[], headers: &[] };
        let (head, body) = store.ask(&ask, &Payload::of(b""), Tries::Many)?.into_parts();
        let (tag, bytes) = (tag(&head.headers), number(&head.headers, "content-length").unwrap_or_default());
        Ok(Download { store: store.clone(), key, tag, at: 0, bytes, body: body.into_reader(), breaks: 0 })
    }

    fn take_up(&mut self) -> Result<(), Trouble> {
        let range = format!("bytes={}-", self.at);
        let headers = [("range", range.as_str()), ("if-match", self.tag.as_str())];
        let headers = if self.tag.is_empty() { &headers[..1] } else { &headers };
        let ask = Ask { method: "GET", key: &self.key, query: &[], headers };
        let (head, body) = self.store.ask(&ask, &Payload::of(b""), Tries::Many)?.into_parts();
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
                Err(e) if self.breaks == BREAKS_MAX => return Err(e),
                Ok(_) if self.breaks == BREAKS_MAX => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
            self.breaks += 1;
            self.take_up().map_err(|trouble| trouble.into_io(&self.key))?;
        }
    }
}

#[cfg(test)]
mod tests;
