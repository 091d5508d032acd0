//! Days, hours and written moments in the time zone of the site, whatever zone the server is in. A moment is a number of
//! Unix seconds; one beyond the calendar (the years -9999 to 9999) is written like the moment 0.

mod written;

use super::tunnel;
use crate::moment::Moment;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{self, AmbiguousOffset};
use jiff::{Timestamp, ToSpan, Zoned};

/// The time zone of a site.
#[derive(Debug, Clone)]
pub struct TimeZone(tz::TimeZone);

/// A day in the site's time zone, in Unix seconds: from its first moment to the first moment of the next day, which is not
/// part of the day. A day on which the clock is set ahead or back is shorter or longer than 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub from: Moment,
    pub to: Moment,
}

/// A typed moment: see [`MomentInput::parse`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MomentInput {
    /// Typed with an offset from UTC. Unix seconds.
    Exact(Moment),
    /// Typed without an offset: the date and time on a clock, whose time zone the caller knows.
    Local(DateTime),
    /// A date alone, for its first moment in the time zone that the caller knows.
    Day(Date),
}

/// A typed date and time that is not one moment. The two values are the moments that may be meant, in Unix seconds, the
/// earlier one first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AmbiguousMoment {
    /// The clock was set back, and shows this time twice.
    Repeated([Moment; 2]),
    /// The clock was set ahead, and never shows this time: the moments by the offset after and before the change.
    Skipped([Moment; 2]),
}

/// When an evening begins whose guests may come after midnight.
const EVENING: &str = "18:00";

/// The years of typed dates. Far beyond them a local time has no moment.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2200;

impl MomentInput {
    /// Parses a date (`2026-11-21`, for its first moment) or a date and time (`2026-11-21 14:05`, `2026-11-21T14:05:09`). A time
    /// may have an offset, `Z` or `+01:00`. `None` for any other text, and beyond the years 1900 to 2200.
    pub(crate) fn parse(text: &str) -> Option<MomentInput> {
        // The parser of local times ignores an offset, so the parser that requires an offset comes first. Both ignore the
        // name of a time zone in brackets, so a text with a bracket is refused.
        let (typed, year) = match text.parse::<Timestamp>() {
            _ if text.contains('[') => return None,
            Ok(at) => (MomentInput::Exact(Moment(at.as_second())), TimeZone::UTC.year(Moment(at.as_second()))),
            // The parser of dates ignores a time behind the date.
            Err(_) => match text.parse::<Date>() {
                Ok(day) if day.to_string() == text => (MomentInput::Day(day), day.year()),
                _ => text.parse().ok().map(|at: DateTime| (MomentInput::Local(at), at.year()))?,
            },
        };
        YEARS.contains(&year).then_some(typed)
    }
}

/// The IANA name of a time zone in the spelling of the time zone database: `Europe/Zurich` for `europe/zurich`.
///
/// # Errors
/// The predicate of a sentence about the text, where that database has no such time zone or its name has no area: `EST`.
pub(crate) fn parse_zone_name(text: &str) -> Result<String, &'static str> {
    let known = tz::TimeZone::get(text).ok().and_then(|zone| Some(zone.iana_name()?.to_owned()));
    tunnel::time_zone(&known.unwrap_or_default())
}

/// Appends `2026-11-21`.
fn push_date(text: &mut String, date: Date) {
    // Years before the first and beyond four digits have signs of their own.
    if date.year() < 0 {
        return text.push_str(&date.to_string());
    }
    push_digits(text, (date.year() / 100) as i8);
    push_digits(text, (date.year() % 100) as i8);
    push_pairs(text, [('-', date.month()), ('-', date.day())]);
}

/// Appends each sign with the two digits of its number.
fn push_pairs<const COUNT: usize>(text: &mut String, pairs: [(char, i8); COUNT]) {
    for (sign, number) in pairs {
        text.push(sign);
        push_digits(text, number);
    }
}

/// The moment of a date and time with a zone.
fn shown(zoned: &Zoned) -> Moment {
    Moment(zoned.timestamp().as_second())
}

fn push_digits(text: &mut String, number: i8) {
    text.extend([number / 10, number % 10].map(|digit| char::from(b'0' + digit.cast_unsigned())));
}

impl TimeZone {
    /// The time zone of a site that names none.
    pub const UTC: TimeZone = TimeZone(tz::TimeZone::UTC);

    /// The time zone of this IANA name; UTC for an empty or unknown name.
    pub fn named(name: &str) -> TimeZone {
        TimeZone(tz::TimeZone::get(name).unwrap_or(tz::TimeZone::UTC))
    }

    fn zoned(&self, moment: Moment) -> Zoned {
        Timestamp::from_second(moment.0).unwrap_or_default().to_zoned(self.0.clone())
    }

    /// The date and time that the site's clock shows at a moment.
    pub(crate) fn calendar(&self, moment: Moment) -> DateTime {
        self.zoned(moment).datetime()
    }

    /// As [`TimeZone::calendar`]; `None` beyond the calendar.
    pub(crate) fn find_calendar(&self, moment: Moment) -> Option<DateTime> {
        Some(self.0.to_datetime(Timestamp::from_second(moment.0).ok()?))
    }

    /// The moment at which the site's clock shows this, chosen as by [`TimeZone::parse_moment`]. `None` beyond the calendar.
    pub(crate) fn moment(&self, at: DateTime) -> Option<Moment> {
        at.to_zoned(self.0.clone()).ok().map(|zoned| shown(&zoned))
    }

    /// The day of a moment, or the day that is `days_before` earlier.
    pub(crate) fn day(&self, moment: Moment, days_before: i64) -> Day {
        let day = self.zoned(moment).date().checked_sub(days_before.days()).unwrap_or_default();
        let start = |date| self.first_moment(date).unwrap_or(moment);
        Day { from: start(day), to: day.tomorrow().map_or(moment, start) }
    }

    /// The arrivals that count as those of the day at a moment: the day, and until an hour of the night the evening before too,
    /// from [`EVENING`] on.
    pub(crate) fn arrivals_day(&self, moment: Moment, until_hour: i64) -> Day {
        let day = self.day(moment, 0);
        let evening =
            self.at_clock(self.day(moment, 1).from, EVENING).filter(|_| (self.hour(moment) as i64) < until_hour);
        Day { from: evening.unwrap_or(day.from), ..day }
    }

    /// The last second of the site's day at a moment, or of the day that is `days_later` later. What ends on a day ends with it.
    pub fn end_of_day(&self, moment: Moment, days_later: i64) -> Moment {
        self.day(moment, -days_later).to - 1
    }

    /// The last second of the same date one or more years later, or, for negative `years`, earlier; that of 28 February after a
    /// 29 February. `None` beyond the calendar.
    pub(crate) fn end_of_day_years_later(&self, moment: Moment, years: i64) -> Option<Moment> {
        let date = self.find_calendar(moment)?.date().checked_add(years.years()).ok()?;
        Some(self.first_moment(date.tomorrow().ok()?)? - 1)
    }

    /// The moment, in Unix seconds, of a date or time as people and spreadsheets write it (see [`written::iso`]); without a time
    /// the first moment of the day. Chooses as [`TimeZone::parse_moment`] does.
    pub(crate) fn parse_written(&self, text: &str) -> Option<Moment> {
        self.parse_moment(&written::iso(text)?)
    }

    /// The first moment of a date. The clock may skip midnight that day, or show it twice. `None` beyond the calendar.
    fn first_moment(&self, date: Date) -> Option<Moment> {
        date.to_zoned(self.0.clone()).ok().map(|zoned| shown(&zoned))
    }

    /// The time that the site's clock shows at a moment, as `14:05`.
    pub fn clock(&self, moment: Moment) -> String {
        let zoned = self.zoned(moment);
        format!("{:02}:{:02}", zoned.hour(), zoned.minute())
    }

    /// A moment as `2026-11-21 14:05 CET`, for readers who may not know the time zone.
    pub(crate) fn date_time_zone(&self, moment: Moment) -> String {
        self.zoned(moment).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    /// A moment as `2026-11-21T14:05:00+01:00` (RFC 3339), for programs.
    pub(crate) fn rfc3339(&self, moment: Moment) -> String {
        let mut text = String::with_capacity("2026-11-21T14:05:00+01:00".len());
        self.write_rfc3339(moment, &mut text);
        text
    }

    /// Appends [`TimeZone::rfc3339`] to `text`. By hand, because a table has a million moments.
    pub(crate) fn write_rfc3339(&self, moment: Moment, text: &mut String) {
        let (at, offset) = self.clock_face(moment);
        push_date(text, at.date());
        push_pairs(text, [('T', at.hour()), (':', at.minute()), (':', at.second())]);
        let (sign, [minutes, seconds]) = (if offset < 0 { '-' } else { '+' }, [offset.abs() / 60, offset.abs() % 60]);
        push_pairs(text, [(sign, (minutes / 60) as i8), (':', (minutes % 60) as i8)]);
        // The mean solar time of a place, until about 1900.
        if seconds != 0 {
            push_pairs(text, [(':', seconds as i8)]);
        }
    }

    /// A moment as `2026-11-21 14:05`, which spreadsheets read as a date. The text does not name the time zone.
    pub fn date_time(&self, moment: Moment) -> String {
        let mut text = String::with_capacity("2026-11-21 14:05".len());
        self.write_date_time(moment, &mut text);
        text
    }

    /// Appends [`TimeZone::date_time`] to `text`. By hand, because a table has a million moments.
    pub(crate) fn write_date_time(&self, moment: Moment, text: &mut String) {
        let (at, _) = self.clock_face(moment);
        push_date(text, at.date());
        push_pairs(text, [(' ', at.hour()), (':', at.minute())]);
    }

    /// The date and time that the site's clock shows at a moment, and its offset from UTC in seconds.
    fn clock_face(&self, moment: Moment) -> (DateTime, i32) {
        let at = Timestamp::from_second(moment.0).unwrap_or_default();
        let offset = self.0.to_offset(at);
        (offset.to_datetime(at), offset.seconds())
    }

    /// A moment as `2026-11-21 14:05:09+01:00`, for people who type it again: [`MomentInput::parse`] reads it.
    pub(crate) fn date_time_offset(&self, moment: Moment) -> String {
        self.zoned(moment).strftime("%Y-%m-%d %H:%M:%S%:z").to_string()
    }

    /// The moment, in Unix seconds, of a typed date or date and time. Refuses a time that the site's clock shows twice or
    /// never.
    pub(crate) fn resolve(&self, typed: MomentInput) -> Result<Moment, AmbiguousMoment> {
        let at = match typed {
            MomentInput::Exact(at) => return Ok(at),
            MomentInput::Day(date) => return Ok(self.first_moment(date).unwrap_or_default()),
            MomentInput::Local(at) => self.0.to_ambiguous_zoned(at),
        };
        let moment = |zoned: Result<Zoned, jiff::Error>| zoned.map_or(Moment(0), |zoned| shown(&zoned));
        let both = || [moment(at.clone().earlier()), moment(at.clone().later())];
        match at.offset() {
            AmbiguousOffset::Unambiguous { .. } => Ok(moment(at.compatible())),
            AmbiguousOffset::Fold { .. } => Err(AmbiguousMoment::Repeated(both())),
            AmbiguousOffset::Gap { .. } => Err(AmbiguousMoment::Skipped(both())),
        }
    }

    /// The IANA name of the time zone, such as `Europe/Zurich`.
    pub(crate) fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The moment, in Unix seconds, of a text that [`MomentInput::parse`] reads. Where [`TimeZone::resolve`] refuses, this one
    /// chooses: the first of two moments that the site's clock shows alike; for a time that the clock skips, the moment as
    /// much later as the clock was set ahead.
    pub(crate) fn parse_moment(&self, text: &str) -> Option<Moment> {
        match MomentInput::parse(text)? {
            MomentInput::Exact(at) => Some(at),
            MomentInput::Day(date) => self.first_moment(date),
            MomentInput::Local(at) => self.moment(at),
        }
    }

    pub(crate) fn year(&self, moment: Moment) -> i16 {
        self.zoned(moment).year()
    }

    /// The day of a moment as `2026-11-21`, which is also the value of a date field of a form.
    pub fn date(&self, moment: Moment) -> String {
        self.zoned(moment).date().to_string()
    }

    /// The first moment of a day that is written as `2026-11-21`. `None` for any other text, and beyond the years 1900 to
    /// 2200.
    pub fn start_of_date(&self, text: &str) -> Option<Moment> {
        let date: Date = text.parse().ok()?;
        (YEARS.contains(&date.year()) && date.to_string() == text).then_some(())?;
        self.first_moment(date)
    }

    /// The noon in UTC of the site's day at a moment, for code that takes a day by its date in UTC, such as
    /// [`age::on`](super::age::on).
    pub fn noon_utc(&self, moment: Moment) -> Moment {
        let noon = self.zoned(moment).date().at(12, 0, 0, 0).to_zoned(tz::TimeZone::UTC);
        noon.map_or(moment, |noon| shown(&noon))
    }

    /// The moment of an entry for which only a day was typed, as `2026-11-21`: `now` if that day is today, else the day's
    /// noon. `None` where [`TimeZone::start_of_date`] has none.
    pub(crate) fn entry_moment(&self, now: Moment, date: &str) -> Option<Moment> {
        let start = self.start_of_date(date)?;
        if date == self.date(now) { Some(now) } else { self.at_clock(start, "12:00") }
    }

    /// The hour that the site's clock shows at a moment, 0 to 23.
    pub fn hour(&self, moment: Moment) -> usize {
        self.zoned(moment).hour() as usize
    }

    /// The day of the week at a moment: 0 (Monday) to 6 (Sunday).
    pub(crate) fn weekday(&self, moment: Moment) -> usize {
        match self.zoned(moment).weekday() {
            Weekday::Monday => 0,
            Weekday::Tuesday => 1,
            Weekday::Wednesday => 2,
            Weekday::Thursday => 3,
            Weekday::Friday => 4,
            Weekday::Saturday => 5,
            Weekday::Sunday => 6,
        }
    }

    /// The date `days` days after a moment, as `2026-11-21`; negative `days` go back.
    pub(crate) fn date_days_later(&self, moment: Moment, days: i64) -> String {
        self.zoned(moment).date().checked_add(days.days()).unwrap_or_default().to_string()
    }

    /// The moment at which the site's clock shows `clock` (`14:05`) on the day of `moment`. `None` where `clock` is no time.
    /// For a time that the clock shows twice or never that day, this chooses as [`TimeZone::parse_moment`] does.
    pub fn at_clock(&self, moment: Moment, clock: &str) -> Option<Moment> {
        let (hour, minute) = clock.split_once(':')?;
        let time = Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()?;
        let zoned = self.zoned(moment).date().to_datetime(time).to_zoned(self.0.clone()).ok()?;
        Some(shown(&zoned))
    }
}

#[cfg(test)]
mod tests;
