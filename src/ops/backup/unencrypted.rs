//! A build without the cargo feature `encrypted-backups`: an option that needs it is refused with the reason.

use super::manifest::FileDigest;
use crate::config::recipient::{LACKING, Recipient};
use crate::ops::outside::object::Object;
use crate::ops::replication::target::Target;
use std::io::{self, Read, Write};
use std::path::Path;

/// Secret keys that open encrypted backups: none in this build.
pub(crate) enum Identities {}

impl Recipient {
    pub(crate) fn encrypt(
        &self,
        _: &mut dyn Read,
        _: &mut dyn Write,
        _: &mut dyn FnMut(u64),
    ) -> io::Result<FileDigest> {
        match *self {}
    }

    pub(crate) fn seal(
        &self,
        _: &mut dyn Write,
        _: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match *self {}
    }
}

impl Identities {
    pub(crate) fn read(path: &Path) -> Result<Identities, String> {
        Err(format!("{}: opening an encrypted backup {LACKING}", path.display()))
    }

    pub(crate) fn decrypt(
        &self,
        _: &Target,
        _: Object,
        _: u64,
        _: &mut dyn Write,
        _: &mut dyn FnMut(u64),
    ) -> Result<FileDigest, String> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_encryption_says_so_whatever_key_it_is_given() {
        for given in ["", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"] {
            assert!(Recipient::parse(given).unwrap_err().contains("`encrypted-backups`"));
        }
        let refusal = Identities::read(Path::new("key")).err().unwrap();
        assert!(refusal.starts_with("key: ") && refusal.contains("`encrypted-backups`"), "{refusal}");
    }
}
