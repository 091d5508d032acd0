//! Reminders to members who have a flight tomorrow, or whose currency, membership or waiver is about to end. Each reminder is due for a span of time; one that was missed
//! for the whole span is not sent. Without database and clock.

use super::currency::{Currencies, FIRST_NOTICE_DAYS, FLYER_DAYS, LAST_NOTICE_DAYS};
use super::local_time::TimeZone;
use crate::moment::Moment;

/// Days before the last day of a currency from safety training at which the first and the last reminder become due.
///
/// The contract does not say when. A month and a week, because trainings take place every few weeks.
const TRAINING_DAYS: [i64; 2] = [30, 7];
/// Days before the last day of a flyer's currency; `currency` counts the same limits from the flight.
const FLYER_DAYS_BEFORE: [i64; 2] = [FLYER_DAYS - FIRST_NOTICE_DAYS, FLYER_DAYS - LAST_NOTICE_DAYS];

/// The days ago, of 24 hours, in which the flight, or the safety training, of a due member lies (trainings: half a year or a
/// year): two more on either side, because days of the calendar begin before a flight and end after it, and may be longer.
pub(crate) const FLOWN_DAYS_AGO: std::ops::RangeInclusive<i64> = FIRST_NOTICE_DAYS - 2..=FLYER_DAYS + 2 + LAPSED_DAYS;
pub(crate) const TRAINED_DAYS_AGO: std::ops::RangeInclusive<i64> = 150..=368 + LAPSED_DAYS;
/// For how many days after it a lapse is told that was not told yet.
const LAPSED_DAYS: i64 = 7;
const DAY_SECONDS: i64 = 86_400;

/// What a reminder speaks of besides the programmes.
pub(crate) const MEMBERSHIP: &str = "Membership";
pub(crate) const WAIVER: &str = "Waiver";
const FLIGHT: &str = "Flight";
/// Days before the end of a membership or a waiver at which the first and the last reminder become due.
pub(crate) const END_DAYS: [i64; 2] = [14, 3];
/// A member who has not flown here for this number of days is not reminded of a waiver.
pub(crate) const FLOWN_FOR_WAIVER_DAYS: i64 = 180;

/// Programmes from the highest down, with the safety logbook that keeps each current. A member with two programmes that
/// share a logbook is reminded of the higher.
const PROGRAMMES: [(&str, &str); 6] = [
    ("Examiner", "Trainer"),
    ("Trainer", "Trainer"),
    ("Instructor", "Instructor"),
    ("Coach", "Coach"),
    ("Military", "Military"),
    ("Flyer", ""),
];

/// The two reminders of a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The first reminder, with time to fly before the lapse.
    First,
    /// The last reminder, a few days before the lapse.
    Last,
    /// No reminder: the currency has lapsed, which is told as an event alone.
    Lapsed,
}

/// A reminder of a currency that is about to lapse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reminder {
    /// The `cat_group` of the programme; `Membership`, `Waiver` or `Flight` where it speaks of none.
    pub programme: &'static str,
    /// Whether the reminder is the first or the last before the lapse.
    pub kind: Kind,
    /// The last second of the currency, or the moment of the flight, in Unix seconds. Programme, kind and renewal together identify a reminder.
    pub renewal: Moment,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::First => "first",
            Kind::Last => "last",
            Kind::Lapsed => "lapsed",
        }
    }
}

impl Reminder {
    /// The reminder of a flight.
    pub(crate) fn of_flight(at: Moment) -> Reminder {
        Reminder { programme: FLIGHT, kind: Kind::Last, renewal: at }
    }

    /// Whether the reminder is of a flight.
    pub(crate) fn is_of_flight(&self) -> bool {
        self.programme == FLIGHT
    }

    /// Whether a currency is about to lapse.
    pub(crate) fn is_of_currency(&self) -> bool {
        ![FLIGHT, MEMBERSHIP, WAIVER].contains(&self.programme)
    }

    /// The key of the reminder's text.
    pub fn subject(&self) -> &'static str {
        match (self.programme, self.kind) {
            (FLIGHT, _) => "notice.flight_near",
            (_, Kind::Lapsed) => "",
            (MEMBERSHIP, Kind::First) => "notice.membership_ends",
            (MEMBERSHIP, Kind::Last) => "notice.membership_ends_last",
            (WAIVER, Kind::First) => "notice.waiver_ends",
            (WAIVER, Kind::Last) => "notice.waiver_ends_last",
            ("Flyer", Kind::First) => "notice.currency_flyer",
            ("Flyer", Kind::Last) => "notice.currency_flyer_last",
            (_, Kind::First) => "notice.currency_training",
            (_, Kind::Last) => "notice.currency_training_last",
        }
    }
}

/// The reminders due at `now`, at most one a programme.
pub(crate) fn due(currencies: &Currencies, zone: &TimeZone, now: Moment) -> Vec<Reminder> {
    let mut logbooks = Vec::new();
    let mut due = Vec::new();
    for (programme, logbook) in PROGRAMMES {
        let renewal = currencies.find(programme).and_then(|currency| currency.renewal);
        let Some(renewal) = renewal.filter(|_| !logbooks.contains(&logbook)) else { continue };
        logbooks.push(logbook);
        let before = if programme == "Flyer" { FLYER_DAYS_BEFORE } else { TRAINING_DAYS };
        due.extend(kind(zone, renewal, before, now).map(|kind| Reminder { programme, kind, renewal }));
    }
    due
}

/// The currencies that have lapsed within the last days.
pub(crate) fn lapsed(currencies: &Currencies, now: Moment) -> Vec<Reminder> {
    let ended = |programme: &'static str| {
        let renewal = currencies.find(programme)?.renewal?;
        let is_new = renewal < now && now - renewal <= LAPSED_DAYS * DAY_SECONDS;
        is_new.then_some(Reminder { programme, kind: Kind::Lapsed, renewal })
    };
    PROGRAMMES.iter().filter_map(|(programme, _)| ended(programme)).collect()
}

/// The reminder that is due of the end of a membership or a waiver; `None` where there is none.
pub(crate) fn of_end(zone: &TimeZone, programme: &'static str, end: Moment, now: Moment) -> Option<Reminder> {
    kind(zone, end, END_DAYS, now).map(|kind| Reminder { programme, kind, renewal: end })
}

/// The kind that is due: the first until the last becomes due, the last until the currency has lapsed.
fn kind(zone: &TimeZone, renewal: Moment, [first, last]: [i64; 2], now: Moment) -> Option<Kind> {
    let begins = |days: i64| zone.day(renewal, days).from;
    match now {
        _ if now < begins(first) || renewal < now => None,
        _ if now < begins(last) => Some(Kind::First),
        _ => Some(Kind::Last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::catalogue::LevelKey;
    use crate::domain::currency::{self, Standing};

    const DAY: i64 = 86_400;

    const fn key(cat_group: &str) -> LevelKey<'_> {
        LevelKey { cat_group, cat_id: "1", track: "" }
    }

    /// The reminders due at `now` to a member with these levels, flights and trainings.
    fn due_at(held: &[&str], flown: Option<i64>, trained: &[(&str, i64)], now: Moment) -> Vec<Reminder> {
        let held: Vec<LevelKey> = held.iter().map(|one| key(one)).collect();
        let trained: Vec<_> = trained.iter().map(|(logbook, at)| (*logbook, Moment(*at))).collect();
        let standing =
            Standing { held: &held, last_flight: flown.map(Moment), trained: &trained, zone: &TimeZone::UTC };
        due(&currency::of(&standing, now), &TimeZone::UTC, now)
    }

    #[test]
    fn a_lapse_is_told_for_a_week_and_of_each_programme() {
        let held = [key("Flyer"), key("Trainer"), key("Examiner")];
        let trained = [("Trainer", Moment(0))];
        let at = |now| {
            let now = Moment(now);
            let standing =
                Standing { held: &held, last_flight: Some(Moment(0)), trained: &trained, zone: &TimeZone::UTC };
            lapsed(&currency::of(&standing, now), now).iter().map(|one| one.programme).collect::<Vec<_>>()
        };
        let end = 181 * DAY - 1;
        assert_eq!(
            [at(end), at(end + 1), at(end + 7 * DAY), at(end + 7 * DAY + 1)],
            [vec![], vec!["Flyer"], vec!["Flyer"], vec![]]
        );
        let end = currency::training_ends("Trainer", Moment(0), &TimeZone::UTC).unwrap().0;
        assert_eq!([at(end), at(end + 1)], [vec![], vec!["Examiner", "Trainer"]]);
    }

    #[test]
    fn a_flyer_s_reminders_begin_with_the_notices_and_end_with_the_currency() {
        // Flown in the evening: days count from the midnight before.
        let flown = Some(20 * 3_600);
        let kinds = |now| due_at(&["Flyer"], flown, &[], now).iter().map(|one| one.kind).collect::<Vec<_>>();
        let end = 181 * DAY - 1;
        for (now, due) in [
            (150 * DAY - 1, None),
            (150 * DAY, Some(Kind::First)),
            (172 * DAY - 1, Some(Kind::First)),
            (172 * DAY, Some(Kind::Last)),
            (end, Some(Kind::Last)),
            (end + 1, None),
        ] {
            assert_eq!(kinds(Moment(now)), Vec::from_iter(due), "{now}");
        }
        assert_eq!(due_at(&[], flown, &[], Moment(150 * DAY)), [], "who holds no level is not current");
        assert_eq!(due_at(&["Flyer"], flown, &[], Moment(150 * DAY))[0].renewal, Moment(end));
    }

    #[test]
    fn a_training_s_end_is_announced_a_month_and_a_week_before() {
        for (programme, logbook) in [("Instructor", "Instructor"), ("Trainer", "Trainer"), ("Military", "Military")] {
            let trained = [(logbook, 10 * DAY)];
            let renewal = currency::training_ends(logbook, Moment(10 * DAY), &TimeZone::UTC).unwrap();
            let kinds = |now| due_at(&[programme], None, &trained, now).iter().map(|one| one.kind).collect::<Vec<_>>();
            for (now, due) in [
                (renewal - 31 * DAY, None),
                (renewal - 31 * DAY + 1, Some(Kind::First)),
                (renewal - 8 * DAY, Some(Kind::First)),
                (renewal - 8 * DAY + 1, Some(Kind::Last)),
                (renewal, Some(Kind::Last)),
                (renewal + 1, None),
            ] {
                assert_eq!(kinds(now), Vec::from_iter(due), "{programme} {now}");
            }
        }
    }

    #[test]
    fn one_training_is_spoken_of_once() {
        let trained = [("Trainer", 0)];
        let now = currency::training_ends("Trainer", Moment(0), &TimeZone::UTC).unwrap() - DAY;
        let due = due_at(&["Trainer", "Examiner"], None, &trained, now);
        assert_eq!(due.iter().map(|one| one.programme).collect::<Vec<_>>(), ["Examiner"]);
    }

    /// Every member with a due reminder flew or trained within the searched days.
    #[test]
    fn the_days_that_are_looked_at_hold_everybody_who_is_due() {
        let within =
            |days: std::ops::RangeInclusive<i64>, ago: i64| days.start() * DAY <= ago && ago <= days.end() * DAY;
        for day in 0..800 {
            let now = 1_767_225_600 + day * DAY + day;
            for ago in (0..400).map(|days| days * DAY + days) {
                let held = ["Flyer", "Coach", "Trainer"];
                for reminder in
                    due_at(&held, Some(now - ago), &[("Coach", now - ago), ("Trainer", now - ago)], Moment(now))
                {
                    let days = if reminder.programme == "Flyer" { FLOWN_DAYS_AGO } else { TRAINED_DAYS_AGO };
                    assert!(within(days, ago), "{reminder:?} {ago}");
                    assert!(now <= reminder.renewal.0 && reminder.renewal < Moment(now + 31 * DAY));
                }
            }
        }
    }
}
