//! Days and moments where the clock is set ahead or back, and beyond the calendar.

use super::*;
use crate::moment::Moment;

/// 2026-03-29 12:00 in Zurich, on the day on which the clock is set ahead.
const SPRING: i64 = 1_774_778_400;

#[test]
fn a_day_is_as_long_as_the_site_s_clock_makes_it() {
    let zurich = TimeZone::named("Europe/Zurich");
    let day = zurich.day(Moment(SPRING), 0);
    assert_eq!((day.to - day.from) / 3600, 23);
    assert_eq!(zurich.clock(Moment(SPRING)), "12:00");
    assert_eq!(zurich.weekday(Moment(SPRING)), 6);
    assert_eq!(zurich.clock(zurich.day(Moment(SPRING), 7).from), "00:00");
    assert_eq!(zurich.at_clock(Moment(SPRING), "14:30"), Some(Moment(SPRING + 9_000)));
    assert_eq!(zurich.at_clock(Moment(SPRING), "25:00"), None);
}

#[test]
fn moments_are_written_as_the_calendar_has_them_also_where_an_hour_is_left_out_or_comes_twice() {
    for name in ["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"] {
        let zone = TimeZone::named(name);
        // A year in steps that do not divide a day, moments of the years 1 to 9999, and some beyond the calendar.
        let year = (0..365 * 13).map(|step| SPRING + step * 6_643);
        let ages = (-12..50).map(|step| step * 5_000_000_017);
        for moment in year.chain(ages).chain([i64::MIN, i64::MAX, -1, 0]) {
            let by_jiff = |format| zone.zoned(Moment(moment)).strftime(format).to_string();
            assert_eq!(zone.date_time(Moment(moment)), by_jiff("%F %H:%M"), "{name}: {moment}");
            assert_eq!(zone.rfc3339(Moment(moment)), by_jiff("%FT%H:%M:%S%:z"), "{name}: {moment}");
        }
    }
}

#[test]
fn a_day_is_written_and_read_by_the_site_s_calendar() {
    let zurich = TimeZone::named("Europe/Zurich");
    assert_eq!((zurich.clock(Moment(SPRING)).as_str(), zurich.date(Moment(SPRING)).as_str()), ("12:00", "2026-03-29"));
    assert_eq!(zurich.start_of_date("2026-03-29"), Some(zurich.day(Moment(SPRING), 0).from));
    for odd in ["", "29.3.2026", "2026-02-30", "9999-01-01", "2026-03-29T12:00"] {
        assert_eq!(zurich.start_of_date(odd), None, "{odd}");
    }
    assert_eq!(zurich.entry_moment(Moment(SPRING), "2026-03-29"), Some(Moment(SPRING)));
    assert_eq!(zurich.entry_moment(Moment(SPRING), "2026-03-28"), Some(Moment(SPRING - 23 * 3_600)));
    for odd in ["0001-01-01", "-000044-03-15", "1899-12-31", "2201-01-01", "2026-03-28T09:00", "2026-02-29"] {
        assert_eq!(zurich.entry_moment(Moment(SPRING), odd), None, "{odd}");
    }
}

#[test]
fn a_moment_is_shown_with_its_zone_and_read_in_it() {
    let zurich = TimeZone::named("Europe/Zurich");
    assert_eq!(zurich.date_time_zone(Moment(SPRING)), "2026-03-29 12:00 CEST");
    assert_eq!(zurich.parse_moment("2026-03-29T12:00"), Some(Moment(SPRING)));
    assert_eq!(TimeZone::UTC.date_time_zone(Moment(SPRING)), "2026-03-29 10:00 UTC");
    assert_eq!(zurich.rfc3339(Moment(SPRING)), "2026-03-29T12:00:00+02:00");
    assert_eq!(
        (zurich.date_time(Moment(SPRING)).as_str(), zurich.name(), TimeZone::UTC.name()),
        ("2026-03-29 12:00", "Europe/Zurich", "UTC")
    );
    assert_eq!(TimeZone::UTC.parse_moment("2026-03-29T12:00"), Some(Moment(SPRING + 7_200)));
}

#[test]
fn a_time_that_the_clock_shows_twice_or_never_is_two_moments_and_neither_is_chosen() {
    let (zurich, read) = (TimeZone::named("Europe/Zurich"), |text: &str| MomentInput::parse(text).unwrap());
    let (back, ahead) = (1_792_888_200, 1_774_747_800);
    assert_eq!(
        zurich.resolve(read("2026-10-25 02:30:00")),
        Err(AmbiguousMoment::Repeated([Moment(back), Moment(back + 3_600)]))
    );
    assert_eq!(
        [back, back + 3_600].map(|at| zurich.date_time_offset(Moment(at))),
        ["2026-10-25 02:30:00+02:00", "2026-10-25 02:30:00+01:00"]
    );
    assert_eq!(
        zurich.resolve(read("2026-03-29 02:30:00")),
        Err(AmbiguousMoment::Skipped([Moment(ahead - 3_600), Moment(ahead)]))
    );
    assert_eq!(
        [ahead - 3_600, ahead].map(|at| zurich.date_time_offset(Moment(at))),
        ["2026-03-29 01:30:00+01:00", "2026-03-29 03:30:00+02:00"]
    );
    for (text, moment) in [
        ("2026-10-25 02:30:00+01:00", back + 3_600),
        ("2026-10-25 00:30:00Z", back),
        ("2026-10-25 01:59:59", back - 1_801),
        ("2026-03-29 03:30:00", ahead),
        ("2026-03-29 12:00", SPRING),
    ] {
        assert_eq!(zurich.resolve(read(text)), Ok(Moment(moment)), "{text}");
        assert_eq!(zurich.resolve(read(&zurich.date_time_offset(Moment(moment)))), Ok(Moment(moment)), "{text}");
    }
    assert_eq!(TimeZone::UTC.resolve(read("2026-10-25 02:30:00")), Ok(Moment(back + 7_200)));
    let beyond = ["9999-12-31 23:59:59", "9999-12-31", "2201-01-01T00:00:00Z", "1899-12-31 12:00"];
    for odd in
        ["", "yesterday", "1795356190", "2026-11-22 25:00:00", "2026-11-22 14:03:10[Asia/Tokyo]"].iter().chain(&beyond)
    {
        assert_eq!(MomentInput::parse(odd), None, "{odd}");
    }
}

#[test]
fn a_date_alone_is_its_first_moment_also_where_midnight_comes_twice_or_never() {
    for (zone, date, first) in [
        ("America/Havana", "2026-03-08", "2026-03-08 01:00:00-04:00"),
        ("America/Havana", "2026-11-01", "2026-11-01 00:00:00-04:00"),
        ("Asia/Beirut", "2026-03-29", "2026-03-29 01:00:00+03:00"),
        ("Asia/Beirut", "2026-10-25", "2026-10-25 00:00:00+02:00"),
        ("Africa/Cairo", "2026-04-24", "2026-04-24 01:00:00+03:00"),
        ("Europe/Zurich", "2026-03-29", "2026-03-29 00:00:00+01:00"),
    ] {
        let zone = TimeZone::named(zone);
        let Some(typed) = MomentInput::parse(date) else { panic!("{date}") };
        let moment = zone.resolve(typed).unwrap();
        assert_eq!((zone.date_time_offset(moment).as_str(), *zone.date(moment - 1) < *date), (first, true), "{date}");
        assert_eq!((zone.parse_moment(date), zone.start_of_date(date)), (Some(moment), Some(moment)), "{date}");
        assert_eq!(zone.day(moment + 12 * 3_600, 0).from, moment, "{date}");
    }
}

#[test]
fn an_unknown_zone_is_utc() {
    for zone in ["", "Middle/Earth"] {
        assert_eq!(TimeZone::named(zone).clock(Moment(SPRING)), "10:00");
    }
}
