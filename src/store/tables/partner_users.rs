//! The user records of partners. Every statement names the partner, so that no partner sees another's records.

use super::joins;
use crate::domain::ids::{MemberId, PartnerId};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::personal::{Rows, Table, emptied};
use crate::store::{Read, Write, is_taken};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "partner_users",
    "",
    &[emptied("email")],
    &[Rows::emptied(
        "partner_records",
        concat!("email IN ", spellings!()),
        "deleted_at = coalesce(deleted_at, :now), updated_at = :now",
        "the partner's history counts it; without the address it is nobody's",
    )],
)];

row! {
    #[derive(Debug)]
    pub(crate) struct PartnerUser in "u." {
        pub id: i64 = "u.user_id",
        pub email: String,
        /// The member who confirmed this address, or into whose account that one was joined.
        pub member_id: Option<MemberId> = "m.member_id",
        pub created_at: Moment,
        pub updated_at: Moment,
    }
}

const USER: &str = joined!(
    "SELECT ",
    PartnerUser::COLUMNS,
    " FROM partner_users u LEFT JOIN members m ON m.email = u.email AND m.email_confirmed_at IS NOT NULL WHERE u.partner_id = :partner_id AND u.deleted_at IS NULL"
);

pub(crate) fn insert(tx: &Write, partner_id: PartnerId, email: &str) -> std::result::Result<i64, Failure> {
    insert!(tx.insert, "INSERT INTO partner_users" {
        partner_id, email, created_at: tx.now(), updated_at: tx.now(),
    })
    .map_err(email_conflict)
}

/// Changes the address; returns the number of changed rows, 0 where the partner has no such record.
pub(crate) fn update(tx: &Write, partner_id: PartnerId, id: i64, email: &str) -> std::result::Result<usize, Failure> {
    let sql = sql!(
        "UPDATE partner_users SET email = :email, updated_at = :now
               WHERE user_id = :id AND partner_id = :partner_id AND deleted_at IS NULL"
    );
    tx.run(sql, named_params! {":email": email, ":now": tx.now(), ":id": id, ":partner_id": partner_id})
        .map_err(email_conflict)
}

fn email_conflict(error: rusqlite::Error) -> Failure {
    if is_taken(&error) { Failure::email_taken() } else { error.into() }
}

pub(crate) fn delete(tx: &Write, partner_id: PartnerId, id: i64) -> Result<usize> {
    let sql = sql!(
        "UPDATE partner_users SET deleted_at = :now WHERE user_id = :id AND partner_id = :partner_id AND deleted_at IS NULL"
    );
    tx.run(sql, named_params! {":now": tx.now(), ":id": id, ":partner_id": partner_id})
}

pub(crate) fn find(tx: &Read, partner_id: PartnerId, id: i64) -> Result<Option<PartnerUser>> {
    let sql = sql!(USER, " AND u.user_id = :id");
    tx.find(sql, named_params! {":partner_id": partner_id, ":id": id})?.map(|user| led(tx, user)).transpose()
}

/// A partner's records, newest first.
pub(crate) fn list(tx: &Read, partner_id: PartnerId, limit: i64, offset: i64) -> Result<Vec<PartnerUser>> {
    let sql = sql!(USER, " ORDER BY u.user_id DESC LIMIT :limit OFFSET :offset");
    let users = tx.list(sql, named_params! {":partner_id": partner_id, ":limit": limit, ":offset": offset})?;
    users.into_iter().map(|user| led(tx, user)).collect()
}

/// The record of an account that was joined into another one leads to that other.
fn led(tx: &Read, user: PartnerUser) -> Result<PartnerUser> {
    let member_id = user.member_id.map(|member_id| joins::survivor_of(tx, member_id)).transpose()?;
    Ok(PartnerUser { member_id, ..user })
}

/// The number of a partner's records, which triggers keep, because counting very many rows takes long.
pub(crate) fn count(tx: &Read, partner_id: PartnerId) -> Result<i64> {
    tx.get(sql!("SELECT coalesce(sum(users), 0) FROM partners WHERE partner_id = ?1"), [partner_id])
}

row! {
    /// A record that the partner deleted.
    #[derive(Debug)]
    pub(crate) struct Deleted in "u." {
        pub id: i64 = "u.user_id",
        pub email: String,
        pub deleted_at: Moment,
        /// Whether the partner has made a new record of the same address since.
        pub replaced: bool = "EXISTS (SELECT 1 FROM partner_users v WHERE v.partner_id = u.partner_id AND v.email = u.email AND v.deleted_at IS NULL)",
    }
}

/// A partner's deleted records, latest first, without those of erased members, which have no address any more.
pub(crate) fn list_deleted(tx: &Read, partner_id: PartnerId, limit: i64, offset: i64) -> Result<Vec<Deleted>> {
    let sql = sql!(
        "SELECT ",
        Deleted::COLUMNS,
        " FROM partner_users u WHERE u.partner_id = ?1 AND u.deleted_at IS NOT NULL AND u.email <> ''
               ORDER BY u.deleted_at DESC, u.user_id DESC LIMIT ?2 OFFSET ?3"
    );
    tx.list(sql, (partner_id, limit, offset))
}

/// A partner's deleted records whose address has no new record, latest first.
pub(crate) fn list_restorable(tx: &Read, partner_id: PartnerId, limit: i64) -> Result<Vec<Deleted>> {
    let sql = sql!(
        "SELECT ",
        Deleted::COLUMNS,
        " FROM partner_users u WHERE u.partner_id = ?1 AND u.deleted_at IS NOT NULL AND u.email <> ''
               AND NOT EXISTS (SELECT 1 FROM partner_users v
                               WHERE v.partner_id = u.partner_id AND v.email = u.email AND v.deleted_at IS NULL)
               ORDER BY u.deleted_at DESC, u.user_id DESC LIMIT ?2"
    );
    tx.list(sql, (partner_id, limit))
}

/// Restores a deleted record; returns the number of changed rows. Refuses one whose address has a new record; a
/// record without an address is not restored.
pub(crate) fn restore(tx: &Write, partner_id: PartnerId, id: i64) -> std::result::Result<usize, Failure> {
    let sql = sql!(
        "UPDATE partner_users SET deleted_at = NULL, updated_at = :now
               WHERE user_id = :id AND partner_id = :partner_id AND deleted_at IS NOT NULL AND email <> ''"
    );
    tx.run(sql, named_params! {":now": tx.now(), ":id": id, ":partner_id": partner_id}).map_err(email_conflict)
}

/// Whether the partner has a record of this address.
pub(crate) fn has(tx: &Read, partner_id: PartnerId, email: &str) -> Result<bool> {
    let sql =
        sql!("SELECT EXISTS (SELECT 1 FROM partner_users WHERE partner_id = ?1 AND email = ?2 AND deleted_at IS NULL)");
    tx.get(sql, (partner_id, email))
}
