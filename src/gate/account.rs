//! Accounts that are closed and opened again.

use crate::failure::Failure;
use crate::store::{Write, members, sessions};

/// Closes an account: nobody signs in to it, and nothing that is signed in goes on.
pub fn ban(tx: &Write, member_id: i64) -> Result<(), Failure> {
    sessions::end_credentials(tx, member_id, None)?;
    members::set_banned(tx, member_id, Some(tx.now()))?;
    Ok(())
}

/// Opens it again; its owner signs in anew.
pub fn lift_ban(tx: &Write, member_id: i64) -> Result<(), Failure> {
    members::set_banned(tx, member_id, None)?;
    Ok(())
}
