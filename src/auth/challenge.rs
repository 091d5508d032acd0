//! Sign-in challenges: the token between a first proof (a social sign-in, or a password at the desk) and the second factor.
//! A token is good for ten minutes, five tries, one use, and the one intent that it was made for. Neither the token nor
//! the code proves anything without the other.

use super::session::{new_token, token_hash};
use crate::domain::ids::{EntryId, MemberId};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::keys::hex;
use crate::moment::Moment;
use crate::store::tables::members::{self, Account};
use crate::store::tables::sessions::TokenHash;
use crate::store::tables::sign_in_steps;
use crate::store::{Read, Write};

/// The digest of the one document that a proof signs or denies.
pub(crate) type DocumentDigest = [u8; 32];

pub(super) const LIFE_SECONDS: i64 = 10 * 60;
const TRIES_MAX: i64 = super::limits::STEP_TRIES.fixed();

/// What passing the second factor opens. A token of one intent is unknown to every other intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// A session of the API, after a social sign-in.
    Api,
    /// A session of the desk.
    Desk,
    /// A session of the member's own pages.
    Own,
    /// A session of the desk, after an authenticator was set up.
    DeskSetup,
    /// The signature under the entry with this number.
    SignEntry(EntryId),
    /// The signature under one document.
    SignDocument(DocumentDigest),
}

impl Intent {
    fn name(self) -> String {
        match self {
            Intent::Api => "api".to_owned(),
            Intent::Desk => "desk".to_owned(),
            Intent::Own => "own".to_owned(),
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

/// Makes a new token, which replaces the member's older one.
pub(crate) fn begin(call: &Call, tx: &Write, member_id: MemberId, intent: Intent) -> Result<String, Failure> {
    let (token, _) = new_token();
    let hash = intent.hash(&token);
    call.issues_token(&hash);
    sign_in_steps::insert(tx, member_id, &hash, tx.now() + LIFE_SECONDS)?;
    Ok(token)
}

/// The account of a token, for one try. The last try ends the challenge.
pub(crate) fn try_once(tx: &Write, token: &str, intent: Intent) -> Result<Option<Account>, Failure> {
    let Some(step) = sign_in_steps::find(tx, &intent.hash(token), tx.now())? else { return Ok(None) };
    if step.tries + 1 >= TRIES_MAX {
        sign_in_steps::delete(tx, step.member_id)?;
    } else {
        sign_in_steps::count_try(tx, step.member_id)?;
    }
    Ok(members::find_account_by_id(tx, step.member_id)?)
}

/// The account of a token, without counting a try.
pub(crate) fn find(tx: &Read, token: &str, intent: Intent, now: Moment) -> Result<Option<Account>, Failure> {
    let Some(step) = sign_in_steps::find(tx, &intent.hash(token), now)? else { return Ok(None) };
    Ok(members::find_account_by_id(tx, step.member_id)?)
}

/// Ends the challenge of a member who passed it.
pub(crate) fn end(tx: &Write, member_id: MemberId) -> Result<(), Failure> {
    sign_in_steps::delete(tx, member_id)?;
    Ok(())
}
