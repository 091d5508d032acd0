//! Whether the off-site directory is mounted. While a share or a disk is away, its mount point is a directory on the
//! site's own disk, and copies there would be lost with the site.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file in the local backup store with the path of the off-site directory that was seen on another disk.
const RECORD: &str = "off-site-mount";

/// Refuses an off-site directory on the disk of the local backup store that was on another disk before.
pub(crate) fn check(local_store: &Path, dir: &Path) -> Result<(), String> {
    let record = local_store.join(RECORD);
    let was_elsewhere = crate::files::read(&record).is_ok_and(|known| known == dir.as_os_str().as_bytes());
    match was_elsewhere && is_same_disk(local_store, dir) {
        true => Err(format!(
            "{} is on the site's own disk now, and was on another before: is it mounted? If it is meant to be there, remove {}",
            dir.display(),
            record.display()
        )),
        false => Ok(()),
    }
}

/// Remembers an off-site directory that is on another disk than the local backup store.
pub(super) fn note(local_store: &Path, dir: &Path) {
    let (record, path) = (local_store.join(RECORD), dir.as_os_str().as_bytes());
    if is_same_disk(local_store, dir) || crate::files::read(&record).is_ok_and(|known| known == path) {
        return;
    }
    _ = crate::files::write(&record, path)
        .inspect_err(|e| tracing::warn!(cause = %e, "a share that is not mounted may not be noticed"));
}

/// Whether two directories are on the same disk; `false` also where one cannot be read.
pub(crate) fn is_same_disk(one: &Path, other: &Path) -> bool {
    let disks = || Ok::<_, io::Error>((one.metadata()?.dev(), other.metadata()?.dev()));
    disks().is_ok_and(|(one, other)| one == other)
}
