//! The hall's own clock: days and hours as its people count them, whatever zone the server is in.

use super::tunnel;
use jiff::civil::{DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

/// The time zone of a hall.
#[derive(Debug, Clone)]
pub struct Hall(TimeZone);

/// A day of the hall, from its first moment to the next day's. Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    pub from: i64,
    pub to: i64,
}

/// The IANA name of a time zone that is known here, as it is spelt there.
pub fn zone(text: &str) -> Result<String, &'static str> {
    let known = TimeZone::get(text).ok().and_then(|zone| Some(zone.iana_name()?.to_owned()));
    tunnel::time_zone(&known.unwrap_or_default())
}

impl Hall {
    /// A hall that does not say where it is.
    pub const UTC: Hall = Hall(TimeZone::UTC);

    /// By the zone's IANA name; UTC where there is none or it is not known.
    pub fn at(zone: &str) -> Hall {
        Hall(TimeZone::get(zone).unwrap_or(TimeZone::UTC))
    }

    fn zoned(&self, moment: i64) -> Zoned {
        Timestamp::from_second(moment).unwrap_or_default().to_zoned(self.0.clone())
    }

    /// What the hall's calendar and clock show at a moment.
    pub(crate) fn calendar(&self, moment: i64) -> DateTime {
        self.zoned(moment).datetime()
    }

    /// The day of a moment, or one so many days before it.
    pub fn day(&self, moment: i64, days_before: i64) -> Day {
        let day = self.zoned(moment).date().checked_sub(days_before.days()).unwrap_or_default();
        let start = |date: jiff::civil::Date| {
            let zoned = date.to_zoned(self.0.clone());
            zoned.map_or(moment, |zoned| zoned.timestamp().as_second())
        };
        Day { from: start(day), to: day.tomorrow().map_or(moment, start) }
    }

    /// `14:05`.
    pub fn clock(&self, moment: i64) -> String {
        let zoned = self.zoned(moment);
        format!("{:02}:{:02}", zoned.hour(), zoned.minute())
    }

    /// `2026-11-21 14:05 CET`, for where the zone is not plain from the place.
    pub fn shown(&self, moment: i64) -> String {
        self.zoned(moment).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    /// `2026-11-21T14:05:00+01:00`: exact, and the hall's own time (RFC 3339).
    pub(crate) fn stamp(&self, moment: i64) -> String {
        self.zoned(moment).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// `2026-11-21 14:05`, as spreadsheets read it; the zone stands elsewhere.
    pub(crate) fn written(&self, moment: i64) -> String {
        let at = self.calendar(moment);
        format!("{} {:02}:{:02}", at.date(), at.hour(), at.minute())
    }

    /// `Europe/Zurich`.
    pub(crate) fn zone_name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The moment that the hall writes as `2026-11-21` (its first), or as `2026-11-21T14:05`.
    pub fn moment_of(&self, written: &str) -> Option<i64> {
        let at: DateTime = written.parse().ok()?;
        at.to_zoned(self.0.clone()).ok().map(|zoned| zoned.timestamp().as_second())
    }

    pub fn year(&self, moment: i64) -> i16 {
        self.zoned(moment).year()
    }

    /// `2026-11-21`, as a field for a date has it too.
    pub fn date(&self, moment: i64) -> String {
        self.zoned(moment).date().to_string()
    }

    /// The first moment of a day that is written like `2026-11-21`.
    pub fn start_of(&self, written: &str) -> Option<i64> {
        let date: jiff::civil::Date = written.parse().ok()?;
        ((1900..=2200).contains(&date.year()) && date.to_string() == written).then_some(())?;
        date.to_zoned(self.0.clone()).ok().map(|zoned| zoned.timestamp().as_second())
    }

    /// Noon in UTC of the day that the hall has, for what names days in UTC.
    pub fn noon_utc(&self, moment: i64) -> i64 {
        let noon = self.zoned(moment).date().at(12, 0, 0, 0).to_zoned(TimeZone::UTC);
        noon.map_or(moment, |noon| noon.timestamp().as_second())
    }

    /// A moment of the day that such a field names: `now` where that is its day, else its noon.
    pub fn on_date(&self, now: i64, date: &str) -> Option<i64> {
        if date == self.date(now) {
            return Some(now);
        }
        let noon = date.parse::<jiff::civil::Date>().ok()?.at(12, 0, 0, 0).to_zoned(self.0.clone()).ok()?;
        Some(noon.timestamp().as_second())
    }

    /// 0 to 23.
    pub fn hour(&self, moment: i64) -> usize {
        self.zoned(moment).hour() as usize
    }

    /// Counted from Monday, which is 0.
    pub fn weekday(&self, moment: i64) -> usize {
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

    /// The day before or after a moment's, written as a field for a date has it: `days` are added.
    pub(crate) fn date_beside(&self, moment: i64, days: i64) -> String {
        self.zoned(moment).date().checked_add(days.days()).unwrap_or_default().to_string()
    }

    /// The moment at which the hall's clock shows `14:05` on the day of `moment`.
    pub fn at_clock(&self, moment: i64, clock: &str) -> Option<i64> {
        let (hour, minute) = clock.split_once(':')?;
        let time = Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()?;
        let zoned = self.zoned(moment).date().to_datetime(time).to_zoned(self.0.clone()).ok()?;
        Some(zoned.timestamp().as_second())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-29 12:00 in Zurich: the day on which an hour is left out.
    const SPRING: i64 = 1_774_778_400;

    #[test]
    fn a_day_is_as_long_as_the_hall_s_clock_makes_it() {
        let zurich = Hall::at("Europe/Zurich");
        let day = zurich.day(SPRING, 0);
        assert_eq!((day.to - day.from) / 3600, 23);
        assert_eq!(zurich.clock(SPRING), "12:00");
        assert_eq!(zurich.weekday(SPRING), 6);
        assert_eq!(zurich.clock(zurich.day(SPRING, 7).from), "00:00");
        assert_eq!(zurich.at_clock(SPRING, "14:30"), Some(SPRING + 9_000));
        assert_eq!(zurich.at_clock(SPRING, "25:00"), None);
    }

    #[test]
    fn a_day_is_written_and_read_by_the_hall_s_calendar() {
        let zurich = Hall::at("Europe/Zurich");
        assert_eq!((zurich.clock(SPRING).as_str(), zurich.date(SPRING).as_str()), ("12:00", "2026-03-29"));
        assert_eq!(zurich.start_of("2026-03-29"), Some(zurich.day(SPRING, 0).from));
        for odd in ["", "29.3.2026", "2026-02-30", "9999-01-01", "2026-03-29T12:00"] {
            assert_eq!(zurich.start_of(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_moment_is_shown_with_its_zone_and_read_in_it() {
        let zurich = Hall::at("Europe/Zurich");
        assert_eq!(zurich.shown(SPRING), "2026-03-29 12:00 CEST");
        assert_eq!(zurich.moment_of("2026-03-29T12:00"), Some(SPRING));
        assert_eq!(Hall::UTC.shown(SPRING), "2026-03-29 10:00 UTC");
        assert_eq!(zurich.stamp(SPRING), "2026-03-29T12:00:00+02:00");
        assert_eq!(
            (zurich.written(SPRING).as_str(), zurich.zone_name(), Hall::UTC.zone_name()),
            ("2026-03-29 12:00", "Europe/Zurich", "UTC")
        );
        assert_eq!(Hall::UTC.moment_of("2026-03-29T12:00"), Some(SPRING + 7_200));
    }

    #[test]
    fn an_unknown_zone_is_utc() {
        for zone in ["", "Middle/Earth"] {
            assert_eq!(Hall::at(zone).clock(SPRING), "10:00");
        }
    }
}
