//! The years of a logbook: how much each has, and where its lines begin.

use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::http::failure::Failure;
use crate::store::Read;
use crate::store::queries::logbook;

/// Years that are looked at: longer than anybody flies.
const YEARS_MAX: usize = 80;

/// One year of a logbook.
pub(crate) struct Year {
    pub(crate) year: i16,
    pub(crate) entries: i64,
    /// `H:MM`, of what was flown; empty where that was not asked for.
    pub(crate) flown: String,
    /// Lines that are newer.
    pub(crate) skip: i64,
}

/// The years in which there are entries, the latest first; and the number of entries in all.
pub(crate) fn list(tx: &Read, zone: &TimeZone, member_id: i64) -> Result<(Vec<Year>, i64), Failure> {
    let (mut years, mut skip, mut before) = (Vec::new(), 0, i64::MAX);
    while let Some(last) = logbook::find_last_before(tx, member_id, before)? {
        if years.len() == YEARS_MAX {
            break;
        }
        let year = zone.year(last);
        let from = begin(zone, year).unwrap_or(i64::MIN);
        let entries = logbook::count_between(tx, member_id, (from, before))?;
        years.push(Year { year, entries, flown: String::new(), skip });
        (skip, before) = (skip + entries, from);
    }
    Ok((years, skip))
}

/// Adds up what was flown by `now` in the years of which a page shows lines.
pub(crate) fn add_flown(
    tx: &Read,
    zone: &TimeZone,
    member_id: i64,
    now: i64,
    years: &mut [Year],
    is_shown: impl Fn(i16) -> bool,
) -> Result<(), Failure> {
    for year in years.iter_mut().filter(|one| is_shown(one.year)) {
        let from = begin(zone, year.year).unwrap_or(i64::MIN);
        let to = begin(zone, year.year.saturating_add(1)).unwrap_or(i64::MAX).min(now + 1);
        year.flown = minutes::show(logbook::sum_flown_between(tx, member_id, (from, to))?);
    }
    Ok(())
}

/// The first moment of a year; `None` beyond the calendar.
fn begin(zone: &TimeZone, year: i16) -> Option<i64> {
    zone.start_of(&format!("{year:04}-01-01"))
}
