//! Bans, which are columns of their members; those of erased members are kept under a hash of their addresses until they end.

use super::audit;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::personal::{Ahead, Expiry, HASH, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::nobodys("kept_bans", &[not_personal("address_hash", HASH)])
    .expires(&[Expiry::at("address_hash", "ends_at")])
    .ahead(Ahead::BeginNow("banned_at"))];

/// Sets the moment of a ban, in Unix seconds; `None` lifts the ban. Clears the end and the reason of an earlier one.
pub fn set(tx: &Write, member_id: MemberId, banned_at: Option<Moment>) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET banned_at = :banned_at, banned_until = NULL, ban_reason = '', updated_at = :now WHERE member_id = :id"
    );
    tx.run(sql, named_params! {":banned_at": banned_at, ":now": tx.now(), ":id": member_id})
}

row! {
    /// The terms of a ban. Moments in Unix seconds.
    #[derive(Debug)]
    pub(crate) struct Ban {
        /// The last second of the ban, that of a day; `None`: it has none, and a clerk must lift it.
        pub banned_until: Option<Moment>,
        pub ban_reason: String,
    }
}

pub(crate) fn find(tx: &Read, member_id: MemberId) -> Result<Option<Ban>> {
    let sql = sql!("SELECT ", Ban::COLUMNS, " FROM members WHERE member_id = ?1 AND banned_at IS NOT NULL");
    tx.find(sql, [member_id])
}

/// Sets the end (`None`: none) and the reason of a ban, where the account is banned.
pub(crate) fn set_terms(tx: &Write, member_id: MemberId, until: Option<Moment>, reason: &str) -> Result<usize> {
    let sql =
        sql!("UPDATE members SET banned_until = ?2, ban_reason = ?3 WHERE member_id = ?1 AND banned_at IS NOT NULL");
    tx.run(sql, (member_id, until, reason))
}

/// The members whose ban has ended by `now` and is not lifted yet.
pub(crate) fn list_ended(tx: &Read, now: Moment) -> Result<Vec<MemberId>> {
    tx.list(sql!("SELECT member_id FROM members WHERE banned_until < ?1 AND banned_at IS NOT NULL"), [now])
}

/// The keyed hash under which a ban is kept; `None` in a database that was opened without its key.
fn address_hash(tx: &Read, address: &str) -> Option<[u8; 32]> {
    tx.binding("kept_bans", &[], address.to_lowercase().as_bytes())
}

row! {
    struct Confirmed {
        email: Option<String> = "iif(email_confirmed_at IS NULL OR email = '', NULL, email)",
        phone: Option<String> = "iif(phone_confirmed_at IS NULL OR phone = '', NULL, phone)",
        banned_at: Option<Moment>,
        banned_until: Option<Moment>,
    }
}

fn find_confirmed(tx: &Read, member_id: MemberId) -> Result<Option<Confirmed>> {
    tx.find(sql!("SELECT ", Confirmed::COLUMNS, " FROM members WHERE member_id = ?1"), [member_id])
}

/// Keeps the ban of a member who is about to be erased, if there is one, under the hash of each confirmed address.
pub(crate) fn keep(tx: &Write, member_id: MemberId) -> Result<()> {
    let Some(found) = find_confirmed(tx, member_id)? else { return Ok(()) };
    let Some(banned_at) = found.banned_at else { return Ok(()) };
    for hash in [found.email, found.phone].into_iter().flatten().filter_map(|address| address_hash(tx, &address)) {
        insert!(tx.run, "INSERT OR REPLACE INTO kept_bans" {
            address_hash: &hash[..], banned_at, ends_at: found.banned_until,
        })?;
    }
    Ok(())
}

/// Bans a member whose confirmed address has a kept ban, on the same terms; the ban is the account's own from then on.
pub(crate) fn renew_kept(tx: &Write, member_id: MemberId) -> Result<()> {
    let Some(found) = find_confirmed(tx, member_id)? else { return Ok(()) };
    for hash in [found.email, found.phone].into_iter().flatten().filter_map(|address| address_hash(tx, &address)) {
        let sql = sql!("DELETE FROM kept_bans WHERE address_hash = ?1 RETURNING banned_at, ends_at");
        let Some((banned_at, ends_at)) = tx.find::<(Moment, Option<Moment>)>(sql, [&hash[..]])? else { continue };
        if found.banned_at.is_none() && ends_at.is_none_or(|end| tx.now() <= end) {
            set(tx, member_id, Some(banned_at))?;
            set_terms(tx, member_id, ends_at, "")?;
            let detail = Detail::none().flag("kept", true);
            audit::insert(tx, &Actor::job("bans"), "member.banned", &Subject::Member(member_id), &detail)?;
        }
    }
    Ok(())
}
