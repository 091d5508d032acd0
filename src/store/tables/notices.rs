//! Notices to members.

use super::events::{self, About, Event};
use crate::domain::ids::{MemberId, NoticeId};
use crate::moment::Moment;
use crate::store::joining::{ITS_OWN, stays};
use crate::store::personal::{Mention, OUR_WORD, Rows, Table, mentioned, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new("notices", "notification_id", &[not_personal("subject", OUR_WORD), mentioned("detail", Mention::WordInJson)], &[
        Rows::deleted("notices", "member_id = :id"),
        Rows::others(
            "notices_to_others",
            "member_id IN (SELECT instructor_id FROM entries WHERE member_id = :id UNION SELECT member_id FROM entries WHERE instructor_id = :id
                           UNION SELECT author_id FROM entries WHERE instructor_id = :id)
             AND member_id <> :id
             AND EXISTS (SELECT 1 FROM entries e WHERE e.entry_id = json_extract(detail, '$.entry_id') AND :id IN (e.member_id, e.instructor_id))",
            "others' notices; the person's name in it is replaced",
        ).only(&["notification_id", "subject", "created_at"]),
    ]).joins(&[stays("member_id", ITS_OWN)]),
];

/// The notices that are kept for a member, as many as one list shows. Older ones are deleted.
const NOTICES_PER_MEMBER_MAX: i64 = 5_000;

row! {
    #[derive(Debug)]
    pub(crate) struct Notice {
        pub notification_id: NoticeId,
        pub subject: String,
        pub detail: String,
        pub created_at: Moment,
        pub read_at: Option<Moment>,
    }
}

/// Adds a notice; returns its number. `subject` is the key of a text, `detail` the JSON of the text's parameters: see
/// [`crate::app::notice`]. An erased member gets none, and the number is 0.
pub fn insert(tx: &Write, member_id: MemberId, subject: &str, detail: &str) -> Result<i64> {
    if tx.get(sql!("SELECT EXISTS (SELECT 1 FROM erasures WHERE member_id = ?1)"), [member_id])? {
        return Ok(0);
    }
    let notification_id =
        insert!(tx.insert, "INSERT INTO notices" { member_id, subject, detail, created_at: tx.now() })?;
    let surplus = sql!(
        "DELETE FROM notices WHERE member_id = :id AND notification_id <=
                   (SELECT notification_id FROM notices WHERE member_id = :id
                    ORDER BY notification_id DESC LIMIT 1 OFFSET :kept)"
    );
    tx.run(surplus, named_params! {":id": member_id, ":kept": NOTICES_PER_MEMBER_MAX})?;
    let kind = subject.strip_prefix("notice.").unwrap_or(subject);
    let data = format!(r#"{{"notification_id":{notification_id},"kind":"{kind}"}}"#);
    events::insert(tx, Event::NoticeCreated, &About { data: Some(&data), ..About::member(member_id) })?;
    Ok(notification_id)
}

/// A member's notices, newest first.
pub(crate) fn list(tx: &Read, member_id: MemberId, limit: i64, offset: i64) -> Result<Vec<Notice>> {
    let sql = sql!(
        "SELECT ",
        Notice::COLUMNS,
        " FROM notices WHERE member_id = ?1 ORDER BY notification_id DESC LIMIT ?2 OFFSET ?3"
    );
    tx.list(sql, (member_id, limit, offset))
}

/// How many notices a member has, and how many of them are unread.
pub(crate) fn counts(tx: &Read, member_id: MemberId) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT (SELECT count(*) FROM notices WHERE member_id = ?1),
                      (SELECT count(*) FROM notices WHERE member_id = ?1 AND read_at IS NULL)"
    );
    tx.get(sql, [member_id])
}

/// Marks the unread notices of the member up to a number as read.
pub(crate) fn set_read_up_to(tx: &Write, member_id: MemberId, last: i64) -> Result<usize> {
    let sql = sql!(
        "UPDATE notices SET read_at = :now WHERE member_id = :member_id AND read_at IS NULL AND notification_id <= :last"
    );
    tx.run(sql, named_params! {":now": tx.now(), ":member_id": member_id, ":last": last})
}

/// Marks a notice of the member as read; a second time changes nothing. Returns whether there is such a notice.
pub(crate) fn set_read(tx: &Write, member_id: MemberId, notification_id: NoticeId) -> Result<bool> {
    let sql = sql!(
        "UPDATE notices SET read_at = coalesce(read_at, :now) WHERE notification_id = :id AND member_id = :member_id"
    );
    Ok(tx.run(sql, named_params! {":now": tx.now(), ":id": notification_id, ":member_id": member_id})? > 0)
}
