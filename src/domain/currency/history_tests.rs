//! Random histories, judged twice: by the rules, and by a naive model that knows only days and scans every event.

use super::*;
use crate::moment::Moment;
use proptest::prelude::*;

const DAY: i64 = 86_400;
/// The programmes with a currency, and the safety logbook of each.
const PROGRAMMES: [(&str, &str); 6] = [
    ("Flyer", "Flyer"),
    ("Coach", "Coach"),
    ("Instructor", "Instructor"),
    ("Trainer", "Trainer"),
    ("Examiner", "Trainer"),
    ("Military", "Military"),
];
const LEVELS: [(&str, &str, &str); 9] = [
    ("Flyer", "1", ""),
    ("Flyer", "3", "Static"),
    ("AFC", "1", ""),
    ("Coach", "1", ""),
    ("Instructor", "2", ""),
    ("Trainer", "1", ""),
    ("Trainer", "4", ""),
    ("Examiner", "1", ""),
    ("Military", "1", ""),
];
/// One logbook belongs to no programme with a currency.
const LOGBOOKS: [&str; 6] = ["Flyer", "Coach", "Instructor", "Trainer", "Examiner", "Military"];

/// Year, month and day of the day `day` days after 1 January 1970, counted year by year and month by month.
fn calendar(day: i64) -> (i64, usize, i64) {
    let (mut year, mut left) = (1970, day);
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while left >= 365 + i64::from(leap(year)) {
        left -= 365 + i64::from(leap(year));
        year += 1;
    }
    let february = 28 + i64::from(leap(year));
    for (month, days) in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate() {
        if left < days {
            return (year, month + 1, left + 1);
        }
        left -= days;
    }
    unreachable!("a year has no further month")
}

/// The number of the half-year cycle of a moment: cycles begin on 16 January and 16 July.
fn half_year(at: Moment) -> i64 {
    let (year, month, day) = calendar(at.0 / DAY);
    2 * year + if (month, day) < (1, 16) { -1 } else { i64::from((month, day) >= (7, 16)) }
}

/// Whether the day is not later than the same day of the next year, or, from 29 February, the last of February.
fn within_a_year(from: Moment, now: Moment) -> bool {
    let ((year, month, day), (now_year, now_month, now_day)) = (calendar(from.0 / DAY), calendar(now.0 / DAY));
    let day = if (month, day) == (2, 29) { 28 } else { day };
    (now_year, now_month, now_day) <= (year + 1, month, day)
}

/// The naive model: whether some event keeps the programme current, by the wording of the rules.
fn naively(cat_group: &str, held: &[LevelKey], flights: &[Moment], trained: &[(&str, Moment)], now: Moment) -> bool {
    let (_, logbook) = PROGRAMMES.into_iter().find(|(programme, _)| *programme == cat_group).unwrap();
    let trainings = trained.iter().filter(|(one, at)| *one == logbook && *at <= now).map(|(_, at)| *at);
    let holds = held.iter().any(|level| level.cat_group == cat_group);
    match cat_group {
        "Flyer" => {
            let first = held.iter().any(|level| level.cat_group == "Flyer" && level.cat_id == "1");
            first && flights.iter().any(|at| *at <= now && now.0 / DAY - at.0 / DAY <= 180)
        }
        "Coach" | "Instructor" => holds && trainings.into_iter().any(|at| half_year(now) - half_year(at) <= 1),
        _ => holds && trainings.into_iter().any(|at| within_a_year(at, now)),
    }
}

fn moments() -> impl Strategy<Value = Moment> {
    // A span of a few years, so that events interact; and moments next to the starts of cycles and the end of February.
    let turns = [1_705_363_200, 1_721_088_000, 1_709_164_800, 1_709_251_199, 1_709_251_200, 1_736_985_600_i64];
    prop_oneof![
        3 => 1_690_000_000_i64..1_790_000_000,
        1 => (prop::sample::select(turns.to_vec()), -2_i64..3).prop_map(|(turn, beside)| turn + beside),
    ]
    .prop_map(Moment)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn currency_of_any_history_is_what_going_through_it_finds(
        levels in prop::sample::subsequence(LEVELS.to_vec(), 0..=LEVELS.len()),
        flights in prop::collection::vec(moments(), 0..6),
        trainings in prop::collection::vec((prop::sample::select(LOGBOOKS.to_vec()), moments()), 0..12),
        now in moments(),
    ) {
        let held: Vec<LevelKey> =
            levels.iter().map(|(cat_group, cat_id, track)| LevelKey { cat_group, cat_id, track }).collect();
        let last_flight = flights.iter().copied().filter(|at| *at <= now).max();
        let standing = Standing { held: &held, last_flight, trained: &trainings, zone: &TimeZone::UTC };
        let currencies = of(&standing, now);
        for (cat_group, _) in PROGRAMMES {
            let one = currencies.find(cat_group).unwrap();
            prop_assert_eq!(one.current, naively(cat_group, &held, &flights, &trainings, now), "{}", cat_group);
            // The renewal is the last second at which the same history is current, if nothing is added to it.
            if let Some(renewal) = one.renewal {
                let past = |moment: Moment| {
                    let flights: Vec<Moment> = flights.iter().copied().filter(|at| *at <= now).collect();
                    let trained: Vec<(&str, Moment)> = trainings.iter().copied().filter(|(_, at)| *at <= now).collect();
                    naively(cat_group, &held, &flights, &trained, moment)
                };
                prop_assert!(past(renewal) && !past(renewal + 1), "{} until {}", cat_group, renewal);
            }
        }
        // The result does not depend on the order of a history, nor on flights and trainings in the future.
        let mut shuffled: Vec<(&str, Moment)> = trainings.iter().rev().copied().collect();
        shuffled.retain(|(_, at)| *at <= now);
        let again = Standing { trained: &shuffled, ..standing };
        prop_assert_eq!(of(&again, now), currencies);
    }
}
