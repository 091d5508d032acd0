//! The file with the manifest of a backup.

use crate::ops::backup::manifest::{Manifest, ManifestError};
use crate::ops::outside::object::Object;
use crate::ops::replication::target::Target;
use std::io;

/// Reads the manifest of the backup there.
pub(super) fn read(at: &Target) -> Result<Manifest, ManifestError> {
    read_named(at, Some(&at.name()))
}

/// Reads a manifest that is signed for a backup of this name; `None`: of any name.
pub(super) fn read_named(at: &Target, name: Option<&str>) -> Result<Manifest, ManifestError> {
    let from = at.shown(Object::Manifest);
    match at.read(Object::Manifest) {
        Ok(bytes) => Manifest::parse_named(&bytes, &from, name),
        Err(e) => {
            let text = format!("cannot read {from}: {e}");
            Err(match e.kind() {
                io::ErrorKind::NotFound => ManifestError::Unfinished(text),
                _ => ManifestError::Unreadable(text),
            })
        }
    }
}

/// The manifest with these bytes of the backup there.
pub(crate) fn parse(bytes: &[u8], at: &Target) -> Result<Manifest, ManifestError> {
    Manifest::parse_named(bytes, &at.shown(Object::Manifest), Some(&at.name()))
}
