//! Encrypted backups, for an off-site target that others can reach. In the age format (age-encryption.org/v1), so that any
//! tool for it opens them too.

use crate::config::recipient::Recipient;
use crate::ops::digest::FileDigest;
use crate::ops::outside::object::Object;
use crate::ops::replication::target::Target;
use age::x25519;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

const IDENTITY_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Secret keys that open encrypted backups.
pub(crate) struct Identities {
    keys: Vec<x25519::Identity>,
    from: PathBuf,
}

impl Recipient {
    /// Encrypts a file, and returns the digest of the encrypted bytes. `progress` gets the bytes of each chunk. Nothing is
    /// flushed.
    pub(crate) fn encrypt(
        &self,
        from: &mut dyn Read,
        to: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<FileDigest> {
        let mut digesting = Digesting { to, digest: FileDigest::begin() };
        self.seal(&mut digesting, &mut |sealing| FileDigest::of_reader(from, sealing, progress).map(drop))?;
        Ok(digesting.digest.end())
    }

    /// Encrypts what `write` writes. Nothing is flushed.
    pub(crate) fn seal(
        &self,
        to: &mut dyn Write,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let encryptor = age::Encryptor::with_recipients(std::iter::once(&self.0 as _)).map_err(io::Error::other)?;
        let mut sealing = encryptor.wrap_output(to)?;
        write(&mut sealing)?;
        sealing.finish().map(drop)
    }
}

/// Digests the bytes that are written to `to`.
struct Digesting<W> {
    to: W,
    digest: crate::ops::digest::FileDigester,
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.digest.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Identities {
    /// Reads a file as `age-keygen` writes it: one key a line, and comments. The error is one line.
    pub(crate) fn read(path: &Path) -> Result<Identities, String> {
        let unreadable = |e: io::Error| format!("{} cannot be read: {e}", path.display());
        let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
        if bytes > IDENTITY_FILE_BYTES_MAX {
            return Err(format!("{} is too large to be a key", path.display()));
        }
        let text = crate::files::read_given_text(path).map_err(unreadable)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys: Result<Vec<x25519::Identity>, _> = lines.map(str::parse).collect();
        match keys {
            Ok(keys) if !keys.is_empty() => Ok(Identities { keys, from: path.to_owned() }),
            _ => Err(format!("{} is no identity of age: its key begins with AGE-SECRET-KEY-1", path.display())),
        }
    }

    /// Decrypts a file of limited size, and returns the digest of the plain bytes, of which there are no more. The error
    /// is one line.
    pub(crate) fn decrypt(
        &self,
        at: &Target,
        object: Object,
        bytes_max: u64,
        to: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<FileDigest, String> {
        let from = at.shown(object);
        let file = at.open(object, bytes_max);
        let file = BufReader::new(file.map_err(|e| format!("cannot read {from}: {e}"))?);
        let keys = || self.keys.iter().map(|key| key as &dyn age::Identity);
        let opened = age::Decryptor::new_buffered(file).and_then(|decryptor| decryptor.decrypt(keys()));
        let mut plain = opened.map_err(|e| match e {
            age::DecryptError::NoMatchingKeys => {
                format!("{from} does not open with {}: it was encrypted to another key", self.from.display())
            }
            other => format!("{from} is damaged: {other}"),
        })?;
        let failed = |e: io::Error| format!("{from} cannot be opened whole: {e}");
        FileDigest::of_reader(&mut plain, to, progress).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::secrecy::ExposeSecret;
    use std::fs::File;

    fn key(dir: &Path, name: &str) -> (Recipient, Identities) {
        let key = x25519::Identity::generate();
        let path = dir.join(name);
        std::fs::write(&path, format!("# public key: {}\n{}\n", key.to_public(), key.to_string().expose_secret()))
            .unwrap();
        (Recipient(key.to_public()), Identities::read(&path).unwrap())
    }

    #[test]
    fn an_encrypted_file_opens_with_its_own_key_alone_and_not_when_it_is_truncated() {
        let dir = tempfile::tempdir().unwrap();
        let ((recipient, ours), (_, theirs)) = (key(dir.path(), "ours"), key(dir.path(), "theirs"));
        let object = Object::Tick { number: 1, is_sealed: true };
        let (plain, sealed) = (dir.path().join("plain"), dir.path().join(object.to_string()));
        let text: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        std::fs::write(&plain, &text).unwrap();
        let mut from = File::open(&plain).unwrap();
        let digest = recipient.encrypt(&mut from, &mut File::create(&sealed).unwrap(), &mut |_| ()).unwrap();
        let at = Target::directory(dir.path().to_owned());
        assert_eq!(digest, FileDigest::of(&sealed, &mut |_| ()).unwrap());
        let mut opened = Vec::new();
        assert_eq!(
            ours.decrypt(&at, object, u64::MAX, &mut opened, &mut |_| ()).unwrap(),
            FileDigest::of(&plain, &mut |_| ()).unwrap()
        );
        assert_eq!(opened, text);
        let decrypt = |keys: &Identities, bytes_max| keys.decrypt(&at, object, bytes_max, &mut Vec::new(), &mut |_| ());
        let refusal = decrypt(&theirs, u64::MAX).unwrap_err();
        assert!(refusal.contains("another key") && !refusal.contains('\n'), "{refusal}");
        let bytes = std::fs::read(&sealed).unwrap();
        assert!(!bytes.windows(64).any(|part| part == &text[..64]), "the plain text is there");
        let length = bytes.len() as u64;
        assert!(decrypt(&ours, length).is_ok() && decrypt(&ours, length - 1).unwrap_err().contains("larger"));
        for length in [0, 20, 200, 100_000, bytes.len() - 1] {
            std::fs::write(&sealed, &bytes[..length]).unwrap();
            assert!(decrypt(&ours, u64::MAX).is_err(), "{length}");
        }
    }

    #[test]
    fn a_secret_key_is_refused_as_recipient_and_not_repeated() {
        let secret = x25519::Identity::generate().to_string().expose_secret().to_owned();
        assert!(Recipient::parse(&secret).unwrap_err().contains("secret"));
        for wrong in ["", "age1", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8q"] {
            assert!(Recipient::parse(wrong).is_err(), "{wrong}");
        }
    }
}
