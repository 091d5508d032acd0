//! The levels for which a member can have a certificate, as the desk and the kiosk list them.

use crate::app::certificates::Earned;
use crate::domain::catalogue::names;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::fields;
use crate::i18n::language::{Language, Text};
use serde_json::Value;

/// More characters than a key has.
const KEY_CHARS_MAX: usize = 200;

/// A level that the member holds.
pub(super) struct Certified {
    /// See [`crate::app::certificates::Certificate::key`].
    pub(super) key: String,
    pub(super) name: String,
    pub(super) date: String,
    pub(super) signer: String,
}

/// The levels in their order, the latest first.
pub(super) fn list(language: Language, zone: &TimeZone, earned: Earned) -> Vec<Certified> {
    let levels = earned.rows.into_iter().map(|(row, _)| Certified {
        key: row.key(),
        name: names::say(language, &row.name).to_owned(),
        date: when::day(language, zone, row.entry_date),
        signer: row.signer_name,
    });
    levels.collect()
}

/// Parses the field of a form that names a level.
pub(super) fn key(value: &Value) -> Result<String, Text> {
    fields::line(KEY_CHARS_MAX)(value)
}
