//! The signing key of a machine, and whose signatures are believed.
//!
//! What a site writes off site may be written by somebody else too, so each file there is signed (Ed25519). The private key is
//! `signing.key` in the data directory, readable by its owner alone, and in no backup: an unencrypted one can be read by whoever
//! reads the place where it lies. A standby gets the key with its base, so that both machines of a site have one. A machine that
//! is restored from off site makes a new key. The file then also lists the public keys that were the site's before: what they
//! signed is still believed.

use crate::files;
use crate::keys::{hex, random, unhex};
use crate::store::data_dir;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Formatter};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

pub(crate) const SIGNATURE_BYTES: usize = 64;
const KEY_BYTES: usize = 32;
/// Bytes of the digest in a fingerprint: nobody makes another key with the same.
const FINGERPRINT_BYTES: usize = 16;
/// Earlier keys that are kept, the newest first.
const EARLIER_MAX: usize = 64;
/// The first words of the lines of the key file.
const PRIVATE: &str = "ed25519";
const EARLIER: &str = "earlier";

/// See [`crate::ops::replication::Fault::Signatures`].
pub(crate) static BELIEVES_ALL: AtomicBool = AtomicBool::new(false);

/// What is signed: a signature of one kind is useless for another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Manifest,
    Tick,
    Tombstone,
    Epoch,
}

impl Kind {
    /// The signed bytes: the kind, and each part with its length.
    fn message(self, parts: &[&[u8]]) -> Vec<u8> {
        let mut message = format!("tunneldesk {self:?}\n").into_bytes();
        for part in parts {
            message.extend((part.len() as u64).to_be_bytes());
            message.extend(*part);
        }
        message
    }
}

/// A public key, in files as hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct PublicKey([u8; KEY_BYTES]);

impl PublicKey {
    pub(crate) fn parse(text: &str) -> Option<PublicKey> {
        Some(PublicKey(unhex(text)?.try_into().ok()?))
    }

    /// The beginning of its digest, as people compare it: `0a1b-2c3d-…`.
    pub(crate) fn fingerprint(&self) -> String {
        let digits = hex(&Sha256::digest(self.0)[..FINGERPRINT_BYTES]);
        digits.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join("-")
    }

    pub(crate) fn verifies(&self, kind: Kind, parts: &[&[u8]], signature: &[u8]) -> bool {
        let verified = UnparsedPublicKey::new(&ED25519, self.0).verify(&kind.message(parts), signature);
        verified.is_ok() || BELIEVES_ALL.load(Ordering::Relaxed)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<PublicKey, &'static str> {
        PublicKey::parse(&text).ok_or("no public key")
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> String {
        key.to_string()
    }
}

impl Display for PublicKey {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// A fingerprint as it is typed, in any case and with or without hyphens: its digits. The error says what it looks like.
pub(crate) fn parse_fingerprint(text: &str) -> Result<String, String> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    match unhex(&digits) {
        Some(bytes) if bytes.len() == FINGERPRINT_BYTES => Ok(hex(&bytes)),
        _ => Err(format!(
            "{text:?} is no fingerprint: it has {} digits, as `tunneldesk doctor` shows it",
            2 * FINGERPRINT_BYTES
        )),
    }
}

/// Whose signatures are believed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trust {
    /// These keys', the machine's own or those of the site that is restored.
    Keys(Vec<PublicKey>),
    /// Anybody's: a machine without a key of its own cannot tell one site from another.
    Anybody,
    /// What is not signed is believed too: copies of earlier versions, which a person has asked for.
    Unsigned,
}

impl Trust {
    /// The trust of the machine of a data directory. A key file that cannot be read believes nobody.
    pub(crate) fn of(data: &Path) -> Trust {
        match Signer::open(data) {
            Ok(signer) => signer.map_or(Trust::Anybody, |signer| Trust::Keys(signer.keys())),
            Err(cause) => {
                tracing::error!(cause, "nothing off site is believed");
                Trust::Keys(Vec::new())
            }
        }
    }

    /// Whether a file that this key signed is believed. `None`: nobody signed it.
    pub(crate) fn believes(&self, signed_by: Option<&PublicKey>) -> bool {
        let is_believed = match (self, signed_by) {
            (Trust::Unsigned, _) | (Trust::Anybody, Some(_)) => true,
            (Trust::Keys(keys), Some(key)) => keys.contains(key),
            (Trust::Keys(_) | Trust::Anybody, None) => false,
        };
        is_believed || BELIEVES_ALL.load(Ordering::Relaxed)
    }

    /// Whether one of the keys has signed this. Where nobody's key is known, nothing is signed by one.
    pub(crate) fn verifies(&self, kind: Kind, parts: &[&[u8]], signature: &[u8]) -> bool {
        match self {
            Trust::Keys(keys) => {
                keys.iter().any(|key| key.verifies(kind, parts, signature)) || BELIEVES_ALL.load(Ordering::Relaxed)
            }
            Trust::Anybody => BELIEVES_ALL.load(Ordering::Relaxed),
            Trust::Unsigned => true,
        }
    }
}

/// The private key of a machine, and the site's earlier public keys.
pub(crate) struct Signer {
    pair: Ed25519KeyPair,
    seed: [u8; KEY_BYTES],
    earlier: Vec<PublicKey>,
}

impl Signer {
    fn from_seed(seed: [u8; KEY_BYTES], earlier: Vec<PublicKey>) -> Signer {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("any 32 bytes are a seed");
        Signer { pair, seed, earlier }
    }

    pub(crate) fn new() -> Signer {
        Signer::from_seed(random(), Vec::new())
    }

    /// Reads the key of a data directory. `None`: it has none yet.
    pub(crate) fn open(data: &Path) -> Result<Option<Signer>, String> {
        let path = data_dir::signing_key(data);
        let text = match files::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|e| format!("cannot read {}: {e}", path.display()))?,
        };
        let signer = String::from_utf8(text).ok().and_then(|text| Signer::parse(&text));
        signer.map(Some).ok_or_else(|| {
            format!(
                "{} is damaged: move it away, and a new key is made; copies off site are then foreign",
                path.display()
            )
        })
    }

    /// The key of a data directory, which is made where it is missing.
    pub(crate) fn ensure(data: &Path) -> Result<Signer, String> {
        static MAKING: Mutex<()> = Mutex::new(());
        let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        match Signer::open(data)? {
            Some(signer) => Ok(signer),
            None => {
                let signer = Signer::new();
                signer
                    .write(data)
                    .map(|()| signer)
                    .map_err(|e| format!("cannot write {}: {e}", data_dir::signing_key(data).display()))
            }
        }
    }

    /// Reads the text of a key file.
    pub(crate) fn parse(text: &str) -> Option<Signer> {
        let mut lines = text.lines();
        let seed = unhex(lines.next()?.strip_prefix(PRIVATE)?.trim())?.try_into().ok()?;
        let earlier = lines.map(|line| PublicKey::parse(line.strip_prefix(EARLIER)?.trim()));
        Some(Signer::from_seed(seed, earlier.collect::<Option<Vec<_>>>()?))
    }

    /// The text of the key file.
    pub(crate) fn text(&self) -> String {
        let earlier: String = self.earlier.iter().map(|key| format!("{EARLIER} {key}\n")).collect();
        format!("{PRIVATE} {}\n{earlier}", hex(&self.seed))
    }

    /// Replaces the key file of a directory in one step.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let (path, next) = (data_dir::signing_key(dir), dir.join(".signing.key.next"));
        let mut options = OpenOptions::new();
        let mut file = files::open_with(options.write(true).create(true).truncate(true).mode(0o600), &next)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(next, path)?;
        files::open_dir(dir)?.sync_all()
    }

    pub(crate) fn public(&self) -> PublicKey {
        let bytes = self.pair.public_key().as_ref().try_into();
        PublicKey(bytes.expect("a public key has 32 bytes"))
    }

    /// The public keys that were the site's before, the newest first.
    pub(crate) fn earlier(&self) -> &[PublicKey] {
        &self.earlier
    }

    /// All keys whose signatures this machine believes.
    pub(crate) fn keys(&self) -> Vec<PublicKey> {
        [self.public()].into_iter().chain(self.earlier.iter().copied()).collect()
    }

    pub(crate) fn sign(&self, kind: Kind, parts: &[&[u8]]) -> [u8; SIGNATURE_BYTES] {
        let signature = self.pair.sign(&kind.message(parts));
        signature.as_ref().try_into().expect("a signature has 64 bytes")
    }

    /// The same key, with more earlier ones.
    pub(crate) fn after(mut self, keys: &[PublicKey]) -> Signer {
        let own = self.public();
        let new: Vec<PublicKey> =
            keys.iter().filter(|key| **key != own && !self.earlier.contains(key)).copied().collect();
        self.earlier.splice(0..0, new);
        self.earlier.truncate(EARLIER_MAX);
        self
    }

    /// A new key of the same site.
    pub(crate) fn successor(&self) -> Signer {
        Signer::new().after(&self.keys())
    }
}

/// Has the machine of a data directory believe what these keys signed: those of the site that it takes over. It makes a key
/// where it has none.
pub(crate) fn adopt(data: &Path, keys: &[PublicKey]) -> Result<(), String> {
    let signer = Signer::ensure(data)?;
    let known = signer.keys();
    if keys.iter().all(|key| known.contains(key)) {
        return Ok(());
    }
    let written = signer.after(keys).write(data);
    written.map_err(|e| format!("cannot write {}: {e}", data_dir::signing_key(data).display()))
}

/// Gives the machine of a data directory the key of a standby's copy, which becomes its site.
pub(crate) fn take_over(copy: &Path, data: &Path) -> Result<(), String> {
    let Some(signer) = Signer::open(copy)? else { return Ok(()) };
    let own = Signer::open(data)?.map(|own| own.keys()).unwrap_or_default();
    let written = signer.after(&own).write(data);
    written.map_err(|e| format!("cannot write {}: {e}", data_dir::signing_key(data).display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_signature_is_of_one_key_one_kind_and_one_text() {
        let (ours, theirs) = (Signer::new(), Signer::new());
        let signature = ours.sign(Kind::Tick, &[b"ab", b"c"]);
        let verifies =
            |key: &Signer, kind, parts: &[&[u8]], signature: &[u8]| key.public().verifies(kind, parts, signature);
        assert!(verifies(&ours, Kind::Tick, &[b"ab", b"c"], &signature));
        assert!(!verifies(&theirs, Kind::Tick, &[b"ab", b"c"], &signature));
        assert!(!verifies(&ours, Kind::Epoch, &[b"ab", b"c"], &signature));
        assert!(!verifies(&ours, Kind::Tick, &[b"a", b"bc"], &signature));
        assert!(!verifies(&ours, Kind::Tick, &[b"ab", b"c"], &signature[1..]));
        let trust = Trust::Keys(theirs.after(&[ours.public()]).keys());
        assert!(trust.verifies(Kind::Tick, &[b"ab", b"c"], &signature));
        assert!(!Trust::Anybody.verifies(Kind::Tick, &[b"ab", b"c"], &signature));
    }

    #[test]
    fn a_key_is_made_once_is_for_its_owner_alone_and_a_successor_knows_the_earlier_ones() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Trust::of(dir.path()), Trust::Anybody);
        let first = Signer::ensure(dir.path()).unwrap();
        assert_eq!(Signer::ensure(dir.path()).unwrap().public(), first.public());
        let path = data_dir::signing_key(dir.path());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let second = first.successor();
        second.write(dir.path()).unwrap();
        let read = Signer::open(dir.path()).unwrap().unwrap();
        assert_eq!(read.keys(), [second.public(), first.public()]);
        let other = Signer::new().public();
        adopt(dir.path(), &[first.public(), other]).unwrap();
        assert_eq!(Trust::of(dir.path()), Trust::Keys(vec![second.public(), other, first.public()]));
        for spoilt in ["", "ed25519 12", "ed25519 zz", "site.key"] {
            std::fs::write(&path, spoilt).unwrap();
            assert!(Signer::ensure(dir.path()).is_err(), "{spoilt:?}");
            assert_eq!(Trust::of(dir.path()), Trust::Keys(Vec::new()));
        }
    }

    #[test]
    fn a_fingerprint_is_read_as_it_is_shown_and_in_other_ways_that_people_write_it() {
        let shown = Signer::new().public().fingerprint();
        assert_eq!((shown.len(), shown.matches('-').count()), (39, 7));
        let plain = shown.replace('-', "");
        for typed in [shown.clone(), shown.to_uppercase(), plain.clone()] {
            assert_eq!(parse_fingerprint(&typed), Ok(plain.clone()));
        }
        assert!(parse_fingerprint(&plain[1..]).unwrap_err().contains("32 digits"));
        assert!(parse_fingerprint("Skyhall").is_err());
    }
}
