//! Logbook rows for tests, written to the database without requests.

use crate::harness::{Caller, Site};
use tunneldesk::domain::catalogue::Catalogue;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::queries::holdings;

pub const DAY: i64 = 86_400;

/// The statement that inserts an entry as it is stored.
const INSERT: &str = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill,
                                           instructor_id, approval_date, created_at, updated_at)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?1, ?6, ?7, ?8, ?9, iif(?3 IN ('open', 'suspended'), ?4, NULL), ?4, ?4)";

/// A safety brief or training with this id, in the logbook where the catalogue places it.
pub fn safety(site: &Site, member: &Caller, skill: &str, status: &str, at: i64) -> i64 {
    let (programme, _) = Catalogue::built_in().find_safety(skill).expect("a record of the catalogue");
    let row = (member.id, "safety", status, at, Site::TUNNEL_ID, &programme.cat_group, "", skill, None::<i64>);
    site.change(|tx| Ok(tx.insert(INSERT, row)?))
}

/// An entry for a skill of the catalogue; signed if its state says so and a signer is named.
pub fn skill(site: &Site, member: &Caller, skill: &str, status: &str, signer: Option<&Caller>) -> i64 {
    let (level, _) = Catalogue::built_in().find_skill(skill).expect("a skill of the catalogue");
    let signer = signer.map(|signer| signer.id);
    site.change(|tx| {
        let row =
            (member.id, "skill", status, tx.now(), Site::TUNNEL_ID, &level.cat_group, &level.cat_id, skill, signer);
        Ok(tx.insert(INSERT, row)?)
    })
}

/// An open entry for a skill that only this site has. The member's levels stay unchanged.
pub fn own_skill(site: &Site, member: &Caller, cat_group: &str, cat_id: &str, skill: &str) {
    site.change(|tx| {
        let row = (member.id, "skill", "open", tx.now(), Site::TUNNEL_ID, cat_group, cat_id, skill, None::<i64>);
        Ok(tx.insert(INSERT, row)?)
    });
}

/// Signs every required skill of a level, so that the member holds it.
pub fn level(site: &Site, member: &Caller, name: &str, signer: &Caller) {
    let level = Catalogue::built_in().levels().find(|level| level.name == name).expect("a level of the catalogue");
    level.required().for_each(|one| _ = skill(site, member, &one.skill, "open", Some(signer)));
    site.change(|tx| Ok(holdings::refresh(tx, MemberId(member.id), Catalogue::built_in())?));
}

/// Entries with ids that are not, or no longer, in the catalogue: a skill and a safety record.
pub fn foreign(site: &Site, member: &Caller) {
    for kind in ["skill", "safety"] {
        site.change(|tx| {
            let row = (member.id, kind, "open", tx.now(), Site::TUNNEL_ID, "Coach", "7", "4711", None::<i64>);
            Ok(tx.insert(INSERT, row)?)
        });
    }
}

/// Puts the member on the tunnel's list of signers, as a holder of this programme.
pub fn listed(site: &Site, member: &Caller, cat_group: &str) {
    let sql = "INSERT INTO signers (tunnel_id, member_id, cat_group, cat_id, appointed_at) VALUES (?1, ?2, ?3, '', ?4)";
    site.change(|tx| Ok(tx.run(sql, (Site::TUNNEL_ID, member.id, cat_group, tx.now()))?));
}
