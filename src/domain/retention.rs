//! Which backups are kept: all of the last day, then one a day for two weeks and one a week for five weeks.

const DAY: i64 = 86_400;
const WEEK: i64 = 7 * DAY;

/// How long one of each span is kept.
const KEPT: [Span; 2] = [Span { seconds: DAY, count: 14 }, Span { seconds: WEEK, count: 5 }];

struct Span {
    seconds: i64,
    count: i64,
}

/// For each of these moments (Unix seconds, newest first), whether the backup made then is kept at `now`: the newest
/// always, those of the last day (somebody may have made one before each risky thing), and the newest of each day and week
/// that is still remembered. A moment in the future is kept: the clock
/// that says so is not to be trusted with deleting.
pub fn kept(made: &[i64], now: i64) -> Vec<bool> {
    let newest_of_its_span = |i: usize, span: &Span| {
        let number = made[i].div_euclid(span.seconds);
        number > now.div_euclid(span.seconds) - span.count
            && made[..i].iter().all(|newer| newer.div_euclid(span.seconds) != number)
    };
    let keeps = |i: usize| i == 0 || made[i] > now - DAY || KEPT.iter().any(|span| newest_of_its_span(i, span));
    (0..made.len()).map(keeps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Thursday, 1 January 2026, midnight.
    const NOW: i64 = 1_767_225_600;
    const HOUR: i64 = 3_600;

    fn left(made: &[i64], now: i64) -> Vec<i64> {
        made.iter().zip(kept(made, now)).filter(|(_, keep)| *keep).map(|(at, _)| *at).collect()
    }

    #[test]
    fn a_year_of_hourly_backups_leaves_a_day_two_weeks_and_five_weeks() {
        let mut shelf = Vec::new();
        for hour in 0..365 * 24 {
            let now = NOW + hour * HOUR;
            shelf.insert(0, now);
            shelf = left(&shelf, now);
        }
        let now = shelf[0];
        assert!((0..24).all(|hours| shelf.contains(&(now - hours * HOUR))));
        assert!((1..14).all(|days| shelf.iter().any(|at| at.div_euclid(DAY) == now.div_euclid(DAY) - days)));
        assert!((1..5).all(|weeks| shelf.iter().any(|at| at.div_euclid(WEEK) == now.div_euclid(WEEK) - weeks)));
        assert!(shelf.len() <= 24 + 14 + 5, "{} kept", shelf.len());
        assert!(now - shelf.last().unwrap() < 5 * WEEK);
    }

    #[test]
    fn the_newest_is_kept_however_old_it_is() {
        assert_eq!(left(&[NOW - 400 * DAY, NOW - 401 * DAY], NOW), [NOW - 400 * DAY]);
        assert!(kept(&[], NOW).is_empty());
    }

    #[test]
    fn of_two_on_one_day_of_last_week_the_newer_stays() {
        assert_eq!(left(&[NOW + 5 * DAY, NOW + 1_800, NOW + 60], NOW + 6 * DAY), [NOW + 5 * DAY, NOW + 1_800]);
    }

    #[test]
    fn nothing_from_the_future_is_deleted() {
        assert_eq!(left(&[NOW + 9 * DAY, NOW + 9 * DAY - 1, NOW], NOW).len(), 3);
    }
}
