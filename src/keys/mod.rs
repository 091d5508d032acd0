//! The site key: seals values that must be read again, and keys the hashes of values that must only be recognised.
//!
//! The keyed hashes have a key of their own, which the database stores sealed by the site key: so the site key can be
//! rotated without losing the hashes.
//!
//! The audit log's chain has a key too, in the second line of the key file, with the end of the rows from before there was
//! a key. In the database, anyone with write access could replace both and begin another chain.
//!
//! The key file is `site.key` beside the database, readable by its owner alone. Without it, partner secrets, stored answers
//! and PINs of the database are lost, so both are backed up together.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
    /// Stored answers of idempotent requests.
    Answer,
    /// Booking PINs.
    Pin,
    /// The names of counters of failed attempts.
    Throttle,
    /// Idempotency keys, and the bodies that came with them.
    Replay,
    /// The values of a message in the outbox.
    Message,
    /// Passcodes that were sent.
    Passcode,
    /// Addresses that passcodes went to.
    PasscodeAddress,
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

/// The keys beside the database.
pub struct Keys {
    site: [u8; KEY_BYTES],
    hashes: [u8; KEY_BYTES],
    id: [u8; KEY_ID_BYTES],
    /// `None` where the key file is older than the chain's key.
    chain: Option<ChainKey>,
    /// The cache of partner secrets, by their sealed form.
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

    /// The key of the keyed hashes, sealed.
    pub(crate) fn sealed_hash_key(&self) -> Vec<u8> {
        self.seal(Purpose::HashKey, &self.hashes)
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

    /// Encrypts a value (XChaCha20-Poly1305). The result is key id, nonce and ciphertext.
    pub fn seal(&self, purpose: Purpose, plain: &[u8]) -> Vec<u8> {
        let nonce = random::<NONCE_BYTES>();
        let payload = Payload { msg: plain, aad: &self.id };
        let sealed = self.cipher(purpose).encrypt(&XNonce::from(nonce), payload).expect("memory can be encrypted");
        [&self.id[..], &nonce, &sealed].concat()
    }

    /// Decrypts a sealed value. `None`: the key or purpose is another, or the value was changed.
    pub fn unseal(&self, purpose: Purpose, sealed: &[u8]) -> Option<Vec<u8>> {
        let (id, rest) = sealed.split_at_checked(KEY_ID_BYTES)?;
        let (nonce, ciphertext) = rest.split_at_checked(NONCE_BYTES)?;
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
        self.cipher(purpose).decrypt(&XNonce::from(nonce), Payload { msg: ciphertext, aad: id }).ok()
    }

    /// Decrypts a partner's secret, with a cache, because each request of the partner needs it. The caller checks in the
    /// database whether the secret is in force.
    pub(crate) fn unseal_partner_secret(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(secret) = opened().get(sealed) {
            return Some(secret.clone());
        }
        let secret = self.unseal(Purpose::PartnerSecret, sealed)?;
        let mut opened = opened();
        if opened.len() >= OPENED_MAX {
            opened.clear();
        }
        opened.insert(sealed.to_owned(), secret.clone());
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
    // SAFETY: writes N bytes, which is the size of the array.
    let filled = unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), N) };
    assert_eq!(filled, 0, "the kernel gives random bytes");
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
mod tests {
    use super::*;

    #[test]
    fn sealed_values_open_with_their_key_and_purpose_only() {
        let keys = Keys::from_bytes([7; 32]);
        let sealed = keys.seal(Purpose::PartnerSecret, b"secret");
        assert_eq!(keys.unseal(Purpose::PartnerSecret, &sealed).unwrap(), b"secret");
        assert!(keys.unseal(Purpose::Answer, &sealed).is_none());
        assert!(Keys::from_bytes([8; 32]).unseal(Purpose::PartnerSecret, &sealed).is_none());
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(keys.unseal(Purpose::PartnerSecret, &changed).is_none(), "byte {place}");
        }
        assert!(keys.unseal(Purpose::PartnerSecret, b"short").is_none());
    }

    #[test]
    fn a_key_file_reads_as_written_with_and_without_a_chain_key() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("site.key");
        let end = Head { seq: 70_000, hash: [9; 32] };
        let old = || Keys::from_bytes([7; 32]);
        for keys in [old(), old().with_chain_key(None), old().with_chain_key(Some(end))] {
            keys.write(&path).unwrap();
            let read = Keys::open(&path).unwrap();
            assert!(read.site == keys.site && read.chain == keys.chain);
            let next = dir.path().join("next");
            let anew = keys.create_next(&next).unwrap();
            assert!(anew.site != keys.site && anew.chain == keys.chain);
            std::fs::remove_file(next).unwrap();
            std::fs::remove_file(&path).unwrap();
        }
        for line in ["audit-log", "audit-log 77", "audit 77", "audit-log 77 x 99"] {
            let line = line.replace("77", &"77".repeat(32)).replace("99", &"99".repeat(32));
            let line = if line.len() == 74 { line[..60].to_owned() } else { line };
            old().write(&path).unwrap();
            std::fs::write(&path, format!("{}\n{line}\n", "07".repeat(32))).unwrap();
            assert!(Keys::open(&path).err().unwrap().contains("second line"), "{line}");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_partner_secret_is_decrypted_from_the_cache_too_and_a_changed_one_never() {
        let keys = Keys::from_bytes([7; 32]);
        for n in 0..=OPENED_MAX {
            let secret = format!("secret {n}");
            let mut sealed = keys.seal(Purpose::PartnerSecret, secret.as_bytes());
            assert_eq!(keys.unseal_partner_secret(&sealed).unwrap(), secret.as_bytes());
            assert_eq!(keys.unseal_partner_secret(&sealed).unwrap(), secret.as_bytes());
            sealed[KEY_ID_BYTES] ^= 1;
            assert!(keys.unseal_partner_secret(&sealed).is_none());
        }
        assert!(keys.opened.lock().unwrap().len() <= OPENED_MAX);
        assert!(keys.unseal_partner_secret(&keys.seal(Purpose::Answer, b"secret")).is_none());
    }

    #[test]
    fn keyed_hashes_differ_by_parts_and_purpose() {
        let keys = Keys::from_bytes([7; 32]);
        assert_ne!(keys.hash(Purpose::Pin, &[b"ab", b"c"]), keys.hash(Purpose::Pin, &[b"a", b"bc"]));
        assert_ne!(keys.hash(Purpose::Pin, &[b"a"]), keys.hash(Purpose::Throttle, &[b"a"]));
    }

    #[test]
    fn partner_digests_match_the_published_vectors() {
        for (body, digest) in [
            ("", "c9d012234073d5d59abfecded311a546c5d2801482505a44e7842ab13ea92fae"),
            ("{}", "67925189f2b49ab6a748937776bb1b6610bc92b0c419a2c090f10a73d8eb7676"),
            (r#"{"email":"a@example.com"}"#, "0d27e235404fc5872e697d5f943180b80f8b0b519b89c149f0f5ad572037bf5d"),
            (r#"{"limit":10,"offset":0}"#, "309042b1fdb688e9d4935db0c14de10cb4b051b91ef9dba5626460cc076d5f9d"),
        ] {
            assert_eq!(hex(&hmac_sha256(b"partner-secret", &[body.as_bytes()])), digest, "{body}");
        }
    }

    #[test]
    fn hex_goes_both_ways_in_either_case() {
        assert_eq!(unhex("00FFa0").unwrap(), [0, 255, 160]);
        assert_eq!(hex(&[0, 255, 160]), "00ffa0");
        assert!(unhex("0").is_none() && unhex("zz").is_none());
    }
}
