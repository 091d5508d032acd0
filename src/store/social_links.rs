//! Accounts at social networks, and whose they are here.

use super::Write;
use rusqlite::{Result, named_params};

/// The member of this link, which counts as used now.
pub fn find_for_use(tx: &Write, provider: &str, subject: &str) -> Result<Option<i64>> {
    let sql =
        "UPDATE social_links SET used_at = :now WHERE provider = :provider AND subject = :subject RETURNING member_id";
    tx.find(sql, named_params! {":provider": provider, ":subject": subject, ":now": tx.now()}, |row| row.get(0))
}

pub fn insert(tx: &Write, provider: &str, subject: &str, member_id: i64) -> Result<usize> {
    let sql = "INSERT INTO social_links (provider, subject, member_id, created_at, used_at)
               VALUES (:provider, :subject, :id, :now, :now)";
    tx.run(sql, named_params! {":provider": provider, ":subject": subject, ":id": member_id, ":now": tx.now()})
}
