//! Accounts at social networks, and whose they are here.

use crate::store::Write;
use rusqlite::{Result, named_params};

/// The member of this link, which counts as used now.
pub fn find_for_use(tx: &Write, provider: &str, subject: &str) -> Result<Option<i64>> {
    let sql =
        "UPDATE social_links SET used_at = :now WHERE provider = :provider AND subject = :subject RETURNING member_id";
    tx.find(sql, named_params! {":provider": provider, ":subject": subject, ":now": tx.now()}, |row| row.get(0))
}

/// `name`: the one that came with it and is the member's now, or nothing.
pub fn insert(tx: &Write, provider: &str, subject: &str, member_id: i64, name: &str) -> Result<usize> {
    let sql = "INSERT INTO social_links (provider, subject, member_id, created_at, used_at, name)
               VALUES (:provider, :subject, :id, :now, :now, :name)";
    tx.run(
        sql,
        named_params! {":provider": provider, ":subject": subject, ":id": member_id, ":now": tx.now(), ":name": name},
    )
}

/// Removes a link; whose it was, and the name that had come with it.
pub fn delete(tx: &Write, provider: &str, subject: &str) -> Result<Option<(i64, String)>> {
    let sql = "DELETE FROM social_links WHERE provider = ?1 AND subject = ?2 RETURNING member_id, name";
    tx.find(sql, (provider, subject), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Removes the links that the member made at this moment or later.
pub fn delete_since(tx: &Write, member_id: i64, made_at: i64) -> Result<usize> {
    tx.run("DELETE FROM social_links WHERE member_id = ?1 AND created_at >= ?2", (member_id, made_at))
}

/// Removes every link of the member but those to these networks.
pub fn delete_others(tx: &Write, member_id: i64, kept: &[String]) -> Result<usize> {
    let sql = "SELECT provider, subject FROM social_links WHERE member_id = ?1";
    let links: Vec<(String, String)> = tx.list(sql, [member_id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut removed = 0;
    for (provider, subject) in links.into_iter().filter(|(provider, _)| !kept.contains(provider)) {
        removed += tx.run("DELETE FROM social_links WHERE provider = ?1 AND subject = ?2", (provider, subject))?;
    }
    Ok(removed)
}
