//! The user records that a partner keeps with us. Every statement names the partner: a record of another is not there.

use crate::http::failure::Failure;
use crate::store::{Read, Write, is_taken};
use rusqlite::{Result, Row, named_params};
use std::sync::LazyLock;

#[derive(Debug)]
pub struct PartnerUser {
    pub id: i64,
    pub email: String,
    /// The member who confirmed this address.
    pub member_id: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

const USER: &str = "SELECT u.user_id, u.email, m.member_id, u.created_at, u.updated_at
                    FROM partner_users u LEFT JOIN members m ON m.email = u.email AND m.email_confirmed_at IS NOT NULL
                    WHERE u.partner_id = :partner_id AND u.deleted_at IS NULL";

fn user(row: &Row) -> Result<PartnerUser> {
    Ok(PartnerUser {
        id: row.get(0)?,
        email: row.get(1)?,
        member_id: row.get(2)?,
        created_at: row.get(3)?,
        updated_at: row.get(4)?,
    })
}

pub fn insert(tx: &Write, partner_id: i64, email: &str) -> std::result::Result<i64, Failure> {
    let sql = "INSERT INTO partner_users (partner_id, email, created_at, updated_at) VALUES (:partner_id, :email, :now, :now)";
    tx.insert(sql, named_params! {":partner_id": partner_id, ":email": email, ":now": tx.now()}).map_err(email_conflict)
}

/// How many rows changed: none when the partner has no such record.
pub fn update(tx: &Write, partner_id: i64, id: i64, email: &str) -> std::result::Result<usize, Failure> {
    let sql = "UPDATE partner_users SET email = :email, updated_at = :now
               WHERE user_id = :id AND partner_id = :partner_id AND deleted_at IS NULL";
    tx.run(sql, named_params! {":email": email, ":now": tx.now(), ":id": id, ":partner_id": partner_id})
        .map_err(email_conflict)
}

fn email_conflict(error: rusqlite::Error) -> Failure {
    if is_taken(&error) { Failure::email_taken() } else { error.into() }
}

pub fn delete(tx: &Write, partner_id: i64, id: i64) -> Result<usize> {
    let sql = "UPDATE partner_users SET deleted_at = :now WHERE user_id = :id AND partner_id = :partner_id AND deleted_at IS NULL";
    tx.run(sql, named_params! {":now": tx.now(), ":id": id, ":partner_id": partner_id})
}

pub fn find(tx: &Read, partner_id: i64, id: i64) -> Result<Option<PartnerUser>> {
    static SQL: LazyLock<String> = LazyLock::new(|| format!("{USER} AND u.user_id = :id"));
    tx.find(&SQL, named_params! {":partner_id": partner_id, ":id": id}, user)
}

/// Newest first.
pub fn list(tx: &Read, partner_id: i64, limit: i64, offset: i64) -> Result<Vec<PartnerUser>> {
    let sql = format!("{USER} ORDER BY u.user_id DESC LIMIT :limit OFFSET :offset");
    tx.list(&sql, named_params! {":partner_id": partner_id, ":limit": limit, ":offset": offset}, user)
}

pub fn count(tx: &Read, partner_id: i64) -> Result<i64> {
    tx.get("SELECT count(*) FROM partner_users WHERE partner_id = ?1 AND deleted_at IS NULL", [partner_id], |row| {
        row.get(0)
    })
}

/// A record that the partner deleted.
#[derive(Debug)]
pub struct Deleted {
    pub id: i64,
    pub email: String,
    pub deleted_at: i64,
    /// Whether the partner has made a new record of the same address since.
    pub replaced: bool,
}

/// What a partner deleted, latest first.
pub fn list_deleted(tx: &Read, partner_id: i64, limit: i64) -> Result<Vec<Deleted>> {
    let sql = "SELECT u.user_id, u.email, u.deleted_at,
                      EXISTS (SELECT 1 FROM partner_users v WHERE v.partner_id = u.partner_id AND v.email = u.email AND v.deleted_at IS NULL)
               FROM partner_users u WHERE u.partner_id = ?1 AND u.deleted_at IS NOT NULL
               ORDER BY u.deleted_at DESC, u.user_id DESC LIMIT ?2";
    tx.list(sql, (partner_id, limit), |row| {
        Ok(Deleted { id: row.get(0)?, email: row.get(1)?, deleted_at: row.get(2)?, replaced: row.get(3)? })
    })
}

/// How many rows came back: none where the partner deleted no such record. Refuses one whose address has a new record.
pub fn restore(tx: &Write, partner_id: i64, id: i64) -> std::result::Result<usize, Failure> {
    let sql = "UPDATE partner_users SET deleted_at = NULL, updated_at = :now
               WHERE user_id = :id AND partner_id = :partner_id AND deleted_at IS NOT NULL";
    tx.run(sql, named_params! {":now": tx.now(), ":id": id, ":partner_id": partner_id}).map_err(email_conflict)
}

/// Whether the partner has a record of this address.
pub fn has(tx: &Read, partner_id: i64, email: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM partner_users WHERE partner_id = ?1 AND email = ?2 AND deleted_at IS NULL)";
    tx.get(sql, (partner_id, email), |row| row.get(0))
}
