//! Members' levels are derived from the catalogue. Where its required skills have changed, by a new version or in the site's own
//! file, the levels are derived again when the site is opened.

use crate::domain::catalogue::Catalogue;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::queries::holdings;
use crate::store::tables::tunnels;
use crate::store::{Store, Write};
use sha2::{Digest, Sha256};

/// Derives all levels again if the catalogue has changed. A database that cannot be written now keeps its levels until the next
/// start.
pub(crate) fn follow(store: &Store, now: Moment, catalogue: &Catalogue) {
    let known = store.read(|tx| Ok(tunnels::find_catalogue_digest(tx)?));
    store.release();
    if matches!(&known, Ok(Some(digest)) if *digest == self::digest(catalogue)) {
        return;
    }
    let derived = store.write(now, |tx| {
        let members = holdings::refresh_all(tx, catalogue)?;
        remember(tx, catalogue)?;
        Ok(members)
    });
    match derived {
        Ok(members) => tracing::info!(members, "the catalogue has changed: levels were derived again"),
        Err(e) => tracing::warn!(cause = %e, "the catalogue has changed, and levels could not be derived again"),
    }
}

/// Records that the levels are those of this catalogue.
pub(crate) fn remember(tx: &Write, catalogue: &Catalogue) -> Result<(), Failure> {
    tunnels::set_catalogue_digest(tx, &digest(catalogue))?;
    Ok(())
}

fn digest(catalogue: &Catalogue) -> Vec<u8> {
    let mut hash = Sha256::new();
    for level in catalogue.levels() {
        hash.update(format!("{level}:"));
        level.required().for_each(|skill| hash.update(format!("{},", skill.skill)));
    }
    hash.finalize().to_vec()
}
