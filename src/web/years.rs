//! The years of a logbook: entries, flight time, and where the lines of each year begin.

use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::Read;
use crate::store::queries::logbook;

/// Most years that are listed.
const YEARS_MAX: usize = 80;

/// One year of a logbook.
pub(crate) struct Year {
    pub(crate) year: i16,
    pub(crate) entries: i64,
    /// Flight time, `H:MM`; empty where [`add_flown`] did not add it.
    pub(crate) flown: String,
    /// Number of newer lines.
    pub(crate) skip: i64,
}

/// The years with entries, the latest first; and the total number of entries.
pub(crate) fn list(tx: &Read, zone: &TimeZone, member_id: MemberId) -> Result<(Vec<Year>, i64), Failure> {
    let (mut years, mut skip, mut before) = (Vec::new(), 0, Moment::LAST);
    while let Some(last) = logbook::find_last_before(tx, member_id, before)? {
        if years.len() == YEARS_MAX {
            break;
        }
        let year = zone.year(last);
        let from = begin(zone, year).unwrap_or(Moment::FIRST);
        let entries = logbook::count_between(tx, member_id, (from, before))?;
        years.push(Year { year, entries, flown: String::new(), skip });
        (skip, before) = (skip + entries, from);
    }
    Ok((years, skip))
}

/// Adds the flight time up to `now` to the years of which the page shows lines.
pub(crate) fn add_flown(
    tx: &Read,
    zone: &TimeZone,
    member_id: MemberId,
    now: Moment,
    years: &mut [Year],
    is_shown: impl Fn(i16) -> bool,
) -> Result<(), Failure> {
    for year in years.iter_mut().filter(|one| is_shown(one.year)) {
        let from = begin(zone, year.year).unwrap_or(Moment::FIRST);
        let to = begin(zone, year.year.saturating_add(1)).unwrap_or(Moment::LAST).min(now + 1);
        year.flown = minutes::show(logbook::sum_flown_between(tx, member_id, (from, to))?);
    }
    Ok(())
}

/// The first moment of a year; `None` beyond the calendar.
fn begin(zone: &TimeZone, year: i16) -> Option<Moment> {
    zone.start_of_date(&format!("{year:04}-01-01"))
}
