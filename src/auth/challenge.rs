//! The way from a first proof (a social sign-in, or a password at the desk) to the second factor: a token for whoever just
//! passed the first step, good for ten minutes, five tries and one use, and for the one intent that it was made for. A code
//! proves nothing without it, and it proves nothing without a code.

use super::session::{new_token, token_hash};
use super::signer::DocumentDigest;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::keys::hex;
use crate::store::tables::members::{self, Account};
use crate::store::tables::sessions::TokenHash;
use crate::store::tables::sign_in_steps;
use crate::store::{Read, Write};

const LIFE_SECONDS: i64 = 10 * 60;
const TRIES_MAX: i64 = 5;

/// The use of a sign-in challenge: what the second step opens. A token of one intent is unknown to every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// A session of the API, after a social sign-in.
    Api,
    /// A session of the desk.
    Desk,
    /// A session of the desk, with the authenticator set up on the way.
    DeskSetup,
    /// The signature under the entry with this number.
    SignEntry(i64),
    /// The signature under everything that stands on one paper.
    SignDocument(DocumentDigest),
}

impl Intent {
    fn name(self) -> String {
        match self {
            Intent::Api => "api".to_owned(),
            Intent::Desk => "desk".to_owned(),
            Intent::DeskSetup => "desk setup".to_owned(),
            Intent::SignEntry(entry_id) => format!("entry {entry_id}"),
            Intent::SignDocument(paper) => format!("paper {}", hex(&paper)),
        }
    }

    /// The hash of a token of this intent, as it is stored.
    fn hash(self, token: &str) -> TokenHash {
        token_hash(&format!("{} {token}", self.name()))
    }
}

/// A new token; the member's older one is dead.
pub(crate) fn begin(call: &Call, tx: &Write, member_id: i64, intent: Intent) -> Result<String, Failure> {
    let (token, _) = new_token();
    let hash = intent.hash(&token);
    call.issues_token(&hash);
    sign_in_steps::insert(tx, member_id, &hash, tx.now() + LIFE_SECONDS)?;
    Ok(token)
}

/// Whose step a token is, for one try: the last try costs the step.
pub(crate) fn try_once(tx: &Write, token: &str, intent: Intent) -> Result<Option<Account>, Failure> {
    let Some(step) = sign_in_steps::find(tx, &intent.hash(token), tx.now())? else { return Ok(None) };
    if step.tries + 1 >= TRIES_MAX {
        sign_in_steps::delete(tx, step.member_id)?;
    } else {
        sign_in_steps::count_try(tx, step.member_id)?;
    }
    Ok(members::find_account_by_id(tx, step.member_id)?)
}

/// Whose step a token is, without a try.
pub(crate) fn find(tx: &Read, token: &str, intent: Intent, now: i64) -> Result<Option<Account>, Failure> {
    let Some(step) = sign_in_steps::find(tx, &intent.hash(token), now)? else { return Ok(None) };
    Ok(members::find_account_by_id(tx, step.member_id)?)
}

/// Ends the step of a member who took it.
pub(crate) fn end(tx: &Write, member_id: i64) -> Result<(), Failure> {
    sign_in_steps::delete(tx, member_id)?;
    Ok(())
}
