//! Guardianships: which adult acts for which child. A guardianship ends by itself when the child is of age, which the
//! rules derive from the day of birth.

use crate::domain::ids::{GuardianshipId, MemberId};
use crate::domain::waiver::Relation;
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, moves_unless, stays};
use crate::store::personal::{OUR_WORD, Rows, Table, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::Result;

/// One of the two acts for the other: they are two persons.
const EACH_OTHER: &str = "t.ended_at IS NULL AND (t.child_id = :joined AND t.guardian_id = :survivor
    OR t.child_id = :survivor AND t.guardian_id = :joined)";
/// The survivor has the same guardian, or was the guardian.
const SAME_GUARDIAN: &str = "t.guardian_id = :survivor OR t.ended_at IS NULL AND EXISTS (SELECT 1 FROM guardianships s
    WHERE s.child_id = :survivor AND s.guardian_id = t.guardian_id AND s.ended_at IS NULL)";
const SAME_CHILD: &str = "t.child_id = :survivor OR t.ended_at IS NULL AND EXISTS (SELECT 1 FROM guardianships s
    WHERE s.guardian_id = :survivor AND s.child_id = t.child_id AND s.ended_at IS NULL)";

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "guardianships",
    "guardianship_id",
    &[not_personal("relation", OUR_WORD), searched("permission")],
    &[Rows::deleted("guardians", "child_id = :id OR guardian_id = :id")],
)
.joins(&[
    moves_unless("child_id", "guardianship_id", SAME_GUARDIAN).refused_where(EACH_OTHER, "join.guardian"),
    moves_unless("guardian_id", "guardianship_id", SAME_CHILD),
    stays("made_by", WHO_DID),
])];

row! {
    /// One adult of one child.
    #[derive(Debug, Clone)]
    pub(crate) struct Guardianship in "g." {
        pub(crate) guardianship_id: GuardianshipId,
        pub(crate) child_id: MemberId,
        pub(crate) guardian_id: MemberId,
        pub(crate) relation: Relation,
        /// The written permission that the staff saw, if any.
        pub(crate) permission: String,
        pub(crate) child: String = "coalesce(nullif(c.real_name, ''), nullif(c.screen_name, ''), c.username)",
        /// Midnight of the child's day of birth in UTC.
        pub(crate) born: Option<Moment> = "c.dob",
        pub(crate) guardian: String = "coalesce(nullif(a.real_name, ''), nullif(a.screen_name, ''), a.username)",
    }
}

const IN_FORCE: &str = joined!(
    "SELECT ",
    Guardianship::COLUMNS,
    " FROM guardianships g JOIN members c ON c.member_id = g.child_id JOIN members a ON a.member_id = g.guardian_id
      WHERE g.ended_at IS NULL"
);

/// The guardianship in force between a child and an adult.
pub(crate) fn find(tx: &Read, child_id: MemberId, guardian_id: MemberId) -> Result<Option<Guardianship>> {
    tx.find(sql!(IN_FORCE, " AND g.child_id = ?1 AND g.guardian_id = ?2"), (child_id, guardian_id))
}

/// The guardianships in force of a child.
pub(crate) fn list_of_child(tx: &Read, child_id: MemberId) -> Result<Vec<Guardianship>> {
    tx.list(sql!(IN_FORCE, " AND g.child_id = ?1 ORDER BY g.guardianship_id"), [child_id])
}

/// The guardianships in force of an adult.
pub(crate) fn list_of_guardian(tx: &Read, guardian_id: MemberId) -> Result<Vec<Guardianship>> {
    tx.list(sql!(IN_FORCE, " AND g.guardian_id = ?1 ORDER BY g.guardianship_id"), [guardian_id])
}

/// Children with a guardian who were born in this span (Unix seconds), and their day of birth, of whose coming of age nobody was
/// told.
pub(crate) fn list_unannounced(tx: &Read, (from, to): (Moment, Moment)) -> Result<Vec<(MemberId, Moment)>> {
    let sql = sql!(
        "SELECT c.member_id, c.dob FROM members c WHERE c.dob IS NOT NULL AND c.dob BETWEEN ?1 AND ?2
            AND EXISTS (SELECT 1 FROM guardianships g WHERE g.child_id = c.member_id AND g.ended_at IS NULL)
            AND NOT EXISTS (SELECT 1 FROM guardianships g WHERE g.child_id = c.member_id AND g.announced_at IS NOT NULL)"
    );
    tx.list(sql, (from, to))
}

/// Records that a child and its guardians were told of the day on which the child is of age.
pub(crate) fn set_announced(tx: &Write, child_id: MemberId) -> Result<usize> {
    let sql = sql!("UPDATE guardianships SET announced_at = ?2 WHERE child_id = ?1 AND ended_at IS NULL");
    tx.run(sql, (child_id, tx.now()))
}

/// Adds a guardianship; returns its number. `by`: the clerk who records it; `None`: the guardian does.
pub(crate) fn insert(
    tx: &Write,
    (child_id, guardian_id): (MemberId, MemberId),
    relation: Relation,
    permission: &str,
    by: Option<MemberId>,
) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO guardianships" { child_id, guardian_id, relation, permission, made_by: by, made_at: tx.now() })
}

pub(crate) fn end(tx: &Write, guardianship_id: GuardianshipId) -> Result<usize> {
    let sql = sql!("UPDATE guardianships SET ended_at = ?2 WHERE guardianship_id = ?1 AND ended_at IS NULL");
    tx.run(sql, (guardianship_id, tx.now()))
}
