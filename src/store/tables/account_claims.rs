//! The codes by which owners claim accounts that the desk made, and the registrations at the desk. Only keyed hashes of
//! the codes are stored.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{ITS_OWN, OPENS, WHO_DID, stays};
use crate::store::personal::{Ahead, Expiry, NUMBERS, Rows, Table, deleted, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new(
        "account_claims",
        "",
        &[secret("code_hash"), deleted("email")],
        &[Rows::deleted("account_codes", "member_id = :id")],
    )
    .expires(&[Expiry::at("code_hash", "ends_at")])
    .ahead(Ahead::Deleted("created_at"))
    .joins(&[stays("member_id", OPENS)]),
    Table::new(
        "registrations",
        "",
        &[],
        &[
            Rows::deleted("registration", "member_id = :id"),
            Rows::others("registrations_made_for_others", "registered_by = :id AND member_id <> :id", NUMBERS)
                .only(&["registered_at"]),
        ],
    )
    .joins(&[stays("member_id", ITS_OWN), stays("registered_by", WHO_DID)]),
];

row! {
    /// A valid code for an unclaimed account.
    #[derive(Debug)]
    pub(crate) struct Claim in "c." {
        pub(crate) member_id: MemberId,
        /// The address to which the code was mailed; empty: the code was printed.
        pub(crate) email: String,
    }
}

/// Adds a code. `ends_at`: when the code expires; Unix seconds.
pub(crate) fn insert(
    tx: &Write,
    code_hash: &[u8; 32],
    member_id: MemberId,
    email: &str,
    ends_at: Moment,
) -> Result<usize> {
    insert!(tx.run, "INSERT INTO account_claims" {
        code_hash: &code_hash[..], member_id, email, created_at: tx.now(), ends_at,
    })
}

/// Finds a valid code: not expired, not mailed to an address that the member has changed since, and of an account that
/// is [unclaimed](is_unclaimed).
pub(crate) fn find(tx: &Read, code_hash: &[u8; 32], now: Moment) -> Result<Option<Claim>> {
    let sql = sql!(
        "SELECT ",
        Claim::COLUMNS,
        " FROM account_claims c JOIN members m ON m.member_id = c.member_id
         WHERE c.code_hash = ?1 AND ?2 < c.ends_at AND (c.email = '' OR c.email = m.email)"
    );
    let claim: Option<Claim> = tx.find(sql, (&code_hash[..], now))?;
    Ok(match claim {
        Some(claim) if is_unclaimed(tx, claim.member_id)? => Some(claim),
        _ => None,
    })
}

/// Whether an account is unclaimed: it has neither a password nor a passkey nor a social link, and is not banned.
pub(crate) fn is_unclaimed(tx: &Read, member_id: MemberId) -> Result<bool> {
    let sql = sql!(
        "SELECT count(*) FROM members WHERE member_id = ?1 AND password_hash IS NULL AND banned_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM passkeys p WHERE p.member_id = ?1)
           AND NOT EXISTS (SELECT 1 FROM social_links s WHERE s.member_id = ?1)"
    );
    Ok(tx.get::<i64>(sql, [member_id])? > 0)
}

/// When the member's mailed code expires; `None`: there is no valid one.
pub(crate) fn find_mailed(tx: &Read, member_id: MemberId, now: Moment) -> Result<Option<Moment>> {
    let sql = sql!("SELECT max(ends_at) FROM account_claims WHERE member_id = ?1 AND email <> '' AND ?2 < ends_at");
    tx.get(sql, (member_id, now))
}

pub(crate) fn delete_of_member(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM account_claims WHERE member_id = ?1"), [member_id])
}

/// Deletes the member's printed codes, so that an earlier printout is not valid any more.
pub(crate) fn delete_printed(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM account_claims WHERE member_id = ?1 AND email = ''"), [member_id])
}

/// Records that a form of the desk made a member.
pub(crate) fn insert_registration(
    tx: &Write,
    form_number: i64,
    member_id: MemberId,
    clerk: Option<MemberId>,
) -> Result<usize> {
    insert!(tx.run, "INSERT INTO registrations" {
        form_number, member_id, registered_by: clerk, registered_at: tx.now(),
    })
}

/// The member that a form made.
pub(crate) fn find_registered(tx: &Read, form_number: i64) -> Result<Option<MemberId>> {
    tx.find(sql!("SELECT member_id FROM registrations WHERE form_number = ?1"), [form_number])
}

row! {
    /// A member who may be the same person.
    #[derive(Debug, Clone)]
    pub(crate) struct Alike {
        pub(crate) member_id: MemberId,
        pub(crate) name: String = "coalesce(nullif(real_name, ''), nullif(screen_name, ''), username)",
        pub(crate) email: String,
        pub(crate) email_confirmed: bool = "email_confirmed_at IS NOT NULL",
    }
}

/// Members with this e-mail address, those who confirmed it first.
pub(crate) fn list_with_email(tx: &Read, email: &str, limit: i64) -> Result<Vec<Alike>> {
    let sql = sql!(
        "SELECT ",
        Alike::COLUMNS,
        " FROM members WHERE email = ?1 AND email <> '' ORDER BY email_confirmed_at IS NULL, member_id LIMIT ?2"
    );
    tx.list(sql, (email, limit))
}

/// The member of a number.
pub(crate) fn find_alike(tx: &Read, member_id: MemberId) -> Result<Option<Alike>> {
    tx.find(sql!("SELECT ", Alike::COLUMNS, " FROM members WHERE member_id = ?1"), [member_id])
}

/// Members born on this day.
pub(crate) fn list_born(tx: &Read, dob: Moment, limit: i64) -> Result<Vec<Alike>> {
    let sql = sql!("SELECT ", Alike::COLUMNS, " FROM members WHERE dob = ?1 ORDER BY member_id LIMIT ?2");
    tx.list(sql, (dob, limit))
}

/// Members with this telephone number, which the search index finds by its digits.
pub(crate) fn list_with_phone(tx: &Read, phone: &str, limit: i64) -> Result<Vec<Alike>> {
    let sql = sql!(
        "SELECT ",
        Alike::COLUMNS,
        " FROM members WHERE phone = ?1 AND member_id IN (SELECT rowid FROM members_search WHERE members_search MATCH ?2)
          ORDER BY member_id LIMIT ?3"
    );
    tx.list(sql, (phone, format!("\"{}\"", phone.trim_start_matches('+')), limit))
}
