//! Certificates: what there is to certify, and those that were handed out.

use crate::domain::catalogue::LevelKey;
use crate::domain::certificate::{self, Signed};
use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

/// A level that a member holds.
#[derive(Debug, Clone)]
pub struct Held {
    pub cat_group: String,
    pub cat_id: String,
    pub track: String,
    pub since: i64,
}

impl Held {
    pub fn key(&self) -> LevelKey<'_> {
        LevelKey { cat_group: &self.cat_group, cat_id: &self.cat_id, track: &self.track }
    }
}

/// A certificate that was handed out.
#[derive(Debug)]
pub struct Issued {
    pub held: Held,
    /// The holder's name as it stands on the paper; `None` once the member was erased.
    pub holder: Option<String>,
    /// Whether the member holds the level, and since the moment on the paper.
    pub valid: bool,
}

fn held(row: &Row) -> Result<Held> {
    Ok(Held { cat_group: row.get(0)?, cat_id: row.get(1)?, track: row.get(2)?, since: row.get(3)? })
}

/// The latest first.
pub fn list_held(tx: &Read, member_id: i64) -> Result<Vec<Held>> {
    let sql = "SELECT cat_group, cat_id, track, since FROM holdings WHERE member_id = ?1
               ORDER BY since DESC, cat_group, cat_id DESC, track";
    tx.list(sql, [member_id], held)
}

/// The open skills of a member, each with who signed it and where.
pub fn list_signed(tx: &Read, member_id: i64) -> Result<Vec<Signed>> {
    let sql = "SELECT e.skill, coalesce(e.approval_date, e.entry_date), t.name, s.real_name, s.screen_name, s.username
               FROM entries e JOIN tunnels t ON t.tunnel_id = e.tunnel_id LEFT JOIN members s ON s.member_id = e.instructor_id
               WHERE e.member_id = ?1 AND e.kind = 'skill' AND e.status = 'open' ORDER BY e.entry_id";
    tx.list(sql, [member_id], |row| {
        let signer_name = name_on_paper(row, 3)?.unwrap_or_default();
        Ok(Signed { skill: row.get(0)?, approval: row.get(1)?, signer_name, tunnel_name: row.get(2)? })
    })
}

/// Remembers a certificate; handing it out again changes nothing.
pub fn insert(tx: &Write, code: &str, member_id: i64, held: &Held) -> Result<usize> {
    let sql = "INSERT INTO certificates (code, member_id, cat_group, cat_id, track, since, issued_at)
               VALUES (:code, :member_id, :cat_group, :cat_id, :track, :since, :now) ON CONFLICT (code) DO NOTHING";
    tx.run(
        sql,
        named_params! {":code": code, ":member_id": member_id, ":cat_group": held.cat_group, ":cat_id": held.cat_id,
        ":track": held.track, ":since": held.since, ":now": tx.now()},
    )
}

pub fn find(tx: &Read, code: &str) -> Result<Option<Issued>> {
    let sql = "SELECT c.cat_group, c.cat_id, c.track, c.since, h.member_id IS NOT NULL,
                      m.real_name, m.screen_name, m.username
               FROM certificates c LEFT JOIN members m ON m.member_id = c.member_id
               LEFT JOIN holdings h ON (h.member_id, h.cat_group, h.cat_id, h.track, h.since)
                                     = (c.member_id, c.cat_group, c.cat_id, c.track, c.since)
               WHERE c.code = ?1";
    tx.find(sql, [code], |row| Ok(Issued { held: held(row)?, valid: row.get(4)?, holder: name_on_paper(row, 5)? }))
}

/// Of a real name, a screen name and a username that stand in this order; `None` where nobody has them.
fn name_on_paper(row: &Row, first: usize) -> Result<Option<String>> {
    let [Some(real_name), Some(screen_name), Some(username)] =
        [row.get::<_, Option<String>>(first)?, row.get(first + 1)?, row.get(first + 2)?]
    else {
        return Ok(None);
    };
    Ok(Some(certificate::name_on_paper(&real_name, &screen_name, &username).to_owned()))
}
