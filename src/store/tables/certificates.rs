//! Certificates that were issued, and the names on them.

use crate::domain::certificate::{self, Signed};
use crate::domain::ids::MemberId;
use crate::store::engine::columns::{Columns, FromRow};
use crate::store::joining::moves;
use crate::store::personal::{CATALOGUE, HASH, Rows, Table, not_personal};
use crate::store::queries::holdings::Holding;
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "certificates",
    "",
    &[
        not_personal("code", HASH),
        not_personal("cat_group", CATALOGUE),
        not_personal("cat_id", CATALOGUE),
        not_personal("track", CATALOGUE),
    ],
    &[Rows::emptied(
        "certificates",
        "member_id = :id",
        "member_id = NULL",
        "a code on paper must be known to be known as void",
    )],
)
.joins(&[moves("member_id", "code")])];

/// A certificate that was issued.
#[derive(Debug)]
pub(crate) struct Issued {
    pub held: Holding,
    /// The holder's name on the paper; `None` once the member was erased.
    pub holder: Option<String>,
    /// Whether the member holds the level, and since the moment on the paper.
    pub valid: bool,
}

/// The name of the member `m` on the paper, and the username; `None` where the join found no member.
struct PaperName(Option<(String, String)>);

impl PaperName {
    const COLUMNS: &str = "m.real_name, m.screen_name, m.username";
}

impl FromRow for PaperName {
    fn read(columns: &mut Columns) -> Result<PaperName> {
        let (Some(real_name), Some(screen_name), Some(username)): (Option<String>, _, Option<String>) =
            columns.read()?
        else {
            return Ok(PaperName(None));
        };
        let screen_name: String = screen_name;
        let name = certificate::name_on_paper(&real_name, &screen_name, &username).to_owned();
        Ok(PaperName(Some((name, username))))
    }
}

/// The open skills of a member, each with its signer and tunnel.
pub(crate) fn list_signed(tx: &Read, member_id: MemberId) -> Result<Vec<Signed>> {
    let sql = sql!(
        "SELECT e.skill, coalesce(e.approval_date, e.entry_date), t.name, ",
        PaperName::COLUMNS,
        " FROM entries e JOIN tunnels t ON t.tunnel_id = e.tunnel_id LEFT JOIN members m ON m.member_id = e.instructor_id
         WHERE e.member_id = ?1 AND e.kind = 'skill' AND e.status = 'open' ORDER BY e.entry_id"
    );
    let signed: Vec<(String, i64, String, PaperName)> = tx.list(sql, [member_id])?;
    let signed = signed.into_iter().map(|(skill, approval, tunnel_name, PaperName(signer))| {
        let (signer_name, signer_username) = signer.unwrap_or_default();
        Signed { skill, approval, signer_name, signer_username, tunnel_name }
    });
    Ok(signed.collect())
}

/// Stores a certificate; issuing it again changes nothing.
pub(crate) fn insert(tx: &Write, code: &str, member_id: MemberId, held: &Holding) -> Result<usize> {
    insert!(tx.run, "INSERT INTO certificates" {
        code, member_id, cat_group: held.cat_group, cat_id: held.cat_id, track: held.track, since: held.since,
        issued_at: tx.now(),
    } "ON CONFLICT (code) DO NOTHING")
}

pub(crate) fn find(tx: &Read, code: &str) -> Result<Option<Issued>> {
    let sql = sql!(
        "SELECT ",
        Holding::COLUMNS,
        ", h.member_id IS NOT NULL, ",
        PaperName::COLUMNS,
        " FROM certificates c LEFT JOIN members m ON m.member_id = c.member_id
          LEFT JOIN holdings h ON (h.member_id, h.cat_group, h.cat_id, h.track, h.since)
                                = (c.member_id, c.cat_group, c.cat_id, c.track, c.since)
          WHERE c.code = ?1"
    );
    let found: Option<(Holding, bool, PaperName)> = tx.find(sql, [code])?;
    Ok(found.map(|(held, valid, PaperName(holder))| Issued { held, holder: holder.map(|(name, _)| name), valid }))
}
