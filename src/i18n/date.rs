//! Dates in words, in UTC: `21 November 2026`, `21. November 2026`, `1er mars 2026`, `21 de noviembre de 2026`; and
//! short, without the year: `21 Nov`, `21. Nov.`, `21 nov.`, `21 nov`.

use crate::i18n::language::Language;
use crate::moment::Moment;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

const MONTHS: [&str; 12] = [
    "month.1", "month.2", "month.3", "month.4", "month.5", "month.6", "month.7", "month.8", "month.9", "month.10",
    "month.11", "month.12",
];

const SHORT_MONTHS: [&str; 12] = [
    "short_month.1",
    "short_month.2",
    "short_month.3",
    "short_month.4",
    "short_month.5",
    "short_month.6",
    "short_month.7",
    "short_month.8",
    "short_month.9",
    "short_month.10",
    "short_month.11",
    "short_month.12",
];

/// Day and month.
pub(crate) fn in_short(language: Language, date: Date) -> String {
    let month = language.fill(SHORT_MONTHS[date.month() as usize - 1], |_| None::<&str>);
    fill(language, if date.day() == 1 { "short_date.first" } else { "short_date" }, date, &month)
}

/// Day, month and year.
pub(crate) fn in_full(language: Language, date: Date) -> String {
    let month = language.fill(MONTHS[date.month() as usize - 1], |_| None::<&str>);
    fill(language, if date.day() == 1 { "date.first" } else { "date.other" }, date, &month)
}

fn fill(language: Language, key: &str, date: Date, month: &str) -> String {
    let (day, year) = (date.day().to_string(), date.year().to_string());
    language.fill(key, |name| match name {
        "day" => Some(&*day),
        "month" => Some(month),
        "year" => Some(&*year),
        _ => None,
    })
}

/// The date of a moment in UTC, in words. Empty for a moment outside the calendar.
pub(crate) fn in_words(language: Language, moment: Moment) -> String {
    let Ok(timestamp) = Timestamp::from_second(moment.0) else { return String::new() };
    in_full(language, Offset::UTC.to_datetime(timestamp).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_said_as_people_say_it() {
        let (first, other) = (1_772_323_200, 1_795_219_200);
        for (language, said) in [
            (Language::English, ["1 March 2026", "21 November 2026", "21 Nov"]),
            (Language::German, ["1. März 2026", "21. November 2026", "21. Nov."]),
            (Language::French, ["1er mars 2026", "21 novembre 2026", "21 nov."]),
            (Language::Spanish, ["1 de marzo de 2026", "21 de noviembre de 2026", "21 nov"]),
        ] {
            assert_eq!(
                [
                    in_words(language, Moment(first)),
                    in_words(language, Moment(other)),
                    in_short(language, Date::constant(2026, 11, 21))
                ],
                said
            );
        }
        assert_eq!(in_short(Language::French, Date::constant(2026, 11, 1)), "1er nov.");
        assert_eq!(in_words(Language::English, Moment::LAST), "");
    }
}
