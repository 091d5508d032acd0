//! Days and moments in the site's time zone, formatted for people.

use crate::domain::local_time::TimeZone;
use crate::i18n::date::{in_full, in_short};
use crate::i18n::language::Language;
use crate::moment::Moment;

/// `21 November 2026`.
pub(crate) fn day(language: Language, zone: &TimeZone, moment: Moment) -> String {
    in_full(language, zone.calendar(moment).date())
}

/// `21 Nov 2026, 14:05`.
pub(crate) fn moment(language: Language, zone: &TimeZone, moment: Moment) -> String {
    let at = zone.calendar(moment);
    format!("{} {}, {:02}:{:02}", in_short(language, at.date()), at.year(), at.hour(), at.minute())
}

/// `21 Nov`, where space is short and the year is obvious.
pub(crate) fn short(language: Language, zone: &TimeZone, moment: Moment) -> String {
    in_short(language, zone.calendar(moment).date())
}
