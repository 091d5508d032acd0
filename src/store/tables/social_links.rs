//! Links between members and their accounts at social networks.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{OUR_WORD, Rows, Table, deleted, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "social_links",
    "",
    &[not_personal("provider", OUR_WORD), deleted("subject"), deleted("name")],
    &[Rows::deleted("social_links", "member_id = :id")],
)
.joins(&[stays("member_id", OPENS)])];

/// The member of this link; records its use.
pub(crate) fn find_for_use(tx: &Write, provider: &str, subject: &str) -> Result<Option<MemberId>> {
    let sql = sql!(
        "UPDATE social_links SET used_at = :now WHERE provider = :provider AND subject = :subject RETURNING member_id"
    );
    tx.find(sql, named_params! {":provider": provider, ":subject": subject, ":now": tx.now()})
}

/// The member of this link.
pub(crate) fn find(tx: &Read, provider: &str, subject: &str) -> Result<Option<MemberId>> {
    let sql = sql!("SELECT member_id FROM social_links WHERE provider = ?1 AND subject = ?2");
    tx.find(sql, (provider, subject))
}

/// Adds a link. `name`: the network's name for the person, where the member took it over; empty otherwise.
pub fn insert(tx: &Write, provider: &str, subject: &str, member_id: MemberId, name: &str) -> Result<usize> {
    insert!(tx.run, "INSERT INTO social_links" {
        provider, subject, member_id, created_at: tx.now(), used_at: tx.now(), name,
    })
}

/// Deletes a link; returns the member, and the name that came with the link.
pub(crate) fn delete(tx: &Write, provider: &str, subject: &str) -> Result<Option<(MemberId, String)>> {
    let sql = sql!("DELETE FROM social_links WHERE provider = ?1 AND subject = ?2 RETURNING member_id, name");
    tx.find(sql, (provider, subject))
}

/// Removes the links that the member made at this moment or later.
pub(crate) fn delete_since(tx: &Write, member_id: MemberId, made_at: Moment) -> Result<usize> {
    tx.run(sql!("DELETE FROM social_links WHERE member_id = ?1 AND created_at >= ?2"), (member_id, made_at))
}

/// Removes every link of the member but those to these networks.
pub(crate) fn delete_others(tx: &Write, member_id: MemberId, kept: &[String]) -> Result<usize> {
    let sql = sql!("SELECT provider, subject FROM social_links WHERE member_id = ?1");
    let links: Vec<(String, String)> = tx.list(sql, [member_id])?;
    let mut removed = 0;
    for (provider, subject) in links.into_iter().filter(|(provider, _)| !kept.contains(provider)) {
        removed +=
            tx.run(sql!("DELETE FROM social_links WHERE provider = ?1 AND subject = ?2"), (provider, subject))?;
    }
    Ok(removed)
}
