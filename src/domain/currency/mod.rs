//! Currency: which programmes a member has practised recently enough. Currency is computed from the given moments on
//! each call, so no job can miss a lapse. Without clock and database; moments are Unix seconds. Days, months and cycles begin
//! by the site's clock.

use super::catalogue::LevelKey;
use super::local_time::TimeZone;
use crate::moment::Moment;
use jiff::civil::{self, Date};

/// A flyer is current for this many days after the day of a flight, to the end of the last.
pub(crate) const FLYER_DAYS: i64 = 180;
/// Days after a flight at which a flyer is notified, first and last.
pub(crate) const FIRST_NOTICE_DAYS: i64 = 150;
pub(crate) const LAST_NOTICE_DAYS: i64 = 172;
/// Years for which a safety training of a trainer, an examiner or a military flyer is valid, to the end of the last day.
const TRAINING_YEARS: i64 = 1;
/// The day of January and July on which the half-year cycles of coaches and instructors begin, at midnight.
const CYCLE_DAY: i8 = 16;

/// The programmes, the highest first, as `role_name` ranks them.
const RANKS: [&str; 7] = ["Examiner", "Trainer", "Instructor", "Coach", "AFC", "Military", "Flyer"];

/// The parts of a member's logbook that decide about currency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing<'a> {
    pub held: &'a [LevelKey<'a>],
    /// The last flight in the past.
    pub last_flight: Option<Moment>,
    /// Safety briefs and trainings with the `cat_group` of their safety logbook: all, or the last of each.
    pub trained: &'a [(&'a str, Moment)],
    /// The time zone of the site.
    pub zone: &'a TimeZone,
}

/// The currency of a member in one programme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Currency {
    pub current: bool,
    /// The last second at which the programme is, or was, current: that of a day. `None` where the programme is not held,
    /// or where the member never flew or trained.
    pub renewal: Option<Moment>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Currencies {
    pub flyer: Currency,
    pub coach: Currency,
    pub instructor: Currency,
    pub trainer: Currency,
    pub examiner: Currency,
    pub military: Currency,
}

/// The currency of every programme that has one, at `now`. Events after `now` do not count.
pub(crate) fn of(standing: &Standing, now: Moment) -> Currencies {
    // Examiners train with the trainers and share their safety logbook.
    let trained = |cat_group, logbook| judge(standing.training_ends(cat_group, logbook, now), now);
    Currencies {
        flyer: judge(standing.flight_ends(now), now),
        coach: trained("Coach", "Coach"),
        instructor: trained("Instructor", "Instructor"),
        trainer: trained("Trainer", "Trainer"),
        examiner: trained("Examiner", "Trainer"),
        military: trained("Military", "Military"),
    }
}

/// The last second at which a safety brief or training in this logbook is valid: that of a day. `None` for the flyers'
/// logbook (only flying keeps a flyer current, so their briefs do not expire), an unknown logbook, or a moment outside
/// the calendar.
pub fn training_ends(logbook: &str, trained: Moment, zone: &TimeZone) -> Option<Moment> {
    match logbook {
        "Coach" | "Instructor" => {
            let next = cycle_start(cycle(zone.find_calendar(trained)?.date()) + 2)?;
            zone.moment(next).map(|next| next - 1)
        }
        "Trainer" | "Examiner" | "Military" => zone.end_of_day_years_later(trained, TRAINING_YEARS),
        _ => None,
    }
}

/// The highest programme of which the member holds a level; `Flyer` without any.
pub(crate) fn role_name(held: &[LevelKey]) -> &'static str {
    RANKS.into_iter().find(|rank| held.iter().any(|level| level.cat_group == *rank)).unwrap_or("Flyer")
}

impl Currencies {
    /// The currency of a `cat_group`; `None` for AFC, which has no currency of its own.
    pub(crate) fn find(&self, cat_group: &str) -> Option<Currency> {
        match cat_group {
            "Flyer" => Some(self.flyer),
            "Coach" => Some(self.coach),
            "Instructor" => Some(self.instructor),
            "Trainer" => Some(self.trainer),
            "Examiner" => Some(self.examiner),
            "Military" => Some(self.military),
            _ => None,
        }
    }
}

impl Standing<'_> {
    fn flight_ends(&self, now: Moment) -> Option<Moment> {
        let flies = self.held.iter().any(|level| (level.cat_group, level.cat_id) == ("Flyer", "1"));
        let last = self.last_flight.filter(|flown| flies && *flown <= now)?;
        Some(self.zone.end_of_day(last, FLYER_DAYS))
    }

    fn training_ends(&self, cat_group: &str, logbook: &str, now: Moment) -> Option<Moment> {
        let held = self.held.iter().any(|level| level.cat_group == cat_group);
        let done = self.trained.iter().filter(|(one, at)| held && *one == logbook && *at <= now);
        training_ends(logbook, done.map(|(_, at)| *at).max()?, self.zone)
    }
}

fn judge(renewal: Option<Moment>, now: Moment) -> Currency {
    Currency { current: renewal.is_some_and(|renewal| now <= renewal), renewal }
}

/// The number of the half-year cycle that contains the day: even from January on, odd from July on, one more each
/// half-year.
fn cycle(date: Date) -> i16 {
    let half = match (date.month(), date.day()) {
        (month, day) if (month, day) < (1, CYCLE_DAY) => -1,
        (month, day) if (month, day) < (7, CYCLE_DAY) => 0,
        _ => 1,
    };
    date.year() * 2 + half
}

fn cycle_start(cycle: i16) -> Option<civil::DateTime> {
    let month = if cycle.rem_euclid(2) == 0 { 1 } else { 7 };
    Some(Date::new(cycle.div_euclid(2), month, CYCLE_DAY).ok()?.to_datetime(civil::Time::midnight()))
}

#[cfg(test)]
mod history_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::catalogue::{Catalogue, PROGRAMMES};
    use jiff::Timestamp;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    const ALL: [LevelKey; 6] =
        [key("Flyer"), key("Coach"), key("Instructor"), key("Trainer"), key("Examiner"), key("Military")];
    const DAY: i64 = 86_400;

    const fn key(cat_group: &str) -> LevelKey<'_> {
        LevelKey { cat_group, cat_id: "1", track: "" }
    }

    fn at(text: &str) -> Moment {
        let text = if text.contains('T') { format!("{text}Z") } else { format!("{text}T00:00:00Z") };
        Moment(text.parse::<Timestamp>().unwrap().as_second())
    }

    /// The programme is current at `trained` and to the end of the day before `end`, and not at `end`.
    fn holds_from_until(cat_group: &str, logbook: &str, trained: &str, end: &str) {
        let (from, end) = (at(trained), at(end));
        let trained = [(logbook, from)];
        let one = |now| {
            of(&Standing { held: &ALL, last_flight: None, trained: &trained, zone: &TimeZone::UTC }, now)
                .find(cat_group)
                .unwrap()
        };
        assert_eq!(one(from - 1), Currency::default(), "{cat_group}, before {from}");
        for (now, current) in [(from, true), (end - 1, true), (end, false), (end + 1, false)] {
            assert_eq!(
                one(now),
                Currency { current, renewal: Some(end - 1) },
                "{cat_group}, {from} to {end}, at {now}"
            );
        }
    }

    #[test]
    fn a_flyer_is_current_to_the_end_of_the_180th_day_after_a_flight() {
        let flown = at("2025-03-01T10:00:00");
        let standing = Standing { held: &ALL, last_flight: Some(flown), trained: &[], zone: &TimeZone::UTC };
        let last = at("2025-08-28T23:59:59");
        for (now, current) in [(flown, true), (last, true), (last + 1, false), (Moment::LAST, false)] {
            assert_eq!(of(&standing, now).flyer, Currency { current, renewal: Some(last) }, "{now}");
        }
        assert_eq!(of(&standing, flown - 1).flyer, Currency::default(), "booked is not flown");
        assert_eq!(of(&Standing { last_flight: None, ..standing }, flown).flyer, Currency::default());
        assert_eq!(of(&Standing { held: &ALL[1..], ..standing }, flown).flyer, Currency::default());
    }

    #[test]
    fn a_flyer_s_days_are_those_of_the_site_s_calendar() {
        for (zone, flown, last) in [
            // Summer time ends in Zurich on 26 October and begins on 30 March.
            ("Europe/Zurich", "2025-05-30T22:30:00", "2025-11-27T22:59:59"),
            ("Europe/Zurich", "2024-12-01T08:00:00", "2025-05-30T21:59:59"),
            ("Pacific/Auckland", "2025-03-01T10:59:59", "2025-08-28T11:59:59"),
            ("Pacific/Auckland", "2025-03-01T11:00:00", "2025-08-29T11:59:59"),
        ] {
            let zone = TimeZone::named(zone);
            let standing = Standing { held: &ALL, last_flight: Some(at(flown)), trained: &[], zone: &zone };
            assert_eq!(of(&standing, at(flown)).flyer.renewal, Some(at(last)), "{flown}");
        }
    }

    #[test]
    fn coaches_and_instructors_are_current_in_the_cycle_of_the_training_and_the_next() {
        for programme in ["Coach", "Instructor"] {
            for (trained, end) in [
                ("2025-01-16", "2026-01-16"),
                ("2025-01-15T23:59:59", "2025-07-16"),
                ("2025-07-15T23:59:59", "2026-01-16"),
                ("2025-07-16", "2026-07-16"),
                ("2025-12-31T23:59:59", "2026-07-16"),
                ("2026-01-01", "2026-07-16"),
                ("1970-01-01", "1970-07-16"),
                ("1969-07-15", "1970-01-16"),
            ] {
                holds_from_until(programme, programme, trained, end);
            }
        }
    }

    #[test]
    fn cycles_and_months_turn_by_the_clock_of_the_site() {
        // Fourteen hours ahead of UTC and eleven behind; Auckland's summer time begins and ends between the two days.
        for (zone, trained, end) in [
            ("Pacific/Kiritimati", "2025-01-15T09:59:59", "2025-07-15T10:00:00"),
            ("Pacific/Kiritimati", "2025-01-15T10:00:00", "2026-01-15T10:00:00"),
            ("Pacific/Pago_Pago", "2025-07-16T10:59:59", "2026-01-16T11:00:00"),
            ("Pacific/Pago_Pago", "2025-07-16T11:00:00", "2026-07-16T11:00:00"),
            ("Pacific/Auckland", "2025-03-01T00:00:00", "2026-01-15T11:00:00"),
            ("Pacific/Auckland", "2025-08-01T00:00:00", "2026-07-15T12:00:00"),
        ] {
            let ends = training_ends("Coach", at(trained), &TimeZone::named(zone));
            assert_eq!(ends, Some(at(end) - 1), "{zone}: {trained}");
        }
        for (zone, trained, end) in [
            // The clock of the site shows 29 February from ten to ten: valid to the end of the 28th there.
            ("Pacific/Kiritimati", "2024-02-28T10:00:00", "2025-02-28T10:00:00"),
            ("Pacific/Kiritimati", "2024-02-29T10:00:00", "2025-03-01T10:00:00"),
            ("Pacific/Pago_Pago", "2024-03-01T10:59:59", "2025-03-01T11:00:00"),
        ] {
            let ends = training_ends("Trainer", at(trained), &TimeZone::named(zone));
            assert_eq!(ends, Some(at(end) - 1), "{zone}: {trained}");
        }
    }

    #[test]
    fn trainers_examiners_and_military_are_current_for_twelve_months() {
        for (programme, logbook) in [("Trainer", "Trainer"), ("Examiner", "Trainer"), ("Military", "Military")] {
            for (trained, end) in [
                ("2025-03-01T10:00:00", "2026-03-02"),
                ("2023-03-01", "2024-03-02"),
                ("2024-02-28T12:00:00", "2025-03-01"),
                ("2024-02-29T12:00:00", "2025-03-01"),
                ("2023-12-31T23:59:59", "2025-01-01"),
            ] {
                holds_from_until(programme, logbook, trained, end);
            }
        }
    }

    #[test]
    fn only_the_latest_training_of_a_held_programme_counts() {
        let trained = [("Trainer", 5 * DAY), ("Trainer", 9 * DAY), ("Trainer", 99 * DAY), ("Coach", DAY)]
            .map(|(of, at)| (of, Moment(at)));
        let held = [key("Trainer"), key("Instructor")];
        let all = of(
            &Standing { held: &held, last_flight: Some(Moment(0)), trained: &trained, zone: &TimeZone::UTC },
            Moment(10 * DAY),
        );
        let trainer = Currency { current: true, renewal: Some(Moment((365 + 10) * DAY - 1)) };
        assert_eq!(all, Currencies { trainer, ..Currencies::default() });
        let beyond = [("Trainer", Moment::FIRST), ("Instructor", Moment::FIRST)];
        assert_eq!(
            of(&Standing { held: &held, last_flight: None, trained: &beyond, zone: &TimeZone::UTC }, Moment(0)),
            Currencies::default()
        );
    }

    #[test]
    fn the_catalogue_keeps_trainings_where_currency_looks_for_them() {
        let logbooks =
            PROGRAMMES.map(|name| (name, &*Catalogue::built_in().find_programme(name).unwrap().safety_logbook));
        for (cat_group, logbook) in logbooks {
            let trained = [(logbook, Moment(0))];
            let currency =
                of(&Standing { held: &ALL, last_flight: None, trained: &trained, zone: &TimeZone::UTC }, Moment(0))
                    .find(cat_group);
            assert_eq!(currency.is_some_and(|one| one.current), !["Flyer", "AFC"].contains(&cat_group), "{cat_group}");
        }
    }

    #[test]
    fn the_role_is_the_highest_programme() {
        assert_eq!(role_name(&[]), "Flyer");
        assert_eq!(role_name(&ALL), "Examiner");
        for below in 0..RANKS.len() {
            let held: Vec<LevelKey> = RANKS[below..].iter().rev().map(|rank| key(rank)).collect();
            assert_eq!(role_name(&held), RANKS[below]);
        }
        assert!(PROGRAMMES.iter().all(|programme| RANKS.contains(programme)));
    }

    /// Every start of a cycle from 1969 to 2110, found by walking the calendar day by day.
    static TURNS: LazyLock<Vec<i64>> = LazyLock::new(|| {
        let (mut midnight, mut turns) = (-365 * DAY, Vec::new());
        for year in 1969..2110 {
            let february = if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) { 29 } else { 28 };
            for (month, days) in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate() {
                turns.extend([0, 6].contains(&month).then_some(midnight + 15 * DAY));
                midnight += days * DAY;
            }
        }
        turns
    });

    proptest! {
        #[test]
        fn cycles_are_what_a_walk_by_days_finds(trained in 0_i64..4_102_444_800, later in 0_i64..99_999_999) {
            let number = |moment| TURNS.iter().filter(|turn| **turn <= moment).count();
            let (now, trainings) = (trained + later, [("Coach", Moment(trained))]);
            let coach = of(&Standing { held: &ALL, last_flight: None, trained: &trainings, zone: &TimeZone::UTC }, Moment(now)).coach;
            prop_assert_eq!(coach.current, number(now) - number(trained) <= 1);
            prop_assert_eq!(coach.renewal, Some(Moment(TURNS[number(trained) + 1] - 1)));
        }
    }
}
