//! The joins of two accounts of one person: the joined account's number leads to the account that survives. Also the
//! accounts that may be one person's, of which the desk is told.

use crate::domain::ids::{JoinId, MemberId};
use crate::moment::Moment;
use crate::store::joining::{AS_IT_WAS, ITS_OWN, WHO_DID, stays};
use crate::store::personal::{OUR_WORD, Rows, Seen, Table, deleted, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure and a join do to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[
        Table::new("joins", "", &[], &[Rows::deleted("accounts_joined", "joined_id = :id OR survivor_id = :id")])
            .joins(&[stays("joined_id", AS_IT_WAS), stays("survivor_id", AS_IT_WAS), stays("joined_by", WHO_DID)]),
        Table::new(
            "joined_rows",
            "",
            &[not_personal("table_name", OUR_WORD), not_personal("column_name", OUR_WORD), deleted("row_key")],
            &[Rows::deleted(
                "rows_joined",
                "join_id IN (SELECT join_id FROM joins WHERE joined_id = :id OR survivor_id = :id)",
            )],
        ),
        Table::new("alikes", "", &[], &[Rows::deleted("accounts_alike", "member_id = :id OR other_id = :id")])
            .seen(Seen::OnPages)
            .joins(&[stays("member_id", ITS_OWN), stays("other_id", ITS_OWN)]),
    ];

row! {
    /// A join in force.
    #[derive(Debug, Clone)]
    pub(crate) struct Joined in "j." {
        pub(crate) join_id: JoinId,
        pub(crate) joined_id: MemberId,
        pub(crate) survivor_id: MemberId,
        /// The joined account's name.
        pub(crate) name: String = "coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username)",
        pub(crate) joined_at: Moment,
        /// The end of the survivor's membership before, and as the join made it; `None`: the join left it.
        pub(crate) paid_from: Option<Moment>,
        pub(crate) paid_to: Option<Moment>,
    }
}

const JOINED: &str = joined!(
    "SELECT ",
    Joined::COLUMNS,
    " FROM joins j JOIN members m ON m.member_id = j.joined_id WHERE j.undone_at IS NULL AND "
);

/// Adds a join; returns its number. `paid`: the end of the survivor's membership before, and as the join makes it.
pub(crate) fn insert(
    tx: &Write,
    (joined_id, survivor_id): (MemberId, MemberId),
    joined_by: Option<MemberId>,
    (paid_from, paid_to): (Option<Moment>, Option<Moment>),
) -> Result<JoinId> {
    insert!(tx.insert, "INSERT INTO joins" { joined_id, survivor_id, joined_by, joined_at: tx.now(), paid_from, paid_to }).map(JoinId)
}

/// The join of an account into another.
pub(crate) fn find(tx: &Read, joined_id: MemberId) -> Result<Option<Joined>> {
    tx.find(sql!(JOINED, "j.joined_id = ?1"), [joined_id])
}

/// The accounts that were joined into one, the latest first.
pub(crate) fn list(tx: &Read, survivor_id: MemberId) -> Result<Vec<Joined>> {
    tx.list(sql!(JOINED, "j.survivor_id = ?1 ORDER BY j.join_id DESC"), [survivor_id])
}

/// The member to whom a number leads: the number itself, or the account into which it was joined.
pub(crate) fn survivor_of(tx: &Read, member_id: MemberId) -> Result<MemberId> {
    let next = sql!("SELECT survivor_id FROM joins WHERE joined_id = ?1 AND undone_at IS NULL");
    let mut number = member_id;
    while let Some(survivor) = tx.find(next, [number])? {
        number = survivor;
    }
    Ok(number)
}

/// The numbers of every account of a person, as far as they were joined, of which `member_id` is one.
pub(crate) fn list_numbers(tx: &Read, member_id: MemberId) -> Result<Vec<MemberId>> {
    let mut numbers = vec![survivor_of(tx, member_id)?];
    let mut at = 0;
    while let Some(number) = numbers.get(at) {
        let into: Vec<MemberId> =
            tx.list(sql!("SELECT joined_id FROM joins WHERE survivor_id = ?1 AND undone_at IS NULL"), [*number])?;
        numbers.extend(into);
        at += 1;
    }
    Ok(numbers)
}

/// Marks a join as undone, and forgets what it moved.
pub(crate) fn set_undone(tx: &Write, join_id: JoinId) -> Result<usize> {
    tx.run(sql!("DELETE FROM joined_rows WHERE join_id = ?1"), [join_id])?;
    tx.run(sql!("UPDATE joins SET undone_at = ?2 WHERE join_id = ?1"), (join_id, tx.now()))
}

/// Forgets what the oldest join moved that can be undone no more.
pub(crate) fn purge_expired(tx: &Write, old: Moment) -> Result<usize> {
    let sql = sql!(
        "DELETE FROM joined_rows WHERE join_id =
             (SELECT join_id FROM joins WHERE join_id = (SELECT min(join_id) FROM joined_rows) AND joined_at <= ?1)"
    );
    tx.run(sql, [old])
}

row! {
    /// Somebody who signed up alone and may be a known member.
    #[derive(Debug)]
    pub(crate) struct AlikeAccounts in "a." {
        pub(crate) member_id: MemberId,
        pub(crate) name: String = "coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username)",
        pub(crate) other_id: MemberId,
        pub(crate) other: String = "coalesce(nullif(o.real_name, ''), nullif(o.screen_name, ''), o.username)",
    }
}

pub(crate) fn insert_alike(tx: &Write, member_id: MemberId, other_id: MemberId) -> Result<usize> {
    insert!(tx.run, "INSERT INTO alikes" { member_id, other_id, noted_at: tx.now() } "ON CONFLICT (member_id) DO NOTHING")
}

const ALIKE: &str = joined!(
    "SELECT ",
    AlikeAccounts::COLUMNS,
    " FROM alikes a JOIN members m ON m.member_id = a.member_id JOIN members o ON o.member_id = a.other_id
      WHERE a.settled_at IS NULL "
);

/// Those about whom the desk has not decided, the oldest first.
pub(crate) fn list_alikes(tx: &Read, limit: i64) -> Result<Vec<AlikeAccounts>> {
    tx.list(sql!(ALIKE, "ORDER BY a.noted_at LIMIT ?1"), [limit])
}

/// Whom a member may be, where the desk has not decided.
pub(crate) fn find_alike(tx: &Read, member_id: MemberId) -> Result<Option<AlikeAccounts>> {
    tx.find(sql!(ALIKE, "AND a.member_id = ?1"), [member_id])
}

/// Marks as decided whether a member is another one. Returns whether that was open.
pub(crate) fn settle_alike(tx: &Write, member_id: MemberId) -> Result<bool> {
    let sql = sql!("UPDATE alikes SET settled_at = :now WHERE member_id = :id AND settled_at IS NULL");
    Ok(tx.run(sql, named_params! {":now": tx.now(), ":id": member_id})? > 0)
}
