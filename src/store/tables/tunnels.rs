//! This site and the tunnels it knows.

use crate::domain::local_time::Hall;
use crate::domain::tunnel;
use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

#[derive(Debug)]
pub struct Tunnel {
    pub tunnel_id: i64,
    pub name: String,
    pub city: String,
    pub country: String,
}

/// The one row that says whose file this is.
#[derive(Debug)]
pub struct SiteRow {
    pub site_id: String,
    pub tunnel_id: i64,
    pub key_check: Vec<u8>,
    /// Null in a file from before there was one.
    pub sealed_hash_key: Option<Vec<u8>>,
    pub clock_high_water: i64,
}

pub fn insert(tx: &Write, tunnel: &Tunnel) -> Result<usize> {
    let sql =
        "INSERT INTO tunnels (tunnel_id, name, city, country, created_at) VALUES (:id, :name, :city, :country, :now)";
    tx.run(sql, named_params! {":id": tunnel.tunnel_id, ":name": tunnel.name, ":city": tunnel.city, ":country": tunnel.country, ":now": tx.now()})
}

pub fn exists(tx: &Read, tunnel_id: i64) -> Result<bool> {
    tx.get("SELECT EXISTS (SELECT 1 FROM tunnels WHERE tunnel_id = ?1)", [tunnel_id], |row| row.get(0))
}

pub fn find(tx: &Read, tunnel_id: i64) -> Result<Option<Tunnel>> {
    tx.find("SELECT tunnel_id, name, city, country FROM tunnels WHERE tunnel_id = ?1", [tunnel_id], |row| {
        Ok(Tunnel { tunnel_id: row.get(0)?, name: row.get(1)?, city: row.get(2)?, country: row.get(3)? })
    })
}

/// By name.
pub fn list(tx: &Read) -> Result<Vec<Tunnel>> {
    tx.list("SELECT tunnel_id, name, city, country FROM tunnels ORDER BY name, tunnel_id", [], |row| {
        Ok(Tunnel { tunnel_id: row.get(0)?, name: row.get(1)?, city: row.get(2)?, country: row.get(3)? })
    })
}

pub fn insert_site(tx: &Write, site: &SiteRow) -> Result<usize> {
    let sql = "INSERT INTO site (only, site_id, tunnel_id, key_check, sealed_hash_key, clock_high_water, created_at)
               VALUES (1, :site_id, :tunnel_id, :key_check, :sealed_hash_key, :mark, :now)";
    tx.run(
        sql,
        named_params! {":site_id": site.site_id, ":tunnel_id": site.tunnel_id, ":key_check": site.key_check,
        ":sealed_hash_key": site.sealed_hash_key,
        ":mark": site.clock_high_water, ":now": tx.now()},
    )
}

pub fn find_site(tx: &Read) -> Result<Option<SiteRow>> {
    tx.find("SELECT site_id, tunnel_id, key_check, sealed_hash_key, clock_high_water FROM site", [], |row| {
        Ok(SiteRow {
            site_id: row.get(0)?,
            tunnel_id: row.get(1)?,
            key_check: row.get(2)?,
            sealed_hash_key: row.get(3)?,
            clock_high_water: row.get(4)?,
        })
    })
}

/// For a file from before there was one.
pub fn set_hash_key(tx: &Write, sealed: &[u8]) -> Result<usize> {
    tx.run("UPDATE site SET sealed_hash_key = ?1", [sealed])
}

const WHOLE: &str = "SELECT tunnel_id, name, city, country, time_zone, website, phone FROM tunnels";

fn whole(row: &Row) -> Result<tunnel::Tunnel> {
    Ok(tunnel::Tunnel {
        tunnel_id: row.get(0)?,
        name: row.get(1)?,
        city: row.get(2)?,
        country: row.get(3)?,
        time_zone: row.get(4)?,
        website: row.get(5)?,
        phone: row.get(6)?,
    })
}

/// With all that the public sees of it.
pub fn find_whole(tx: &Read, tunnel_id: i64) -> Result<Option<tunnel::Tunnel>> {
    tx.find(&format!("{WHOLE} WHERE tunnel_id = ?1"), [tunnel_id], whole)
}

/// The clock of a tunnel's hall: UTC where no time zone is named.
pub fn find_hall(tx: &Read, tunnel_id: i64) -> Result<Hall> {
    let zone: Option<String> =
        tx.find("SELECT time_zone FROM tunnels WHERE tunnel_id = ?1", [tunnel_id], |row| row.get(0))?;
    Ok(Hall::at(&zone.unwrap_or_default()))
}

/// By number.
pub fn list_whole(tx: &Read, limit: i64, offset: i64) -> Result<Vec<tunnel::Tunnel>> {
    tx.list(&format!("{WHOLE} ORDER BY tunnel_id LIMIT ?1 OFFSET ?2"), (limit, offset), whole)
}

pub fn count(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM tunnels", [], |row| row.get(0))
}

/// A new tunnel, or a known one as it is from now on.
pub fn put(tx: &Write, tunnel: &tunnel::Tunnel) -> Result<usize> {
    let sql = "INSERT INTO tunnels (tunnel_id, name, city, country, time_zone, website, phone, created_at)
               VALUES (:id, :name, :city, :country, :time_zone, :website, :phone, :now)
               ON CONFLICT (tunnel_id) DO UPDATE SET name = excluded.name, city = excluded.city, country = excluded.country,
                   time_zone = excluded.time_zone, website = excluded.website, phone = excluded.phone";
    tx.run(
        sql,
        named_params! {":id": tunnel.tunnel_id, ":name": tunnel.name, ":city": tunnel.city, ":country": tunnel.country,
        ":time_zone": tunnel.time_zone, ":website": tunnel.website, ":phone": tunnel.phone, ":now": tx.now()},
    )
}

pub fn set_time_zone(tx: &Write, tunnel_id: i64, zone: &str) -> Result<usize> {
    tx.run("UPDATE tunnels SET time_zone = ?2 WHERE tunnel_id = ?1", (tunnel_id, zone))
}

/// The version that opened the file last.
pub fn find_version(tx: &Read) -> Result<String> {
    tx.get("SELECT version FROM site", [], |row| row.get(0))
}

pub fn set_version(tx: &Write, version: &str) -> Result<usize> {
    tx.run("UPDATE site SET version = ?1", [version])
}

/// For which catalogue the members' levels were derived; `None` in a file from before it was kept.
pub fn find_catalogue_digest(tx: &Read) -> Result<Option<Vec<u8>>> {
    tx.get("SELECT catalogue_digest FROM site", [], |row| row.get(0))
}

pub fn set_catalogue_digest(tx: &Write, digest: &[u8]) -> Result<usize> {
    tx.run("UPDATE site SET catalogue_digest = ?1", [digest])
}
