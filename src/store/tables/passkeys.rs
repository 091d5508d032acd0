//! Passkeys, and the challenges that wait for a browser's response.

use crate::domain::ids::{MemberId, PasskeyId};
use crate::keys::TokenHash;
use crate::keys::columns;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, OUR_WORD, Rows, Table, deleted, not_personal, secret};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new(
        "passkeys",
        "",
        &[deleted("rp_id"), deleted("credential_id"), deleted("public_key"), deleted("name")],
        &[Rows::deleted("passkeys", "member_id = :id")],
    )
    .joins(&[stays("member_id", OPENS)]),
    Table::new(
        "passkey_challenges",
        "",
        &[
            secret("challenge_hash"),
            not_personal("kind", OUR_WORD),
            secret("session_hash"),
            secret("sealed").sealed(&columns::PASSKEY_CHALLENGE),
        ],
        &[Rows::deleted("passkey_challenges", "member_id = :id")],
    )
    .expires(&[Expiry::at("challenge_hash", "ends_at")])
    .ahead(Ahead::Deleted("created_at"))
    .joins(&[stays("member_id", OPENS)]),
];

pub(crate) type ChallengeHash = [u8; 32];

row! {
    /// A passkey as its owner sees it.
    #[derive(Debug)]
    pub(crate) struct Passkey {
        pub passkey_id: PasskeyId,
        pub name: String,
        pub device_id: Option<i64>,
        pub created_at: Moment,
        pub used_at: Option<Moment>,
    }
}

row! {
    /// A passkey with the data that verifies a signature.
    #[derive(Debug)]
    pub(crate) struct StoredPasskey {
        pub passkey_id: PasskeyId,
        pub name: String,
        pub public_key: String,
        pub counter: i64,
    }
}

/// A new passkey.
#[derive(Debug)]
pub struct NewPasskey<'a> {
    /// The owner.
    pub member_id: MemberId,
    /// The host name for which the passkey was made.
    pub rp_id: &'a str,
    /// The identifier that the authenticator gave.
    pub credential_id: &'a [u8],
    /// The public key as JSON of the WebAuthn library.
    pub public_key: &'a str,
    /// The name by which the owner knows the passkey.
    pub name: &'a str,
    /// The device number that the client gave.
    pub device_id: Option<i64>,
}

/// The member number of a challenge that is nobody's: the username is unknown, its member has no passkey, or any passkey may
/// answer.
pub(crate) const NOBODY: MemberId = MemberId(0);

named! {
    /// The purpose of a challenge.
    pub(crate) enum Kind {
        SignIn = "sign_in",
        Register = "register",
    }
}

row! {
    /// A challenge without its hash.
    #[derive(Debug)]
    pub(crate) struct Challenge {
        pub kind: Kind,
        /// [`NOBODY`] where the username is unknown, its member has no passkey for the host, or any passkey may answer.
        pub member_id: MemberId,
        pub session_hash: Option<TokenHash>,
        pub sealed: Vec<u8>,
    } saved
}

/// What a public key is bound to: this column, and the member's number.
const PUBLIC_KEY: &str = "passkeys.public_key";

/// A member's passkeys, newest first.
pub(crate) fn list(tx: &Read, member_id: MemberId, limit: i64, offset: i64) -> Result<Vec<Passkey>> {
    let sql = sql!(
        "SELECT ",
        Passkey::COLUMNS,
        " FROM passkeys WHERE member_id = ?1
               ORDER BY passkey_id DESC LIMIT ?2 OFFSET ?3"
    );
    tx.list(sql, (member_id, limit, offset))
}

pub(crate) fn count(tx: &Read, member_id: MemberId) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM passkeys WHERE member_id = ?1"), [member_id])
}

/// The public keys of a member for this host name.
pub(crate) fn list_public_keys(tx: &Read, member_id: MemberId, rp_id: &str) -> Result<Vec<String>> {
    let sql = sql!("SELECT public_key FROM passkeys WHERE member_id = ?1 AND rp_id = ?2 ORDER BY passkey_id");
    let stored: Vec<String> = tx.list(sql, (member_id, rp_id))?;
    Ok(stored.iter().filter_map(|stored| tx.unbound(PUBLIC_KEY, &[member_id.into()], stored)).collect())
}

/// The public key of any member, so that an unknown username costs the same time as a known one.
pub(crate) fn find_any_public_key(tx: &Read) -> Result<Option<String>> {
    let found: Option<(MemberId, String)> =
        tx.find(sql!("SELECT member_id, public_key FROM passkeys ORDER BY passkey_id LIMIT 1"), [])?;
    Ok(found.and_then(|(member_id, stored)| tx.unbound(PUBLIC_KEY, &[member_id.into()], &stored)))
}

pub(crate) fn find(tx: &Read, member_id: MemberId, credential_id: &[u8]) -> Result<Option<StoredPasskey>> {
    let sql = sql!("SELECT ", StoredPasskey::COLUMNS, " FROM passkeys WHERE credential_id = ?1 AND member_id = ?2");
    let found: Option<StoredPasskey> = tx.find(sql, (credential_id, member_id))?;
    Ok(found.and_then(|found| {
        let public_key = tx.unbound(PUBLIC_KEY, &[member_id.into()], &found.public_key)?;
        Some(StoredPasskey { public_key, ..found })
    }))
}

/// The owner and the public key of the passkey with this id for this host name.
pub(crate) fn find_public_key(tx: &Read, rp_id: &str, credential_id: &[u8]) -> Result<Option<(MemberId, String)>> {
    let sql = sql!("SELECT member_id, public_key FROM passkeys WHERE credential_id = ?1 AND rp_id = ?2");
    let found: Option<(MemberId, String)> = tx.find(sql, (credential_id, rp_id))?;
    Ok(found.and_then(|(member_id, stored)| Some((member_id, tx.unbound(PUBLIC_KEY, &[member_id.into()], &stored)?))))
}

/// Adds a passkey; returns its number.
pub fn insert(tx: &Write, new: &NewPasskey) -> Result<i64> {
    let public_key = tx.bound(PUBLIC_KEY, &[new.member_id.into()], new.public_key);
    insert!(tx.insert, "INSERT INTO passkeys" {
        member_id: new.member_id, rp_id: new.rp_id, credential_id: new.credential_id,
        public_key, name: new.name, device_id: new.device_id, created_at: tx.now(),
    })
}

/// Records a sign-in by the passkey.
pub(crate) fn set_used(
    tx: &Write,
    member_id: MemberId,
    passkey_id: PasskeyId,
    counter: i64,
    public_key: &str,
) -> Result<usize> {
    let public_key = tx.bound(PUBLIC_KEY, &[member_id.into()], public_key);
    let sql =
        sql!("UPDATE passkeys SET counter = :counter, public_key = :public_key, used_at = :now WHERE passkey_id = :id");
    tx.run(sql, named_params! {":counter": counter, ":public_key": public_key, ":now": tx.now(), ":id": passkey_id})
}

/// Deletes a passkey of the member; returns its name.
pub(crate) fn delete(tx: &Write, member_id: MemberId, passkey_id: PasskeyId) -> Result<Option<String>> {
    let sql = sql!("DELETE FROM passkeys WHERE passkey_id = ?1 AND member_id = ?2 RETURNING name");
    tx.find(sql, (passkey_id, member_id))
}

/// Removes the passkeys that the member made at this moment or later.
pub(crate) fn delete_since(tx: &Write, member_id: MemberId, made_at: Moment) -> Result<usize> {
    tx.run(sql!("DELETE FROM passkeys WHERE member_id = ?1 AND created_at >= ?2"), (member_id, made_at))
}

/// Removes every passkey of the member but these, by their numbers.
pub(crate) fn delete_others(tx: &Write, member_id: MemberId, kept: &[i64]) -> Result<usize> {
    let ids: Vec<i64> = tx.list(sql!("SELECT passkey_id FROM passkeys WHERE member_id = ?1"), [member_id])?;
    let mut removed = 0;
    for id in ids.into_iter().filter(|id| !kept.contains(id)) {
        removed += tx.run(sql!("DELETE FROM passkeys WHERE passkey_id = ?1"), [id])?;
    }
    Ok(removed)
}

pub(crate) fn insert_challenge(tx: &Write, hash: &ChallengeHash, new: &Challenge, ends_at: Moment) -> Result<usize> {
    insert!(tx.run, "INSERT INTO passkey_challenges" Challenge: new, {
        challenge_hash: hash, created_at: tx.now(), ends_at: ends_at
    })
}

pub(crate) fn find_challenge(tx: &Read, hash: &ChallengeHash, now: Moment) -> Result<Option<Challenge>> {
    let sql =
        sql!("SELECT ", Challenge::COLUMNS, " FROM passkey_challenges WHERE challenge_hash = ?1 AND ?2 < ends_at");
    tx.find(sql, (hash, now))
}

/// Uses up a challenge: true for at most one caller.
pub(crate) fn take_challenge(tx: &Write, hash: &ChallengeHash) -> Result<bool> {
    let sql = sql!("DELETE FROM passkey_challenges WHERE challenge_hash = ?1 AND ?2 < ends_at");
    Ok(tx.run(sql, (&hash[..], tx.now()))? == 1)
}

/// Deletes the member's pending challenges.
pub(crate) fn forget_challenges(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM passkey_challenges WHERE member_id = ?1"), [member_id])
}
