//! The levels for which a member can have a certificate, as the desk and the kiosk list them.

use crate::app::certificates::Earned;
use crate::domain::catalogue::names;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::i18n::language::Language;

/// A level that the member holds.
pub(super) struct Certified {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) date: String,
    pub(super) signer: String,
}

/// The levels in their order, the latest first.
pub(super) fn list(language: Language, zone: &TimeZone, earned: Earned) -> Vec<Certified> {
    let levels = earned.rows.into_iter().enumerate().map(|(place, (row, _))| Certified {
        place,
        name: names::say(language, &row.name).to_owned(),
        date: when::day(language, zone, row.entry_date),
        signer: row.signer_name,
    });
    levels.collect()
}
