//! The age of a person on a day.

use crate::moment::Moment;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

/// The age from which a person is an adult.
pub(crate) const ADULT_YEARS: i16 = 18;

/// The age of a person on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age {
    pub(crate) years: i16,
    /// Whether the day is the birthday. A birthday on 29 February falls on the 28th in other years.
    pub(crate) birthday: bool,
}

/// The age of a person on a day. `dob` is a moment on the day of birth and `noon_utc` one on the day in question, both
/// in Unix seconds and taken in UTC. `None` outside the calendar.
pub(crate) fn on(dob: Moment, noon_utc: Moment) -> Option<Age> {
    let date = |moment: Moment| Timestamp::from_second(moment.0).ok().map(|at| Offset::UTC.to_datetime(at).date());
    let (born, day): (Date, Date) = (date(dob)?, date(noon_utc)?);
    let anniversary = born.with().year(day.year()).build().or_else(|_| Date::new(day.year(), 2, 28)).ok()?;
    let years = day.year() - born.year() - i16::from(day < anniversary);
    Some(Age { years, birthday: day == anniversary && years > 0 })
}

/// The day on which somebody born on the day of `dob` is this old; `None` outside the calendar.
pub(crate) fn birthday(dob: Moment, years: i64) -> Option<Date> {
    let born = Offset::UTC.to_datetime(Timestamp::from_second(dob.0).ok()?).date();
    let year = born.year().checked_add(i16::try_from(years).ok()?)?;
    born.with().year(year).build().or_else(|_| Date::new(year, 2, 28)).ok()
}

#[cfg(test)]
mod tests {
    use super::{Age, birthday, on};
    use crate::moment::Moment;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    fn age(born: jiff::civil::Date, day: jiff::civil::Date) -> Age {
        let at = |date: jiff::civil::Date, hour| {
            Moment(date.at(hour, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp().as_second())
        };
        on(at(born, 0), at(day, 12)).unwrap()
    }

    #[test]
    fn a_birthday_is_the_day_on_which_the_years_grow() {
        let born = date(2008, 5, 31);
        assert_eq!(age(born, date(2026, 5, 30)), Age { years: 17, birthday: false });
        assert_eq!(age(born, date(2026, 5, 31)), Age { years: 18, birthday: true });
        assert_eq!(age(born, date(2008, 5, 31)), Age { years: 0, birthday: false });
        let leap = date(2008, 2, 29);
        assert_eq!(age(leap, date(2025, 2, 28)), Age { years: 17, birthday: true });
        assert_eq!(age(leap, date(2024, 2, 28)), Age { years: 15, birthday: false });
        assert_eq!(age(leap, date(2024, 2, 29)), Age { years: 16, birthday: true });
        let dob = leap.at(0, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp().as_second();
        assert_eq!(
            (birthday(Moment(dob), 18), birthday(Moment(dob), 20)),
            (Some(date(2026, 2, 28)), Some(date(2028, 2, 29)))
        );
        assert_eq!(birthday(Moment(dob), 99_999), None);
    }
}
