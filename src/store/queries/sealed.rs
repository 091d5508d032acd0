//! Every column that is sealed by the site key, for the rotation of that key.

use crate::keys::Purpose;
use crate::store::Write;
use rusqlite::Result;
use rusqlite::types::Value;

/// A column of sealed values, and their purpose. Null values stay null.
#[derive(Debug)]
pub(crate) struct Column {
    table: &'static str,
    /// The key column.
    row: &'static str,
    name: &'static str,
    pub purpose: Purpose,
}

const fn column(table: &'static str, row: &'static str, name: &'static str, purpose: Purpose) -> Column {
    Column { table, row, name, purpose }
}

#[rustfmt::skip]
pub(crate) const COLUMNS: &[Column] = &[
    column("site",            "only",        "key_check",       Purpose::KeyCheck),
    column("site",            "only",        "sealed_hash_key", Purpose::HashKey),
    column("partner_secrets", "secret_id",   "sealed",          Purpose::PartnerSecret),
    column("replays",         "replay_key",  "answer",          Purpose::Answer),
    column("outbox",          "message_id",  "sealed",          Purpose::Message),
    column("second_factors",  "member_id",   "sealed",          Purpose::SecondFactor),
    column("second_factors",  "member_id",   "sealed_pending",  Purpose::SecondFactor),
    column("passkey_challenges", "challenge_hash", "sealed",    Purpose::PasskeyChallenge),
    column("callbacks",       "callback_id", "sealed",          Purpose::Callback),
    column("tls",             "kind",        "sealed_key",      Purpose::TlsKey),
];

/// The number of values, and of those that could not be unsealed and stay unchanged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resealed {
    pub values: usize,
    pub damaged: usize,
}

impl Column {
    /// The statement that reads every value with the key of its row, and the one that writes a value.
    pub(crate) fn statements(&self) -> [String; 2] {
        let Column { table, row, name, .. } = self;
        [
            format!("SELECT {row}, {name} FROM {table} WHERE {name} IS NOT NULL"),
            format!("UPDATE {table} SET {name} = ?2 WHERE {row} = ?1"),
        ]
    }

    /// Replaces every value by the result of `change`.
    pub(crate) fn reseal(&self, tx: &Write, change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Result<Resealed> {
        let [all, update] = self.statements();
        let found = tx.list::<(Value, Vec<u8>)>(&all, [])?;
        let mut done = Resealed { values: found.len(), damaged: 0 };
        for (key, sealed) in found {
            match change(&sealed) {
                Some(anew) => _ = tx.run(&update, (key, anew))?,
                None => done.damaged += 1,
            }
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Adds `Purpose::X` to `found` for each place in the sources that seals for X.
    fn sealed_purposes(dir: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sealed_purposes(&path, found);
            } else if !path.ends_with("keys.rs") && !path.ends_with("sealed.rs") {
                let text: String = std::fs::read_to_string(&path).unwrap().split_whitespace().collect();
                let uses = text.split("seal(Purpose::").skip(1);
                found.extend(uses.filter_map(|rest| rest.split_once(',')).map(|(name, _)| name.to_owned()));
            }
        }
    }

    #[test]
    fn every_sealed_column_is_in_the_list() {
        let mut found = Vec::new();
        sealed_purposes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.len() > 8, "{found:?}");
        for name in &found {
            let listed = COLUMNS.iter().any(|column| format!("{:?}", column.purpose) == *name);
            assert!(listed, "{name} is sealed somewhere: a new site key must seal it anew, so list its column here");
        }
    }
}
