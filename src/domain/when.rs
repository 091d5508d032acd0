//! Days and moments by the hall's clock, as people say them.

use crate::domain::local_time::Hall;
use crate::i18n::date::{in_short, in_words};
use crate::i18n::language::Language;

/// `21 November 2026`.
pub(crate) fn day(language: Language, hall: &Hall, moment: i64) -> String {
    in_words(language, hall.noon_utc(moment))
}

/// `21 Nov 2026, 14:05`.
pub(crate) fn moment(language: Language, hall: &Hall, moment: i64) -> String {
    let noon = hall.noon_utc(moment);
    format!("{} {}, {}", in_short(language, noon), hall.year(moment), hall.clock(moment))
}

/// `21 Nov`, where little room is and the year goes without saying.
pub(crate) fn short(language: Language, hall: &Hall, moment: i64) -> String {
    in_short(language, hall.noon_utc(moment))
}
