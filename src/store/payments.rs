//! Payments, as the processor reports them.

use super::Read;
use rusqlite::{Result, named_params};

#[derive(Debug)]
pub struct Payment {
    pub payment_id: i64,
    pub intent_id: String,
    pub amount_cents: i64,
    pub currency: String,
    pub status: String,
    pub created_at: i64,
    pub updated_at: i64,
}

/// A member's, newest first.
pub fn list(tx: &Read, member_id: i64, limit: i64, offset: i64) -> Result<Vec<Payment>> {
    let sql = "SELECT payment_id, intent_id, amount_cents, currency, status, created_at, updated_at FROM payments
               WHERE member_id = :id ORDER BY payment_id DESC LIMIT :limit OFFSET :offset";
    tx.list(sql, named_params! {":id": member_id, ":limit": limit, ":offset": offset}, |row| {
        Ok(Payment {
            payment_id: row.get(0)?,
            intent_id: row.get(1)?,
            amount_cents: row.get(2)?,
            currency: row.get(3)?,
            status: row.get(4)?,
            created_at: row.get(5)?,
            updated_at: row.get(6)?,
        })
    })
}

pub fn count(tx: &Read, member_id: i64) -> Result<i64> {
    tx.get("SELECT count(*) FROM payments WHERE member_id = ?1", [member_id], |row| row.get(0))
}
