//! The days that a report is about.

use crate::domain::local_time::Hall;
use crate::http::call::Call;
use crate::web::asked;

const DAYS_USUAL: i64 = 30;
const DAYS_MAX: i64 = 366;
const DAY_SECONDS: i64 = 86_400;

/// From the first moment of one day to the end of another, by the hall's clock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub from: i64,
    /// Not included.
    pub to: i64,
    pub from_date: String,
    pub to_date: String,
}

impl Range {
    pub(super) fn usual(hall: &Hall, now: i64) -> Range {
        Range::between(hall, hall.day(now, DAYS_USUAL - 1).from, hall.day(now, 0).from)
    }

    /// As the address says; the error is the key of what is wrong with that.
    pub(super) fn asked(call: &Call, hall: &Hall, now: i64) -> Result<Range, &'static str> {
        let (from, to) = (asked(call, "from"), asked(call, "to"));
        if from.is_empty() && to.is_empty() {
            return Ok(Range::usual(hall, now));
        }
        let (Some(from), Some(to)) = (hall.start_of(&from), hall.start_of(&to)) else {
            return Err("reports.dates_wrong");
        };
        if from > to {
            return Err("reports.dates_turned");
        }
        // A day may have an hour more or less.
        if to - from > (DAYS_MAX - 1) * DAY_SECONDS + DAY_SECONDS / 2 {
            return Err("reports.dates_many");
        }
        Ok(Range::between(hall, from, to))
    }

    fn between(hall: &Hall, first: i64, last: i64) -> Range {
        Range { from: first, to: hall.day(last, 0).to, from_date: hall.date(first), to_date: hall.date(last) }
    }
}
