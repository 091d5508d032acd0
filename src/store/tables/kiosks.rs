//! Kiosks and boards, the guests of kiosks, and the codes for pairing and signing in. Only hashes of keys and codes are stored.

use crate::domain::ids::{KioskId, MemberId};
use crate::moment::Moment;
use crate::store::joining::{OPENS, WHO_DID, stays};
use crate::store::personal::{Ahead, Expiry, HASH, OUR_WORD, Rows, Table, not_personal, searched, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// How long a guest stays signed in without a request: a little longer than the page, which signs the guest out.
pub(crate) const GUEST_SECONDS: i64 = GUEST_IDLE_SECONDS + 20;
/// The page signs the guest out after this time without a touch.
pub(crate) const GUEST_IDLE_SECONDS: i64 = 60;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new(
        "kiosks",
        "kiosk_id",
        &[
            not_personal("kind", OUR_WORD),
            searched("name"),
            not_personal("key_hash", "of the screen's own key"),
            not_personal("bound", HASH),
        ],
        &[],
    )
    .joins(&[stays("paired_by", WHO_DID)]),
    Table::new(
        "kiosk_pairings",
        "code_hash",
        &[not_personal("code_hash", HASH), not_personal("kind", OUR_WORD), searched("name")],
        &[],
    )
    .expires(&[Expiry::at("code_hash", "ends_at")])
    .ahead(Ahead::Deleted("ends_at"))
    .joins(&[stays("made_by", WHO_DID)]),
    Table::new("kiosk_guests", "", &[secret("token_hash")], &[Rows::deleted("kiosk", "member_id = :id")])
        .expires(&[Expiry::after("kiosk_id", "seen_at", GUEST_SECONDS)])
        .ahead(Ahead::Deleted("seen_at"))
        .joins(&[stays("member_id", OPENS)]),
    Table::new("kiosk_codes", "", &[secret("code_hash")], &[Rows::deleted("kiosk_codes", "member_id = :id")])
        .expires(&[Expiry::at("member_id", "ends_at")])
        .ahead(Ahead::Deleted("ends_at"))
        .joins(&[stays("member_id", OPENS)]),
];

named! {
    /// What a paired browser is.
    pub(crate) enum Kind {
        /// A screen at which members help themselves.
        Kiosk = "kiosk",
        /// A screen that shows who flies next, and opens nothing.
        Board = "board",
    }
}

row! {
    /// A kiosk as the desk sees it.
    #[derive(Debug)]
    pub(crate) struct Kiosk {
        pub kiosk_id: KioskId,
        pub kind: Kind,
        pub name: String,
        pub paired_at: Moment,
        /// The latest sign-in at the kiosk.
        pub used_at: Moment,
        pub revoked_at: Option<Moment>,
    }
}

row! {
    /// The member who is signed in at a kiosk.
    #[derive(Debug)]
    pub(crate) struct Guest in "g." {
        pub member_id: MemberId,
        pub banned: bool = "m.banned_at IS NOT NULL",
        pub seen_at: Moment,
        token_hash: Vec<u8>,
    }
}

row! {
    /// A code for pairing a kiosk.
    #[derive(Debug)]
    pub(crate) struct Pairing {
        pub kind: Kind,
        pub name: String,
        pub made_by: Option<MemberId>,
    }
}

pub(crate) fn insert_pairing(
    tx: &Write,
    code_hash: &[u8; 32],
    (kind, name): (Kind, &str),
    made_by: Option<MemberId>,
    ends_at: Moment,
) -> Result<usize> {
    insert!(tx.run, "INSERT INTO kiosk_pairings" { code_hash: &code_hash[..], kind: kind.name(), name, made_by, ends_at })
}

/// Deletes the pairing codes that a member of the staff made.
pub(crate) fn delete_pairings_of(tx: &Write, made_by: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM kiosk_pairings WHERE made_by = ?1"), [made_by])
}

/// Uses up a pairing code of this kind, if it is valid.
pub(crate) fn take_pairing(tx: &Write, code_hash: &[u8; 32], kind: Kind) -> Result<Option<Pairing>> {
    let sql = sql!(
        "DELETE FROM kiosk_pairings WHERE code_hash = ?1 AND kind = ?3 AND ?2 < ends_at RETURNING ",
        Pairing::COLUMNS
    );
    tx.find(sql, (&code_hash[..], tx.now(), kind.name()))
}

/// Whether a code of either kind is valid.
pub(crate) fn is_pairing(tx: &Write, code_hash: &[u8; 32]) -> Result<bool> {
    let sql = sql!("SELECT EXISTS (SELECT 1 FROM kiosk_pairings WHERE code_hash = ?1 AND ?2 < ends_at)");
    tx.get(sql, (&code_hash[..], tx.now()))
}

pub(crate) fn insert(tx: &Write, key_hash: &[u8; 32], pairing: &Pairing) -> Result<KioskId> {
    let kiosk_id = insert!(tx.insert, "INSERT INTO kiosks" {
        kind: pairing.kind.name(), name: pairing.name, key_hash: &key_hash[..], paired_by: pairing.made_by, paired_at: tx.now(),
        used_at: tx.now(),
    })
    .map(KioskId)?;
    bind(tx, kiosk_id, key_hash)?;
    Ok(kiosk_id)
}

/// What binds a kiosk's key to its row.
fn key_mark(tx: &Read, kiosk_id: KioskId, key_hash: &[u8; 32]) -> Option<Vec<u8>> {
    tx.binding("kiosks", &[kiosk_id.into()], key_hash).map(Vec::from)
}

fn bind(tx: &Write, kiosk_id: KioskId, key_hash: &[u8; 32]) -> Result<usize> {
    let sql = sql!("UPDATE kiosks SET bound = ?2 WHERE kiosk_id = ?1");
    tx.run(sql, (kiosk_id, key_mark(tx, kiosk_id, key_hash)))
}

/// The screen of this kind with this key.
pub(crate) fn find(tx: &Read, key_hash: &[u8; 32], kind: Kind) -> Result<Option<KioskId>> {
    let sql = sql!("SELECT kiosk_id, bound FROM kiosks WHERE key_hash = ?1 AND kind = ?2");
    let found: Option<(KioskId, Option<Vec<u8>>)> = tx.find(sql, (&key_hash[..], kind.name()))?;
    let is_ours =
        |(kiosk_id, mark): &(KioskId, Option<Vec<u8>>)| mark.is_some() && *mark == key_mark(tx, *kiosk_id, key_hash);
    Ok(found.filter(is_ours).map(|(kiosk_id, _)| kiosk_id))
}

/// Whether the screen's key is in force.
pub(crate) fn is_in_force(tx: &Read, kiosk_id: KioskId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM kiosks WHERE kiosk_id = ?1 AND revoked_at IS NULL)"), [kiosk_id])
}

/// All kiosks and boards, latest first.
pub(crate) fn list(tx: &Read, limit: i64, offset: i64) -> Result<Vec<Kiosk>> {
    let sql = sql!("SELECT ", Kiosk::COLUMNS, " FROM kiosks ORDER BY kiosk_id DESC LIMIT ?1 OFFSET ?2");
    tx.list(sql, (limit, offset))
}

/// The number of kiosks, with the revoked ones.
pub(crate) fn count(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM kiosks"), [])
}

/// Revokes a kiosk's key and signs its guest out; the row stays. Returns 0 where there is no such kiosk in force.
pub(crate) fn revoke(tx: &Write, kiosk_id: KioskId) -> Result<usize> {
    end_guest(tx, kiosk_id)?;
    let sql = sql!("UPDATE kiosks SET key_hash = NULL, revoked_at = ?2 WHERE kiosk_id = ?1 AND revoked_at IS NULL");
    tx.run(sql, (kiosk_id, tx.now()))
}

/// The stored hash of a guest's token, which is good for this kiosk and member alone.
fn guest_mark(tx: &Read, kiosk_id: KioskId, member_id: MemberId, token_hash: &[u8; 32]) -> Vec<u8> {
    tx.binding("kiosk_guests", &[kiosk_id.into(), member_id.into()], token_hash).map(Vec::from).unwrap_or_default()
}

/// Signs a guest in, in place of an earlier one. `token_hash`: the hash of the token in the guest's cookie.
pub(crate) fn set_guest(tx: &Write, kiosk_id: KioskId, member_id: MemberId, token_hash: &[u8; 32]) -> Result<usize> {
    tx.run(sql!("UPDATE kiosks SET used_at = ?2 WHERE kiosk_id = ?1"), (kiosk_id, tx.now()))?;
    insert!(tx.run, "INSERT OR REPLACE INTO kiosk_guests" {
        kiosk_id, member_id, seen_at: tx.now(), token_hash: guest_mark(tx, kiosk_id, member_id, token_hash),
    })
}

/// The member who is signed in at the kiosk by this token, was seen there after `seen` and signed in after `entered`.
pub(crate) fn find_guest(
    tx: &Read,
    kiosk_id: KioskId,
    token_hash: &[u8; 32],
    (seen, entered): (Moment, Moment),
) -> Result<Option<Guest>> {
    let sql = sql!(
        "SELECT ",
        Guest::COLUMNS,
        " FROM kiosk_guests g JOIN members m ON m.member_id = g.member_id JOIN kiosks k ON k.kiosk_id = g.kiosk_id
          WHERE g.kiosk_id = ?1 AND g.seen_at > ?2 AND k.used_at > ?3 AND g.token_hash <> x''"
    );
    let found: Option<Guest> = tx.find(sql, (kiosk_id, seen, entered))?;
    Ok(found.filter(|found| found.token_hash == guest_mark(tx, kiosk_id, found.member_id, token_hash)))
}

/// Whether the member is signed in at the kiosk and was seen there after `since`.
pub(crate) fn is_guest(tx: &Read, kiosk_id: KioskId, member_id: MemberId, since: Moment) -> Result<bool> {
    let sql =
        sql!("SELECT EXISTS (SELECT 1 FROM kiosk_guests WHERE kiosk_id = ?1 AND member_id = ?2 AND seen_at > ?3)");
    tx.get(sql, (kiosk_id, member_id, since))
}

pub(crate) fn touch_guest(tx: &Write, kiosk_id: KioskId) -> Result<usize> {
    tx.run(sql!("UPDATE kiosk_guests SET seen_at = max(seen_at, ?2) WHERE kiosk_id = ?1"), (kiosk_id, tx.now()))
}

pub(crate) fn end_guest(tx: &Write, kiosk_id: KioskId) -> Result<usize> {
    tx.run(sql!("DELETE FROM kiosk_guests WHERE kiosk_id = ?1"), [kiosk_id])
}

/// Signs the member out at every kiosk, and deletes the member's code.
pub(crate) fn end_of_member(tx: &Write, member_id: MemberId) -> Result<()> {
    tx.run(sql!("DELETE FROM kiosk_guests WHERE member_id = ?1"), [member_id])?;
    tx.run(sql!("DELETE FROM kiosk_codes WHERE member_id = ?1"), [member_id])?;
    Ok(())
}

/// Sets the member's sign-in code.
pub(crate) fn set_code(tx: &Write, member_id: MemberId, code_hash: &[u8; 32], ends_at: Moment) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO kiosk_codes" { member_id, code_hash: &code_hash[..], ends_at })
}

/// Uses up a sign-in code, if it is valid; returns the member.
pub(crate) fn take_code(tx: &Write, code_hash: &[u8; 32]) -> Result<Option<MemberId>> {
    let sql = sql!("DELETE FROM kiosk_codes WHERE code_hash = ?1 AND ?2 < ends_at RETURNING member_id");
    tx.find(sql, (&code_hash[..], tx.now()))
}
