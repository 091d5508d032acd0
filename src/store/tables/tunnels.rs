//! The site's own row, and the tunnels that it knows.

use crate::domain::ids::TunnelId;
use crate::domain::local_time::TimeZone;
use crate::domain::tunnel::Tunnel as Whole;
use crate::moment::Moment;
use crate::store::personal::{OPERATOR, Seen, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::nobodys(
        "tunnels",
        &[
            not_personal("name", OPERATOR),
            not_personal("city", OPERATOR),
            not_personal("country", OPERATOR),
            not_personal("time_zone", OPERATOR),
            not_personal("website", OPERATOR),
            not_personal("phone", "a tunnel's own number"),
        ],
    )
    .seen(Seen::OnPages),
    Table::nobodys(
        "site",
        &[
            not_personal("site_id", "the site's own"),
            not_personal("key_check", "the site's own"),
            not_personal("sealed_hash_key", "the site's own"),
            not_personal("catalogue_digest", "the site's own"),
            not_personal("audit_hash", "a hash over numbers and words"),
            not_personal("audit_mark", "a keyed hash over numbers and words"),
            not_personal("version", "the product's"),
        ],
    ),
];

row! {
    /// A tunnel that the site knows.
    #[derive(Debug)]
    pub struct Tunnel {
        /// The number by which partners and entries name the tunnel.
        pub tunnel_id: TunnelId,
        /// The tunnel's common name.
        pub name: String,
        /// The city; empty: not known.
        pub city: String,
        /// The country: ISO 3166-1 alpha-2, upper case.
        pub country: String,
    } saved
}

row! {
    /// The site's own row.
    #[derive(Debug)]
    pub(crate) struct SiteRow {
        pub site_id: String,
        pub tunnel_id: TunnelId,
        pub key_check: Vec<u8>,
        /// The sealed key of hashes; `None` in a database of a version that had none.
        pub sealed_hash_key: Option<Vec<u8>>,
        pub clock_high_water: Moment,
    } saved
}

/// Adds a tunnel.
pub fn insert(tx: &Write, tunnel: &Tunnel) -> Result<usize> {
    insert!(tx.run, "INSERT INTO tunnels" Tunnel: tunnel, { created_at: tx.now() })
}

pub(crate) fn exists(tx: &Read, tunnel_id: TunnelId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM tunnels WHERE tunnel_id = ?1)"), [tunnel_id])
}

pub(crate) fn find(tx: &Read, tunnel_id: TunnelId) -> Result<Option<Tunnel>> {
    tx.find(sql!("SELECT ", Tunnel::COLUMNS, " FROM tunnels WHERE tunnel_id = ?1"), [tunnel_id])
}

/// All tunnels, by name.
pub(crate) fn list(tx: &Read) -> Result<Vec<Tunnel>> {
    tx.list(sql!("SELECT ", Tunnel::COLUMNS, " FROM tunnels ORDER BY name, tunnel_id"), [])
}

pub(crate) fn insert_site(tx: &Write, site: &SiteRow) -> Result<usize> {
    insert!(tx.run, "INSERT INTO site" SiteRow: site, { only: 1, created_at: tx.now() })
}

pub(crate) fn find_site(tx: &Read) -> Result<Option<SiteRow>> {
    tx.find(sql!("SELECT ", SiteRow::COLUMNS, " FROM site"), [])
}

/// Sets the hash key in a database that had none.
pub(crate) fn set_hash_key(tx: &Write, sealed: &[u8]) -> Result<usize> {
    tx.run(sql!("UPDATE site SET sealed_hash_key = ?1"), [sealed])
}

columns! { Whole in "" { tunnel_id, name, city, country, time_zone, website, phone } saved }

/// A tunnel with all its public data.
pub(crate) fn find_whole(tx: &Read, tunnel_id: TunnelId) -> Result<Option<Whole>> {
    tx.find(sql!("SELECT ", Whole::COLUMNS, " FROM tunnels WHERE tunnel_id = ?1"), [tunnel_id])
}

/// The time zone of a tunnel; UTC where no time zone is named.
pub(crate) fn find_time_zone(tx: &Read, tunnel_id: TunnelId) -> Result<TimeZone> {
    let zone: Option<String> = tx.find(sql!("SELECT time_zone FROM tunnels WHERE tunnel_id = ?1"), [tunnel_id])?;
    Ok(TimeZone::named(&zone.unwrap_or_default()))
}

/// The time zone of the site; UTC where no time zone is named.
pub(crate) fn find_zone_of_site(tx: &Read) -> Result<TimeZone> {
    let sql = sql!("SELECT t.time_zone FROM site s JOIN tunnels t ON t.tunnel_id = s.tunnel_id WHERE s.only = 1");
    Ok(TimeZone::named(&tx.find::<String>(sql, [])?.unwrap_or_default()))
}

/// The country of the site's tunnel.
pub(crate) fn find_own_country(tx: &Read) -> Result<Option<String>> {
    tx.find(sql!("SELECT t.country FROM site s JOIN tunnels t ON t.tunnel_id = s.tunnel_id"), [])
}

/// The time zone of the site; `None` in a database that has no site yet.
pub(crate) fn find_own_time_zone(tx: &Read) -> Result<Option<TimeZone>> {
    let zone = sql!("SELECT t.time_zone FROM site s JOIN tunnels t ON t.tunnel_id = s.tunnel_id");
    let zone: Option<String> = tx.find(zone, [])?;
    Ok(zone.map(|zone| TimeZone::named(&zone)))
}

/// Tunnels with all their public data, by number.
pub(crate) fn list_whole(tx: &Read, limit: i64, offset: i64) -> Result<Vec<Whole>> {
    tx.list(sql!("SELECT ", Whole::COLUMNS, " FROM tunnels ORDER BY tunnel_id LIMIT ?1 OFFSET ?2"), (limit, offset))
}

pub(crate) fn count(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM tunnels"), [])
}

/// Adds or replaces a tunnel.
pub fn put(tx: &Write, tunnel: &Whole) -> Result<usize> {
    insert!(tx.run, "INSERT INTO tunnels" Whole: tunnel, { created_at: tx.now() }
            "ON CONFLICT (tunnel_id) DO UPDATE SET ", Whole::EXCLUDED)
}

pub(crate) fn set_time_zone(tx: &Write, tunnel_id: TunnelId, zone: &str) -> Result<usize> {
    tx.run(sql!("UPDATE tunnels SET time_zone = ?2 WHERE tunnel_id = ?1"), (tunnel_id, zone))
}

/// The version of the program that opened the database last.
pub(crate) fn find_version(tx: &Read) -> Result<String> {
    tx.get(sql!("SELECT version FROM site"), [])
}

pub(crate) fn set_version(tx: &Write, version: &str) -> Result<usize> {
    tx.run(sql!("UPDATE site SET version = ?1"), [version])
}

/// The digest of the catalogue by which the members' levels were derived; `None`: it is not stored yet.
pub(crate) fn find_catalogue_digest(tx: &Read) -> Result<Option<Vec<u8>>> {
    tx.get(sql!("SELECT catalogue_digest FROM site"), [])
}

pub(crate) fn set_catalogue_digest(tx: &Write, digest: &[u8]) -> Result<usize> {
    tx.run(sql!("UPDATE site SET catalogue_digest = ?1"), [digest])
}
