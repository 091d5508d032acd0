//! The language of a member's mails and papers: that of the latest sign-in, or the one that the member chose.

use crate::domain::ids::MemberId;
use crate::store::{Read, Write};
use rusqlite::Result;

/// Sets the language in which the member signed in last, as a tag, unless the member chose one.
pub(crate) fn follow(tx: &Write, member_id: MemberId, tag: &str) -> Result<usize> {
    let sql = sql!("UPDATE members SET language = ?2 WHERE member_id = ?1 AND language <> ?2 AND language_chosen = 0");
    tx.run(sql, (member_id, tag))
}

/// Sets the language that the member chose, as a tag; empty: that of the next sign-in.
pub(crate) fn choose(tx: &Write, member_id: MemberId, tag: &str) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET language = iif(?2 = '', language, ?2), language_chosen = (?2 <> '') WHERE member_id = ?1"
    );
    tx.run(sql, (member_id, tag))
}

/// The tag of the language that the member chose.
pub(crate) fn find_chosen(tx: &Read, member_id: MemberId) -> Result<Option<String>> {
    tx.find(sql!("SELECT language FROM members WHERE member_id = ?1 AND language_chosen = 1"), [member_id])
}
