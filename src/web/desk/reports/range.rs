//! The days of a report, the earlier days that it is compared with, and quick ranges.

use crate::domain::local_time::TimeZone;
use crate::http::call::Call;
use crate::moment::Moment;
use crate::web::query_text;
use jiff::ToSpan;
use jiff::civil::Date;

const DEFAULT_DAYS: i64 = 30;
const DAYS_MAX: i64 = 366;
const DAY_SECONDS: i64 = 86_400;
/// Longest range that is compared with the same weekdays a week before.
const WEEK_DAYS: i64 = 7;

/// Whole days, in the site's time zone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub from: Moment,
    /// Not included.
    pub to: Moment,
    pub from_date: String,
    pub to_date: String,
}

/// A link to a common range.
pub(super) struct Quick {
    /// Key of the label.
    pub key: &'static str,
    pub from_date: String,
    pub to_date: String,
    /// Whether it is the shown range.
    pub shown: bool,
}

impl Range {
    pub(super) fn default_range(zone: &TimeZone, now: Moment) -> Range {
        Range::between(zone, zone.day(now, DEFAULT_DAYS - 1).from, zone.day(now, 0).from)
    }

    /// The range of the query, by default the last 30 days; the error is the key of the problem.
    pub(super) fn from_query(call: &Call, zone: &TimeZone, now: Moment) -> Result<Range, &'static str> {
        let (from, to) = (query_text(call, "from"), query_text(call, "to"));
        if from.is_empty() && to.is_empty() {
            return Ok(Range::default_range(zone, now));
        }
        let (Some(from), Some(to)) = (zone.start_of_date(&from), zone.start_of_date(&to)) else {
            return Err("reports.dates_wrong");
        };
        if from > to {
            return Err("reports.dates_turned");
        }
        // A day may have an hour more or less.
        if to - from > (DAYS_MAX - 1) * DAY_SECONDS + DAY_SECONDS / 2 {
            return Err("reports.dates_many");
        }
        Ok(Range::between(zone, from, to))
    }

    fn between(zone: &TimeZone, first: Moment, last: Moment) -> Range {
        Range { from: first, to: zone.day(last, 0).to, from_date: zone.date(first), to_date: zone.date(last) }
    }

    fn of_dates(zone: &TimeZone, (first, last): (Date, Date)) -> Option<Range> {
        Some(Range::between(zone, zone.start_of_date(&first.to_string())?, zone.start_of_date(&last.to_string())?))
    }

    /// The range that this one is compared with; `None` at the edge of the calendar.
    pub(super) fn before(&self, zone: &TimeZone) -> Option<Range> {
        Range::of_dates(zone, before(self.from_date.parse().ok()?, self.to_date.parse().ok()?)?)
    }

    /// Today, this week, this month and this year up to today, and the last month.
    pub(super) fn quick(&self, zone: &TimeZone, now: Moment) -> Vec<Quick> {
        let Ok(today) = zone.date(now).parse::<Date>() else { return Vec::new() };
        let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).unwrap_or(today);
        let end_before = today.first_of_month().yesterday().unwrap_or(today);
        let all = [
            ("reports.today", today, today),
            ("reports.week", monday, today),
            ("reports.month", today.first_of_month(), today),
            ("reports.last_month", end_before.first_of_month(), end_before),
            ("reports.year", today.first_of_year(), today),
        ];
        let quick = |(key, first, last): (&'static str, Date, Date)| {
            let (from_date, to_date) = (first.to_string(), last.to_string());
            Quick { key, shown: from_date == self.from_date && to_date == self.to_date, from_date, to_date }
        };
        all.into_iter().map(quick).collect()
    }
}

/// The first and last day to compare a range with. For a month, whole or so far: the same days of the month before. For a year
/// so far: the same days of the year before. For up to a week: the same weekdays a week before. Else: as many days before.
fn before(first: Date, last: Date) -> Option<(Date, Date)> {
    let same_month = (first.year(), first.month()) == (last.year(), last.month());
    if same_month && first.day() == 1 && last.day() > 1 {
        let earlier = first.yesterday().ok()?;
        let end = if last == last.last_of_month() { earlier.day() } else { last.day().min(earlier.day()) };
        return Some((earlier.first_of_month(), earlier.with().day(end).build().ok()?));
    }
    if first == first.first_of_year() && first.year() == last.year() {
        return Some((first.checked_sub(1.year()).ok()?, last.checked_sub(1.year()).ok()?));
    }
    let days = i64::from((last - first).get_days()) + 1;
    let shift = if days <= WEEK_DAYS { WEEK_DAYS } else { days };
    Some((first.checked_sub(shift.days()).ok()?, last.checked_sub(shift.days()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_compared_with_the_days_that_are_like_it() {
        for (range, earlier) in [
            // A day and a week, with the same weekdays.
            (("2026-11-21", "2026-11-21"), ("2026-11-14", "2026-11-14")),
            (("2026-11-16", "2026-11-21"), ("2026-11-09", "2026-11-14")),
            // A month so far, a whole one, and one whose last days the month before lacks.
            (("2026-11-01", "2026-11-21"), ("2026-10-01", "2026-10-21")),
            (("2026-10-01", "2026-10-31"), ("2026-09-01", "2026-09-30")),
            (("2026-11-01", "2026-11-30"), ("2026-10-01", "2026-10-31")),
            (("2026-03-01", "2026-03-30"), ("2026-02-01", "2026-02-28")),
            (("2026-01-01", "2026-01-20"), ("2025-12-01", "2025-12-20")),
            // A year so far, from a leap day too.
            (("2026-01-01", "2026-11-21"), ("2025-01-01", "2025-11-21")),
            (("2028-01-01", "2028-02-29"), ("2027-01-01", "2027-02-28")),
            // Anything else.
            (("2026-10-23", "2026-11-21"), ("2026-09-23", "2026-10-22")),
        ] {
            let date = |text: &str| text.parse::<Date>().unwrap();
            assert_eq!(before(date(range.0), date(range.1)), Some((date(earlier.0), date(earlier.1))), "{range:?}");
        }
    }

    #[test]
    fn a_click_asks_for_whole_days_by_the_site_s_calendar() {
        // Sunday, 22 November 2026, a quarter to eleven in Zurich.
        let (zone, now) = (TimeZone::named("Europe/Zurich"), 1_795_340_700);
        let range = Range::default_range(&zone, Moment(now));
        let quick = range.quick(&zone, Moment(now));
        let days: Vec<_> = quick.iter().map(|one| (one.from_date.as_str(), one.to_date.as_str())).collect();
        assert_eq!(days[0], ("2026-11-22", "2026-11-22"));
        assert_eq!(days[1], ("2026-11-16", "2026-11-22"));
        assert_eq!(days[2], ("2026-11-01", "2026-11-22"));
        assert_eq!(days[3], ("2026-10-01", "2026-10-31"));
        assert_eq!(days[4], ("2026-01-01", "2026-11-22"));
        assert!(quick.iter().all(|one| !one.shown));
    }
}
