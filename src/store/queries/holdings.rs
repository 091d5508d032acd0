//! The levels that members hold, and the trainings that their currency depends on.

use crate::domain::catalogue::{Catalogue, HeldLevel, LevelKey};
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::derived;
use crate::store::personal::{CATALOGUE, Rows, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "holdings",
    "",
    &[not_personal("cat_group", CATALOGUE), not_personal("cat_id", CATALOGUE), not_personal("track", CATALOGUE)],
    &[Rows::kept("levels", "member_id = :id", "derived from entries, which stay")],
)
.joins(&[derived("member_id")])];

row! {
    /// A level that a member holds, or that is certified.
    #[derive(Debug, Clone)]
    pub(crate) struct Holding in "c." {
        pub cat_group: String,
        pub cat_id: String,
        pub track: String,
        pub since: Moment,
    }
}

impl Holding {
    pub(crate) fn key(&self) -> LevelKey<'_> {
        LevelKey { cat_group: &self.cat_group, cat_id: &self.cat_id, track: &self.track }
    }
}

pub(crate) fn list(tx: &Read, member_id: MemberId) -> Result<Vec<Holding>> {
    let sql = sql!("SELECT ", Holding::COLUMNS, " FROM holdings c WHERE c.member_id = ?1");
    tx.list(sql, [member_id])
}

/// A member's levels, latest first.
pub(crate) fn list_latest_first(tx: &Read, member_id: MemberId) -> Result<Vec<Holding>> {
    let sql = sql!(
        "SELECT ",
        Holding::COLUMNS,
        " FROM holdings c WHERE c.member_id = ?1
               ORDER BY c.since DESC, c.cat_group, c.cat_id DESC, c.track"
    );
    tx.list(sql, [member_id])
}

/// Each safety logbook of the member, and the date of its last open safety brief or training by `now`.
pub(crate) fn list_trained(tx: &Read, member_id: MemberId, now: Moment) -> Result<Vec<(String, Moment)>> {
    let sql = sql!(
        "SELECT cat_group, max(entry_date) FROM entries
               WHERE member_id = ?1 AND kind = 'safety' AND status = 'open' AND entry_date <= ?2 GROUP BY cat_group"
    );
    tx.list(sql, (member_id, now))
}

/// Derives the member's levels again. To be called in the transaction that changes a skill entry.
pub fn refresh(tx: &Write, member_id: MemberId, catalogue: &Catalogue) -> Result<()> {
    let sql = sql!(
        "SELECT skill, coalesce(approval_date, entry_date) FROM entries
               WHERE member_id = ?1 AND kind = 'skill' AND status = 'open'"
    );
    let skills: Vec<(String, Moment)> = tx.list(sql, [member_id])?;
    let open: Vec<(&str, Moment)> = skills.iter().map(|(skill, at)| (skill.as_str(), *at)).collect();
    let (held, known) = (catalogue.held(&open), list(tx, member_id)?);
    let is_known = |one: &HeldLevel| known.iter().any(|row| row.key() == one.level.key() && row.since == one.since);
    // Most signatures complete no level.
    if held.len() == known.len() && held.iter().all(is_known) {
        return Ok(());
    }
    tx.run(sql!("DELETE FROM holdings WHERE member_id = ?1"), [member_id])?;
    for held in held {
        insert!(tx.run, "INSERT INTO holdings" {
            member_id, cat_group: held.level.cat_group, cat_id: held.level.cat_id, track: held.level.track,
            since: held.since,
        })?;
    }
    Ok(())
}

/// Derives the levels of all members again, for a new catalogue; returns the number of members.
pub(crate) fn refresh_all(tx: &Write, catalogue: &Catalogue) -> Result<usize> {
    let sql = sql!(
        "SELECT member_id FROM members m WHERE EXISTS (SELECT 1 FROM holdings WHERE member_id = m.member_id)
                   OR EXISTS (SELECT 1 FROM entries WHERE member_id = m.member_id AND kind = 'skill')"
    );
    let members: Vec<MemberId> = tx.list(sql, [])?;
    members.iter().try_for_each(|member_id| refresh(tx, *member_id, catalogue))?;
    Ok(members.len())
}
