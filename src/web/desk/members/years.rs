//! The years of a logbook: how much each has, and where its lines begin.

use crate::domain::local_time::Hall;
use crate::domain::minutes;
use crate::http::failure::Failure;
use crate::store::Read;
use crate::store::queries::logbook;

/// Years that are looked at: longer than anybody flies.
const YEARS_MAX: i16 = 80;

/// One year of a logbook.
pub(crate) struct Year {
    pub(crate) year: i16,
    pub(crate) entries: i64,
    /// `H:MM`, of what was flown.
    pub(crate) flown: String,
    /// Lines that are newer.
    pub(crate) skip: i64,
}

/// The years in which there are entries, the latest first; and the number of entries in all.
pub(crate) fn list(tx: &Read, hall: &Hall, member_id: i64, now: i64) -> Result<(Vec<Year>, i64), Failure> {
    let Some((first, last)) = logbook::find_span(tx, member_id)? else { return Ok((Vec::new(), 0)) };
    let (mut years, mut skip) = (Vec::new(), 0);
    let last = hall.year(last);
    for year in (hall.year(first).max(last - YEARS_MAX)..=last).rev() {
        let start = |year: i16| hall.start_of(&format!("{year:04}-01-01"));
        let from = start(year).unwrap_or(i64::MIN);
        let to = start(year + 1).unwrap_or(i64::MAX);
        let (entries, flown) = logbook::sum_between(tx, member_id, (from, to), now)?;
        if entries > 0 {
            years.push(Year { year, entries, flown: minutes::show(flown), skip });
            skip += entries;
        }
    }
    Ok((years, skip))
}
