//! The site key: seals values that must be read again, and keys the hashes of values that must only be recognised.
//!
//! The keyed hashes have a key of their own, which the database stores sealed by the site key: so the site key can be
//! rotated without losing the hashes.
//!
//! The audit log's chain has a key too, in the second line of the key file, with the end of the rows from before there was
//! a key. In the database, anyone with write access could replace both and begin another chain.
//!
//! The key file is `site.key` beside the database, readable by its owner alone. Without it, partner secrets, kept outcomes
//! and PINs of the database are lost, so both are backed up together.

mod place;

pub use place::{Part, Place, SealedColumn, columns};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, Mac};
use rustix::rand::GetRandomFlags;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub(crate) type TokenHash = [u8; 32];

const KEY_BYTES: usize = 32;
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;
/// The first word of a key file's second line.
const CHAIN_KEY: &str = "audit-log";
/// The partner secrets that are cached in the clear; a site has a few.
const OPENED_MAX: usize = 64;

/// The purpose of a sealed value or keyed hash. Values of one purpose are useless for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The text that shows whether a key belongs to a database.
    KeyCheck,
    /// The key of all keyed hashes, which outlives a change of the site key.
    HashKey,
    /// Partners' signing secrets.
    PartnerSecret,
    /// Secrets of webhooks.
    HookSecret,
    /// Stored outcomes of idempotent requests.
    Outcome,
    /// Booking PINs.
    Pin,
    /// The names of counters: of failed attempts, messages and requests.
    Throttle,
    /// Idempotency keys, and the bodies that came with them.
    Replay,
    /// The values of a message in the outbox.
    Message,
    /// Passcodes that were sent.
    Passcode,
    /// The code on a certificate.
    Certificate,
    /// Challenges that wait for a passkey.
    PasskeyChallenge,
    /// Decoy passkeys of unknown usernames.
    PasskeyDecoy,
    /// Decoy security questions of unknown usernames.
    MadeUpQuestions,
    /// Secrets of authenticator apps.
    SecondFactor,
    /// Recovery codes.
    RecoveryCode,
    /// The bodies of callbacks that were stored.
    Callback,
    /// The persons of deletion requests.
    Deletion,
    /// Private keys of certificates.
    TlsKey,
    /// Codes by which an account is claimed, and codes by which a waiver is signed on a telephone.
    AccountClaim,
    /// Tickets for a check-in that a kiosk keeps until the site answers.
    KioskTicket,
    /// What admins set in pages.
    Setting,
}

/// The copies of a site's key file in the backups beside it.
pub(crate) fn copies(path: &Path) -> Vec<PathBuf> {
    let backups = std::fs::read_dir(path.with_file_name("backups")).into_iter().flatten().flatten();
    let copies = backups.filter_map(|backup| Some(backup.path().join(path.file_name()?)));
    copies.filter(|copy| copy.is_file()).collect()
}

/// The command that puts a copy of a key file in the file's place, with its owner and mode, and keeps the file.
pub(crate) fn copy_command(copy: &Path, path: &Path) -> String {
    let (copy, shown) = (copy.display(), path.display());
    let keep = if path.exists() { format!("mv {shown} {shown}.replaced && ") } else { String::new() };
    format!("{keep}cp -p {copy} {shown}")
}

/// What to do about a missing or damaged key file. A restore would lose the writes since the backup.
fn replacement(path: &Path) -> String {
    copies(path).iter().max().map_or_else(
        || "put the site.key of a backup of this site in its place".to_owned(),
        |copy| format!("put its newest copy in its place: {}", copy_command(copy, path)),
    )
}

/// SHA-256, or HMAC-SHA256 where there is a key.
pub type Hash = [u8; 32];

/// The end of the audit log's chain: how many rows there are, and the last one's hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number of the last row; 0: there is none.
    pub seq: i64,
    /// The last row's hash.
    pub hash: Hash,
}

/// The key of the audit log's chain, and where its rows begin.
#[derive(Clone, PartialEq, Eq)]
pub struct ChainKey {
    /// The HMAC key.
    pub secret: [u8; 32],
    /// The last row from before there was a key; `None`: the key is as old as the audit log.
    pub plain_end: Option<Head>,
}

impl ChainKey {
    /// The keyed hash that binds a value to its row: a row of the same table with another number, or another table, has
    /// another hash. The key is that of the audit log, which no row of the database has and which outlives a rotation.
    pub(crate) fn binding(&self, what: &str, row: &[Part], value: &[u8]) -> Hash {
        let mut mac = new_hmac(&hmac_sha256(&self.secret, &[b"tunneldesk binding"]));
        let mut add = |part: &[u8]| {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        };
        add(what.as_bytes());
        row.iter().for_each(|part| add(&part.bytes()));
        add(value);
        mac.finalize().into_bytes().into()
    }
}

/// The keys beside the database.
pub struct Keys {
    site: [u8; KEY_BYTES],
    hashes: [u8; KEY_BYTES],
    id: [u8; KEY_ID_BYTES],
    /// `None` where the key file is older than the chain's key.
    chain: Option<ChainKey>,
    /// The cache of partner secrets, by their sealed form and place.
    opened: Mutex<HashMap<Vec<u8>, Vec<u8>>>,
}

impl Keys {
    /// Makes the key file of a new site; fails where the file exists.
    pub(crate) fn create(path: &Path) -> std::io::Result<Keys> {
        let keys = Keys::from_bytes(random()).with_chain_key(None);
        keys.write(path)?;
        Ok(keys)
    }

    /// Writes a key file that must not exist yet.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let chain = self.chain.as_ref().map(|key| {
            let end = key.plain_end.map(|end| format!(" {} {}", end.seq, hex(&end.hash)));
            format!("{CHAIN_KEY} {}{}\n", hex(&key.secret), end.unwrap_or_default())
        });
        file.write_all(format!("{}\n{}", hex(&self.site), chain.unwrap_or_default()).as_bytes())?;
        file.sync_all()
    }

    /// Reads a key file, which only its owner may be able to read.
    pub(crate) fn open(path: &Path) -> Result<Keys, String> {
        let shown = path.display();
        let unreadable = |e: std::io::Error| format!("cannot read the site key {shown}: {e}");
        let mut file = crate::files::open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => format!("the site key {shown} is missing: {}", replacement(path)),
            _ => unreadable(e),
        })?;
        let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!("the site key {shown} is open to others (mode {mode:o}): run chmod 600 {shown}"));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(unreadable)?;
        let (site, chain) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
        let site = unhex_key(site.trim())
            .ok_or_else(|| format!("the site key {shown} is not 64 hex digits: {}", replacement(path)))?;
        let chain = (!chain.is_empty()).then(|| {
            parse_chain_key(chain).ok_or_else(|| {
                format!("the second line of {shown}, the audit log's key, is damaged: {}", replacement(path))
            })
        });
        Ok(Keys { chain: chain.transpose()?, ..Keys::from_bytes(site) })
    }

    /// The keys of a site key alone: until [`Keys::with_hash_key`], the site key keys the hashes too.
    pub(crate) fn from_bytes(site: [u8; KEY_BYTES]) -> Keys {
        let digest = Sha256::digest(site);
        let id = digest[..KEY_ID_BYTES].try_into().expect("a digest is longer than a key id");
        Keys { site, hashes: site, id, chain: None, opened: Mutex::default() }
    }

    /// Adds a key for the audit log's chain after the row `plain_end`: the present key, or else a new one.
    pub(crate) fn with_chain_key(self, plain_end: Option<Head>) -> Keys {
        let secret = self.chain.map_or_else(random, |key| key.secret);
        Keys { chain: Some(ChainKey { secret, plain_end }), ..self }
    }

    /// The key of the audit log's chain; `None` where the key file is older than it.
    pub(crate) fn chain_key(&self) -> Option<&ChainKey> {
        self.chain.as_ref()
    }

    /// Sets the key of the keyed hashes; `None`: the key has the wrong length.
    pub(crate) fn with_hash_key(self, key: &[u8]) -> Option<Keys> {
        Some(Keys { hashes: key.try_into().ok()?, ..self })
    }

    /// Sets the key of the keyed hashes as a database has it; `None`: the key is damaged.
    pub(crate) fn with_sealed_hash_key(self, sealed: &[u8]) -> Option<Keys> {
        let key = self.unseal(&columns::HASH_KEY.at([]), sealed)?;
        self.with_hash_key(&key)
    }

    /// The key of the keyed hashes, sealed.
    pub(crate) fn sealed_hash_key(&self) -> Vec<u8> {
        self.seal(&columns::HASH_KEY.at([]), &self.hashes)
    }

    /// A new site key, in a new file, with the same keys for the keyed hashes and the audit log.
    pub(crate) fn create_next(&self, path: &Path) -> std::io::Result<Keys> {
        let next = Keys { hashes: self.hashes, chain: self.chain.clone(), ..Keys::from_bytes(random()) };
        next.write(path)?;
        Ok(next)
    }

    /// HMAC-SHA256 of the parts, each with its length, under the purpose's key.
    pub fn hash(&self, purpose: Purpose, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = new_hmac(&derived(&self.hashes, purpose));
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Encrypts a value for its place (XChaCha20-Poly1305). The result is key id, nonce and ciphertext.
    pub fn seal(&self, place: &Place, plain: &[u8]) -> Vec<u8> {
        let nonce = random::<NONCE_BYTES>();
        let payload = Payload { msg: plain, aad: &place.associated_data(&self.id) };
        let sealed =
            self.cipher(place.purpose).encrypt(&XNonce::from(nonce), payload).expect("memory can be encrypted");
        [&self.id[..], &nonce, &sealed].concat()
    }

    /// Decrypts a sealed value. `None`: the key or the place is another, or the value was changed.
    pub fn unseal(&self, place: &Place, sealed: &[u8]) -> Option<Vec<u8>> {
        let (id, rest) = sealed.split_at_checked(KEY_ID_BYTES)?;
        let (nonce, ciphertext) = rest.split_at_checked(NONCE_BYTES)?;
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
        let payload = Payload { msg: ciphertext, aad: &place.associated_data(id) };
        self.cipher(place.purpose).decrypt(&XNonce::from(nonce), payload).ok()
    }

    /// Decrypts a partner's secret, with a cache, because each request of the partner needs it. The caller checks in the
    /// database whether the secret is in force.
    pub(crate) fn unseal_partner_secret(&self, place: &Place, sealed: &[u8]) -> Option<Vec<u8>> {
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let known = place.associated_data(sealed);
        if let Some(secret) = opened().get(&known) {
            return Some(secret.clone());
        }
        let secret = self.unseal(place, sealed)?;
        let mut opened = opened();
        if opened.len() >= OPENED_MAX {
            opened.clear();
        }
        opened.insert(known, secret.clone());
        Some(secret)
    }

    fn cipher(&self, purpose: Purpose) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(derived(&self.site, purpose)))
    }
}

fn unhex_key(text: &str) -> Option<[u8; KEY_BYTES]> {
    unhex(text)?.try_into().ok()
}

/// Parses the second line of a key file: `audit-log KEY`, and where the audit log is older than its key, ` ROW HASH`
/// of the last row before it.
fn parse_chain_key(line: &str) -> Option<ChainKey> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (secret, plain_end) = match words[..] {
        [CHAIN_KEY, secret] => (secret, None),
        [CHAIN_KEY, secret, seq, hash] => (secret, Some(Head { seq: seq.parse().ok()?, hash: unhex_key(hash)? })),
        _ => return None,
    };
    Some(ChainKey { secret: unhex_key(secret)?, plain_end })
}

/// Derives a purpose's key.
fn derived(key: &[u8], purpose: Purpose) -> [u8; 32] {
    hmac_sha256(key, &[format!("tunneldesk {purpose:?}").as_bytes()])
}

fn new_hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

/// HMAC-SHA256 over the concatenated parts.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = new_hmac(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Random bytes from the kernel's system call, which needs no device file and so works in an empty root directory.
pub fn random<const N: usize>() -> [u8; N] {
    const { assert!(N <= 256, "the kernel gives no more at once") };
    let mut bytes = [0; N];
    let filled = rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty());
    assert_eq!(filled, Ok(N), "the kernel gives random bytes");
    bytes
}

/// Lower-case hexadecimal digits, two a byte.
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Writes lower-case hexadecimal digits into a slice of twice the length.
pub(crate) fn hex_into(bytes: &[u8], text: &mut [u8]) {
    HEXLOWER.encode_mut(bytes, text);
}

/// Decodes hexadecimal digits of either case; `None`: the text is something else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

#[cfg(test)]
mod tests;
