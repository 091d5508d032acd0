//! Room on a disk for a copy.

use crate::store::data_dir;
use std::path::Path;

/// A copy must leave this much of the disk free.
const SPARE_BYTES: u64 = 64 * 1024 * 1024;

/// Whether a copy of `bytes` bytes fits into the directory, with room for the database to grow.
pub(crate) fn check_space(bytes: u64, dir: &Path) -> Result<(), String> {
    let needed = bytes + SPARE_BYTES;
    let free = data_dir::free_bytes(dir).map_err(|e| format!("cannot look at {}: {e}", dir.display()))?;
    if free >= needed {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(format!(
        "no room for a copy in {}: {} MB are free and {} MB are needed; make room there",
        dir.display(),
        megabytes(free),
        megabytes(needed)
    ))
}
