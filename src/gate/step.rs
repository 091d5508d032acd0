//! The way from a first proof (a social sign-in, or a password at the desk) to the second factor: a token for whoever just passed the first step, good for ten
//! minutes, five tries and one use. A code proves nothing without it, and it proves nothing without a code.

use super::session::{new_token, token_hash};
use crate::failure::Failure;
use crate::store::members::{self, Account};
use crate::store::{Read, Write, sign_in_steps};

const LIFE_SECONDS: i64 = 10 * 60;
const TRIES_MAX: i64 = 5;

/// A new token; the member's older one is dead.
pub fn begin(tx: &Write, member_id: i64) -> Result<String, Failure> {
    let (token, hash) = new_token();
    sign_in_steps::insert(tx, member_id, &hash, tx.now() + LIFE_SECONDS)?;
    Ok(token)
}

/// Whose step a token is, for one try: the last try costs the step.
pub fn try_once(tx: &Write, token: &str) -> Result<Option<Account>, Failure> {
    let Some(step) = sign_in_steps::find(tx, &token_hash(token), tx.now())? else { return Ok(None) };
    if step.tries + 1 >= TRIES_MAX {
        sign_in_steps::delete(tx, step.member_id)?;
    } else {
        sign_in_steps::count_try(tx, step.member_id)?;
    }
    Ok(members::find_account_by_id(tx, step.member_id)?)
}

/// Whose step a token is, without a try.
pub fn look(tx: &Read, token: &str, now: i64) -> Result<Option<Account>, Failure> {
    let Some(step) = sign_in_steps::find(tx, &token_hash(token), now)? else { return Ok(None) };
    Ok(members::find_account_by_id(tx, step.member_id)?)
}

/// It was taken.
pub fn end(tx: &Write, member_id: i64) -> Result<(), Failure> {
    sign_in_steps::delete(tx, member_id)?;
    Ok(())
}
