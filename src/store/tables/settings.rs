//! What admins set in pages: one row a change, of which the last of a key is in force. Every value is sealed, because some
//! are passwords.

use crate::domain::ids::{ChangeId, MemberId};
use crate::keys::{Keys, columns};
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, stays};
use crate::store::personal::{NUMBERS, OUR_WORD, Rows, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "settings",
    "change_id",
    &[not_personal("key", OUR_WORD), not_personal("sealed", "a setting of the site").sealed(&columns::SETTING)],
    &[Rows::others("settings_changed", "set_by = :id", NUMBERS).only(&["change_id", "key", "set_at"])],
)
.joins(&[stays("set_by", WHO_DID)])];

row! {
    /// A change of a setting.
    #[derive(Debug)]
    pub(crate) struct Change in "s." {
        pub(crate) change_id: ChangeId,
        pub(crate) key: String,
        /// The value; `None`: the default.
        pub(crate) sealed: Option<Vec<u8>>,
        pub(crate) set_at: Moment,
        pub(crate) admin: String = "coalesce(nullif(m.screen_name, ''), m.username, '')",
        /// Whether no later change is of the same key.
        pub(crate) is_last: bool = "NOT EXISTS (SELECT 1 FROM settings l WHERE l.key = s.key AND l.change_id > s.change_id)",
    }
}

impl Change {
    /// The value as text; `None`: the default, or sealed by another key.
    pub(crate) fn value(&self, keys: &Keys) -> Option<String> {
        let place = columns::SETTING.at([self.change_id.into(), self.key.as_str().into()]);
        String::from_utf8(keys.unseal(&place, self.sealed.as_deref()?)?).ok()
    }
}

const CHANGE: &str =
    joined!("SELECT ", Change::COLUMNS, " FROM settings s LEFT JOIN members m ON m.member_id = s.set_by");

/// Sets a value; `None`: the default. Returns the number of the change.
pub(crate) fn insert(tx: &Write, keys: &Keys, key: &str, value: Option<&str>, set_by: Option<MemberId>) -> Result<i64> {
    let change_id = tx.next_number("settings")?;
    let place = columns::SETTING.at([change_id.into(), key.into()]);
    let sealed = value.map(|value| keys.seal(&place, value.as_bytes()));
    insert!(tx.insert, "INSERT INTO settings" { change_id, key, sealed, set_by, set_at: tx.now() })
}

/// The last change of each key.
pub(crate) fn list_in_force(tx: &Read) -> Result<Vec<Change>> {
    tx.list(sql!(CHANGE, " WHERE s.change_id IN (SELECT max(change_id) FROM settings GROUP BY key)"), [])
}

/// The last changes, newest first.
pub(crate) fn list(tx: &Read, limit: i64) -> Result<Vec<Change>> {
    tx.list(sql!(CHANGE, " ORDER BY s.change_id DESC LIMIT ?1"), [limit])
}

pub(crate) fn find(tx: &Read, change_id: ChangeId) -> Result<Option<Change>> {
    tx.find(sql!(CHANGE, " WHERE s.change_id = ?1"), [change_id])
}

/// The change of the same key before this one.
pub(crate) fn find_before(tx: &Read, change_id: ChangeId, key: &str) -> Result<Option<Change>> {
    let sql = sql!(CHANGE, " WHERE s.key = ?1 AND s.change_id < ?2 ORDER BY s.change_id DESC LIMIT 1");
    tx.find(sql, (key, change_id))
}
