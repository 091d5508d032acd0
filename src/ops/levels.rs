//! Members' levels follow the catalogue: where it asks for other skills than when they were derived last, in a new version
//! or in the site's own file, they are derived anew before anybody reads them.

use crate::domain::catalogue::Catalogue;
use crate::http::failure::Failure;
use crate::store::queries::holdings;
use crate::store::tables::tunnels;
use crate::store::{Store, Write};
use sha2::{Digest, Sha256};

/// Once, at the opening. A file that cannot be written now (a full disk) keeps the levels that it has until the next.
pub(crate) fn follow(store: &Store, now: i64, catalogue: &Catalogue) {
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
        Ok(members) => tracing::info!(members, "the catalogue has changed: levels were derived anew"),
        Err(e) => tracing::warn!(cause = %e, "the catalogue has changed, and levels could not be derived anew"),
    }
}

/// The levels in this file are this catalogue's.
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
