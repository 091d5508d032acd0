//! Accounts that are closed, opened again, and recovered.

use crate::http::failure::Failure;
use crate::store::Write;
use crate::store::tables::{members, passkeys, sessions, social_links};

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

/// What of an account a recovery leaves beside the new password.
#[derive(Debug, Default)]
pub struct Kept {
    /// Numbers of passkeys.
    pub passkeys: Vec<i64>,
    /// Names of social networks.
    pub social: Vec<String>,
}

/// Sets a new password for whoever lost the old one. Whatever else may open the account ends: every session and credential,
/// and the passkeys and social links that are not kept, because somebody else may have added them.
pub fn recover(tx: &Write, member_id: i64, password_hash: &str, kept: &Kept) -> Result<(), Failure> {
    members::set_password(tx, member_id, password_hash)?;
    passkeys::delete_others(tx, member_id, &kept.passkeys)?;
    social_links::delete_others(tx, member_id, &kept.social)?;
    sessions::end_credentials(tx, member_id, None)?;
    Ok(())
}
