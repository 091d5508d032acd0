//! Which backups are kept: the newest by count, all of the last day, then one a day for two weeks and one a week for
//! five weeks.
//!
//! Days and weeks without a backup do not count, so a pause, or a clock that ran ahead, removes no backup.

use crate::moment::Moment;

const DAY: i64 = 86_400;
const WEEK: i64 = 7 * DAY;

/// The number of newest backups that are kept at any age: a day of hourly ones.
pub(crate) const KEPT_BY_COUNT: usize = 24;
/// The newest backup of a span is kept, for this number of spans that have a backup.
const KEPT: [Span; 2] = [Span { seconds: DAY, count: 14 }, Span { seconds: WEEK, count: 5 }];

struct Span {
    seconds: i64,
    count: usize,
}

/// For each of these moments (Unix seconds, newest first), whether the backup of that moment is kept at `now`. A backup
/// from the future is kept, and so is each from before `judged_from`, because a clock that reports such a moment must
/// not cause deletions.
pub(crate) fn kept(made: &[Moment], now: Moment, judged_from: Moment) -> Vec<bool> {
    let mut past = 0;
    let mut spans = [(i64::MAX, 0); KEPT.len()];
    let mut keeps = |made: &Moment| {
        if *made > now {
            return true;
        }
        past += 1;
        let mut newest_of_its_span = false;
        for (span, (last, seen)) in KEPT.iter().zip(&mut spans) {
            let number = made.0.div_euclid(span.seconds);
            if number != *last {
                (*last, *seen) = (number, *seen + 1);
                newest_of_its_span |= *seen <= span.count;
            }
        }
        past <= KEPT_BY_COUNT || *made > now - DAY || newest_of_its_span || *made < judged_from
    };
    made.iter().map(&mut keeps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Midnight UTC on Thursday, 1 January 2026.
    const NOW: Moment = Moment(1_767_225_600);
    const HOUR: i64 = 3_600;

    fn left_of(made: &[Moment], now: Moment, judged_from: Moment) -> Vec<Moment> {
        made.iter().zip(kept(made, now, judged_from)).filter(|(_, keep)| *keep).map(|(at, _)| *at).collect()
    }

    fn left(made: &[Moment], now: Moment) -> Vec<Moment> {
        left_of(made, now, Moment::FIRST)
    }

    /// The backups that remain of a year of hourly ones, newest first.
    fn of_a_year() -> Vec<Moment> {
        (0..365 * 24).map(|hour| NOW + hour * HOUR).fold(Vec::new(), |mut shelf, now| {
            shelf.insert(0, now);
            left(&shelf, now)
        })
    }

    #[test]
    fn a_year_of_hourly_backups_leaves_a_day_two_weeks_and_five_weeks() {
        let shelf = of_a_year();
        let now = shelf[0];
        assert!((0..24).all(|hours| shelf.contains(&(now - hours * HOUR))));
        assert!((1..14).all(|days| shelf.iter().any(|at| at.0.div_euclid(DAY) == now.0.div_euclid(DAY) - days)));
        assert!((1..5).all(|weeks| shelf.iter().any(|at| at.0.div_euclid(WEEK) == now.0.div_euclid(WEEK) - weeks)));
        assert!(shelf.len() <= 24 + 14 + 5, "{} kept", shelf.len());
        assert!(now - *shelf.last().unwrap() < 5 * WEEK);
    }

    #[test]
    fn the_last_are_kept_by_count_however_old_they_are() {
        let minutes: Vec<Moment> = (0..60).map(|minute| NOW - 400 * DAY - minute * 60).collect();
        assert_eq!(left(&minutes, NOW), minutes[..KEPT_BY_COUNT]);
        assert!(kept(&[], NOW, Moment::FIRST).is_empty());
    }

    #[test]
    fn of_two_on_one_day_of_last_week_the_newer_stays() {
        let day: Vec<Moment> = (0..KEPT_BY_COUNT as i64).map(|n| NOW + 6 * DAY - n * 60).collect();
        let made = [&day[..], &[NOW + 1_800, NOW + 60]].concat();
        assert_eq!(left(&made, NOW + 6 * DAY), made[..=KEPT_BY_COUNT]);
    }

    #[test]
    fn a_clock_that_jumps_ahead_ages_nothing_that_was_made_before() {
        let mut shelf = of_a_year();
        let (before, jumped_to) = (shelf.clone(), shelf[0] + 40 * DAY);
        for hour in 0..48 {
            let now = jumped_to + hour * HOUR;
            shelf.insert(0, now);
            shelf = left_of(&shelf, now, jumped_to);
        }
        assert!(before.iter().all(|at| shelf.contains(at)), "a backup from before the jump went");
        // Where the jump of the clock is not known, a pause of 40 days removes no more than a pause of an hour.
        let mut unknown = before.clone();
        unknown.insert(0, jumped_to);
        assert!(left(&unknown, jumped_to).len() >= before.len() - 2);
    }

    #[test]
    fn nothing_from_the_future_is_deleted() {
        let ahead: Vec<Moment> = (0..60).map(|n| NOW + 9 * DAY - n).collect();
        assert_eq!(left(&[&ahead[..], &[NOW]].concat(), NOW).len(), 61);
    }
}
