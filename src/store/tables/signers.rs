//! The signers whom each tunnel appointed, and the authority that a signer has at a given moment.

use super::{entries, tunnels};
use crate::domain::catalogue::{Catalogue, Level, LevelKey};
use crate::domain::currency;
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::signoff::{self, Authority, Denial};
use crate::http::failure::Stop;
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, stays};
use crate::store::personal::{CATALOGUE, NUMBERS, Rows, Table, not_personal};
use crate::store::queries::holdings::{self, Holding};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "signers",
    "",
    &[not_personal("cat_group", CATALOGUE), not_personal("cat_id", CATALOGUE)],
    &[
        Rows::emptied(
            "signing_rights",
            "member_id = :id",
            "ended_at = coalesce(ended_at, :now)",
            "others' signatures rest on what was in force",
        ),
        Rows::others("signing_rights_given", "appointed_by = :id OR ended_by = :id", NUMBERS),
    ],
)
.joins(&[
    stays("member_id", WHO_DID).refused_where("t.member_id = :joined AND t.ended_at IS NULL", "join.signer"),
    stays("appointed_by", WHO_DID),
    stays("ended_by", WHO_DID),
])];

row! {
    /// A row of a tunnel's list, in force.
    #[derive(Debug)]
    pub(crate) struct Appointment in "s." {
        pub tunnel_id: TunnelId,
        pub member_id: MemberId,
        pub username: String = "m.username",
        pub screen_name: String = "m.screen_name",
        /// The programme by whose level the signer signs.
        pub cat_group: String,
        /// The level that a first signer counts as a holder of; empty for all other signers.
        pub cat_id: String,
        /// The admin who appointed the signer; `None`: the command line was used.
        pub appointed_by: Option<MemberId>,
        pub appointed_at: Moment,
    }
}

/// A new row of a tunnel's list of signers.
#[derive(Debug, Clone, Copy)]
pub struct NewSigner<'a> {
    /// The tunnel of the list.
    pub tunnel_id: TunnelId,
    /// The signer.
    pub member_id: MemberId,
    /// The programme by whose level the signer signs.
    pub cat_group: &'a str,
    /// The level that a first signer counts as a holder of; empty for all other signers.
    pub cat_id: &'a str,
    /// The admin who appoints the signer; `None`: the command line is used.
    pub appointed_by: Option<MemberId>,
}

/// A member who may sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EligibleSigner {
    pub member_id: MemberId,
    pub screen_name: String,
    pub real_name: String,
    /// The highest programme held.
    pub role_name: &'static str,
}

/// Adds a signer to a tunnel's list; returns the row's number.
pub fn insert(tx: &Write, new: &NewSigner) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO signers" {
        tunnel_id: new.tunnel_id, member_id: new.member_id, cat_group: new.cat_group, cat_id: new.cat_id,
        appointed_by: new.appointed_by, appointed_at: tx.now(),
    })
}

/// Removes a signer from the list; earlier signatures stay valid.
pub(crate) fn end(
    tx: &Write,
    tunnel_id: TunnelId,
    member_id: MemberId,
    cat_group: &str,
    ended_by: Option<MemberId>,
) -> Result<usize> {
    let sql = sql!(
        "UPDATE signers SET ended_at = :now, ended_by = :ended_by
               WHERE tunnel_id = :tunnel_id AND member_id = :member_id AND cat_group = :cat_group AND ended_at IS NULL"
    );
    tx.run(
        sql,
        named_params! {":now": tx.now(), ":ended_by": ended_by, ":tunnel_id": tunnel_id, ":member_id": member_id,
        ":cat_group": cat_group},
    )
}

/// A tunnel's list, by name.
pub(crate) fn list(tx: &Read, tunnel_id: TunnelId) -> Result<Vec<Appointment>> {
    let sql = sql!(
        "SELECT ",
        Appointment::COLUMNS,
        " FROM signers s JOIN members m ON m.member_id = s.member_id
               WHERE s.tunnel_id = ?1 AND s.ended_at IS NULL ORDER BY m.username, s.cat_group"
    );
    tx.list(sql, [tunnel_id])
}

/// Whether the tunnel lists anybody.
pub(crate) fn has_any(tx: &Read, tunnel_id: TunnelId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM signers WHERE tunnel_id = ?1 AND ended_at IS NULL)"), [tunnel_id])
}

/// Whether any tunnel lists the member.
pub(crate) fn is_signer(tx: &Read, member_id: MemberId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM signers WHERE member_id = ?1 AND ended_at IS NULL)"), [member_id])
}

/// Whether the tunnel lists the member in this programme.
pub(crate) fn is_listed(tx: &Read, tunnel_id: TunnelId, member_id: MemberId, cat_group: &str) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM signers WHERE tunnel_id = ?1 AND member_id = ?2 AND cat_group = ?3 AND ended_at IS NULL)"
    );
    tx.get(sql, (tunnel_id, member_id, cat_group))
}

/// The signer's authority to sign a skill of the level for the holder, at that tunnel, now. A denial is the reason
/// against it.
pub(crate) fn find_authority(
    tx: &Read,
    catalogue: &Catalogue,
    signer_id: MemberId,
    holder_id: MemberId,
    level: &Level,
    tunnel_id: TunnelId,
    now: Moment,
) -> std::result::Result<Authority, Stop<Denial>> {
    let standing = read(tx, catalogue, signer_id, tunnel_id, now)?;
    standing.judge(signer_id, holder_id, level).map_err(Stop::Denied)
}

/// The members who may sign skills of the level at that tunnel now, by name.
pub(crate) fn list_able(
    tx: &Read,
    catalogue: &Catalogue,
    level: &Level,
    tunnel_id: TunnelId,
    now: Moment,
) -> Result<Vec<EligibleSigner>> {
    let sql = sql!(
        "SELECT m.member_id, m.screen_name, m.real_name FROM members m
               WHERE m.member_id IN (SELECT member_id FROM signers WHERE tunnel_id = ?1 AND ended_at IS NULL)
               ORDER BY m.screen_name, m.member_id"
    );
    let listed: Vec<(MemberId, String, String)> = tx.list(sql, [tunnel_id])?;
    let mut able = Vec::new();
    for (member_id, screen_name, real_name) in listed {
        let rows = read(tx, catalogue, member_id, tunnel_id, now)?;
        // No member has the number 0, so the holder is any member other than the signer.
        if rows.judge(member_id, MemberId(0), level).is_ok() {
            able.push(EligibleSigner { member_id, screen_name, real_name, role_name: rows.role_name });
        }
    }
    Ok(able)
}

/// The data that the rules of sign-off need of a signer.
struct Standing {
    held: Vec<Holding>,
    listed: Vec<String>,
    currency: currency::Currencies,
    in_good_standing: bool,
    /// The highest programme held, without the levels that a first signer counts as a holder of.
    role_name: &'static str,
}

impl Standing {
    fn judge(&self, signer_id: MemberId, holder_id: MemberId, level: &Level) -> std::result::Result<Authority, Denial> {
        let held: Vec<LevelKey> = self.held.iter().map(Holding::key).collect();
        let signer = signoff::Signer {
            member_id: signer_id,
            held: &held,
            currency: self.currency,
            listed: &self.listed,
            in_good_standing: self.in_good_standing,
        };
        signoff::authority(&signer, holder_id, level)
    }
}

fn read(tx: &Read, catalogue: &Catalogue, member_id: MemberId, tunnel_id: TunnelId, now: Moment) -> Result<Standing> {
    let sql = sql!(
        "SELECT cat_group, cat_id, appointed_at FROM signers
               WHERE tunnel_id = ?1 AND member_id = ?2 AND ended_at IS NULL AND appointed_at <= ?3"
    );
    let listed: Vec<(String, String, Moment)> = tx.list(sql, (tunnel_id, member_id, now))?;
    let mut held = holdings::list(tx, member_id)?;
    let role_name = currency::role_name(&held.iter().map(Holding::key).collect::<Vec<_>>());
    let mut trained = holdings::list_trained(tx, member_id, now)?;
    for (cat_group, cat_id, appointed_at) in listed.iter().filter(|(_, cat_id, _)| !cat_id.is_empty()) {
        held.push(Holding {
            cat_group: cat_group.clone(),
            cat_id: cat_id.clone(),
            track: String::new(),
            since: *appointed_at,
        });
        let logbook = catalogue.find_programme(cat_group).map(|programme| programme.safety_logbook.clone());
        trained.extend(logbook.map(|logbook| (logbook, *appointed_at)));
    }
    let keys: Vec<LevelKey> = held.iter().map(Holding::key).collect();
    let trained: Vec<(&str, Moment)> = trained.iter().map(|(logbook, at)| (logbook.as_str(), *at)).collect();
    let last_flight = entries::find_flown(tx, member_id, now)?.last_flight;
    let zone = tunnels::find_zone_of_site(tx)?;
    let standing = currency::Standing { held: &keys, last_flight, trained: &trained, zone: &zone };
    let currency = currency::of(&standing, now);
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM members WHERE member_id = ?1 AND banned_at IS NULL AND email_confirmed_at IS NOT NULL)"
    );
    let in_good_standing = tx.get(sql, [member_id])?;
    let listed = listed.into_iter().map(|(cat_group, ..)| cat_group).collect();
    Ok(Standing { held, listed, currency, in_good_standing, role_name })
}
