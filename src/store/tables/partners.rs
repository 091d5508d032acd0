//! Partner clients, their secrets, networks and used signatures.

use crate::domain::ids::PartnerId;
use crate::http::failure::Failure;
use crate::keys::{Keys, columns};
use crate::moment::Moment;
use crate::store::personal::{Ahead, Expiry, HASH, Table, not_personal};
use crate::store::{Read, Write, is_taken};
use rusqlite::{Result, named_params};

/// How far the time of a signed request may be from ours. A signature is kept until no time of its own is near enough.
pub(crate) const TIMESTAMP_SECONDS: i64 = 300;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::nobodys("partners", &[not_personal("client_id", "a company's"), not_personal("name", "a company's")]),
    Table::nobodys("partner_secrets", &[not_personal("sealed", "a company's")]),
    Table::nobodys("partner_networks", &[not_personal("network", "a company's")]),
    Table::nobodys(
        "partner_signatures",
        &[not_personal("signature", "a company's, of a request"), not_personal("request_digest", HASH)],
    )
    .expires(&[Expiry::after("partner_id, signature", "used_at", 2 * TIMESTAMP_SECONDS + 1)])
    .ahead(Ahead::Deleted("used_at")),
];

row! {
    /// A partner client.
    #[derive(Debug)]
    pub struct Partner in "p." {
        /// The partner's number.
        pub partner_id: PartnerId,
        /// The partner's public name in requests.
        pub client_id: String,
        /// The name that the desk sees.
        pub name: String,
        /// Whether a signature must cover the time, and is valid only once.
        pub strict: bool,
        /// Requests a minute that the partner may send; `None`: any number.
        pub requests_per_minute: Option<i64>,
        /// When the partner was added, in Unix seconds.
        pub created_at: Moment,
        /// When the partner was revoked, in Unix seconds; `None`: in force.
        pub revoked_at: Option<Moment>,
    }
}

row! {
    /// A sealed secret that verifies requests.
    #[derive(Debug)]
    pub(crate) struct Secret in "s." {
        pub partner: Partner = Partner::COLUMNS,
        pub secret_id: i64,
        sealed: Vec<u8>,
        pub created_at: Moment,
    }
}

impl Secret {
    /// The secret itself; `None`: it is damaged, or another row's.
    pub(crate) fn open(&self, keys: &Keys) -> Option<Vec<u8>> {
        let place = columns::PARTNER_SECRET.at([self.secret_id.into(), self.partner.partner_id.into()]);
        keys.unseal_partner_secret(&place, &self.sealed)
    }
}

/// Adds a partner without a secret; returns its number. 409 where the `client_id` is taken.
pub fn insert(
    tx: &Write,
    client_id: &str,
    name: &str,
    strict: bool,
    requests_per_minute: Option<i64>,
) -> std::result::Result<PartnerId, Failure> {
    insert!(tx.insert, "INSERT INTO partners" {
        client_id, name, strict, requests_per_minute, created_at: tx.now(),
    })
    .map(PartnerId)
    .map_err(|e| if is_taken(&e) { Failure::exists() } else { e.into() })
}

/// Allows the partner to call from a network, as CIDR.
pub fn insert_network(tx: &Write, partner_id: PartnerId, network: &str) -> Result<usize> {
    insert!(tx.run, "INSERT OR IGNORE INTO partner_networks" { partner_id, network })
}

/// Adds a secret in force from now on; returns its number.
pub fn insert_secret(tx: &Write, keys: &Keys, partner_id: PartnerId, secret: &[u8]) -> Result<i64> {
    let secret_id = tx.next_number("partner_secrets")?;
    let sealed = keys.seal(&columns::PARTNER_SECRET.at([secret_id.into(), partner_id.into()]), secret);
    insert!(tx.insert, "INSERT INTO partner_secrets" { secret_id, partner_id, sealed, created_at: tx.now() })
}

/// Ends every secret of the partner at a moment; earlier ends stay.
pub fn end_secrets(tx: &Write, partner_id: PartnerId, ends_at: Moment) -> Result<usize> {
    let sql =
        sql!("UPDATE partner_secrets SET ends_at = min(coalesce(ends_at, :ends_at), :ends_at) WHERE partner_id = :id");
    tx.run(sql, named_params! {":ends_at": ends_at, ":id": partner_id})
}

/// Ends all secrets in force but the newest now, so that with the next one at most two are in force.
pub(crate) fn end_older_secrets(tx: &Write, partner_id: PartnerId) -> Result<usize> {
    let sql = sql!(
        "UPDATE partner_secrets SET ends_at = :now WHERE partner_id = :id AND coalesce(ends_at, :now + 1) > :now
               AND secret_id < (SELECT max(secret_id) FROM partner_secrets WHERE partner_id = :id)"
    );
    tx.run(sql, named_params! {":now": tx.now(), ":id": partner_id})
}

/// Revokes a partner and its secrets, for good.
pub fn revoke(tx: &Write, partner_id: PartnerId) -> Result<usize> {
    end_secrets(tx, partner_id, tx.now())?;
    tx.run(
        sql!("UPDATE partners SET revoked_at = coalesce(revoked_at, ?2) WHERE partner_id = ?1"),
        (partner_id, tx.now()),
    )
}

/// The partner of a `client_id`, revoked or not.
pub fn find(tx: &Read, client_id: &str) -> Result<Option<Partner>> {
    tx.find(sql!("SELECT ", Partner::COLUMNS, " FROM partners p WHERE p.client_id = ?1"), [client_id])
}

pub(crate) fn find_by_id(tx: &Read, partner_id: PartnerId) -> Result<Option<Partner>> {
    tx.find(sql!("SELECT ", Partner::COLUMNS, " FROM partners p WHERE p.partner_id = ?1"), [partner_id])
}

pub(crate) fn set_terms(
    tx: &Write,
    partner_id: PartnerId,
    strict: bool,
    requests_per_minute: Option<i64>,
) -> Result<usize> {
    let sql = sql!("UPDATE partners SET strict = ?2, requests_per_minute = ?3 WHERE partner_id = ?1");
    tx.run(sql, (partner_id, strict, requests_per_minute))
}

pub(crate) fn delete_networks(tx: &Write, partner_id: PartnerId) -> Result<usize> {
    tx.run(sql!("DELETE FROM partner_networks WHERE partner_id = ?1"), [partner_id])
}

row! {
    /// The times of a secret in force.
    #[derive(Debug)]
    pub(crate) struct Span {
        pub created_at: Moment,
        /// When the secret ends; `None`: no end is set yet.
        pub ends_at: Option<Moment>,
    }
}

/// The times of a partner's secrets that are in force, newest first.
pub(crate) fn list_spans(tx: &Read, partner_id: PartnerId, now: Moment) -> Result<Vec<Span>> {
    let sql = sql!(
        "SELECT ",
        Span::COLUMNS,
        " FROM partner_secrets
               WHERE partner_id = ?1 AND (ends_at IS NULL OR ends_at > ?2) ORDER BY secret_id DESC"
    );
    tx.list(sql, (partner_id, now))
}

/// All partners, also the revoked ones, newest first.
pub(crate) fn list(tx: &Read) -> Result<Vec<Partner>> {
    tx.list(sql!("SELECT ", Partner::COLUMNS, " FROM partners p ORDER BY p.partner_id DESC"), [])
}

/// The secrets in force of one client, or of every client.
pub(crate) fn list_secrets(tx: &Read, client_id: Option<&str>, now: Moment) -> Result<Vec<Secret>> {
    const IN_FORCE: &str = joined!(
        "SELECT ",
        Secret::COLUMNS,
        " FROM partners p JOIN partner_secrets s ON s.partner_id = p.partner_id
          WHERE p.revoked_at IS NULL AND (s.ends_at IS NULL OR s.ends_at > ?1) AND "
    );
    let sql = if client_id.is_some() { sql!(IN_FORCE, "p.client_id = ?2") } else { sql!(IN_FORCE, "?2 IS NULL") };
    tx.list(sql, (now, client_id))
}

/// The number of bookings of one partner, or of all. Triggers keep the count, because counting very many rows takes
/// long.
pub(crate) fn count_bookings(tx: &Read, partner_id: Option<PartnerId>) -> Result<i64> {
    let sql = sql!("SELECT coalesce(sum(bookings), 0) FROM partners WHERE ?1 IS NULL OR partner_id = ?1");
    tx.get(sql, [partner_id])
}

/// The number of rows in the history of one partner, or of all, which triggers keep too.
pub(crate) fn count_events(tx: &Read, partner_id: Option<PartnerId>) -> Result<i64> {
    let sql = sql!("SELECT coalesce(sum(events), 0) FROM partners WHERE ?1 IS NULL OR partner_id = ?1");
    tx.get(sql, [partner_id])
}

/// Recounts the bookings, events and user records of every partner, after rows were written without the triggers.
pub(crate) fn count_anew(tx: &Write) -> Result<usize> {
    let sql = sql!(
        "UPDATE partners SET bookings = (SELECT count(*) FROM bookings b WHERE b.partner_id = partners.partner_id),
                                   events = (SELECT count(*) FROM history h WHERE h.partner_id = partners.partner_id),
                                   users = (SELECT count(*) FROM partner_users u
                                            WHERE u.partner_id = partners.partner_id AND u.deleted_at IS NULL)"
    );
    tx.run(sql, [])
}

pub(crate) fn list_networks(tx: &Read, partner_id: PartnerId) -> Result<Vec<String>> {
    tx.list(sql!("SELECT network FROM partner_networks WHERE partner_id = ?1 ORDER BY network"), [partner_id])
}

/// Records the use of a signature for a request, of which `request_digest` is made. Returns `None` at the first use, else
/// whether the first use was for the same request.
pub(crate) fn use_signature(
    tx: &Write,
    partner_id: PartnerId,
    signature: &[u8; 32],
    request_digest: &[u8; 32],
) -> Result<Option<bool>> {
    let first = insert!(tx.run, "INSERT OR IGNORE INTO partner_signatures" {
        partner_id, signature: &signature[..], used_at: tx.now(), request_digest: &request_digest[..],
    })?;
    if first == 1 {
        return Ok(None);
    }
    let sql = sql!("SELECT request_digest IS ?3 FROM partner_signatures WHERE partner_id = ?1 AND signature = ?2");
    tx.get(sql, (partner_id, &signature[..], &request_digest[..])).map(Some)
}

/// Whether a secret verifies requests still: it was not rotated out, and its partner has access.
pub(crate) fn is_secret_in_force(tx: &Read, secret_id: i64, now: Moment) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM partner_secrets s JOIN partners p ON p.partner_id = s.partner_id
                        WHERE s.secret_id = ?1 AND p.revoked_at IS NULL AND (s.ends_at IS NULL OR s.ends_at > ?2))"
    );
    tx.get(sql, (secret_id, now))
}
