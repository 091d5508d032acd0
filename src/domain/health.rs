//! When something about the site is worth a look, and when it is worth getting up for.

use crate::i18n::language::Text;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const MIB: u64 = 1024 * 1024;

/// Bytes that are free where the site lies.
pub(crate) const FREE_BYTES_WARNING: u64 = 1024 * MIB;
pub(crate) const FREE_BYTES_ALARM: u64 = 256 * MIB;
/// Bytes of the write-ahead log; SQLite empties it at every few, so a large one is held by somebody.
pub(crate) const WAL_BYTES_WARNING: u64 = 128 * MIB;
pub(crate) const WAL_BYTES_ALARM: u64 = 1024 * MIB;
/// Seconds that a certificate is good for. The site's own renews itself half a year before its end.
pub(crate) const CERTIFICATE_SECONDS_WARNING: i64 = 14 * DAY;
pub(crate) const CERTIFICATE_SECONDS_ALARM: i64 = 3 * DAY;
/// Rounds of backups that were left out.
pub(crate) const BACKUP_ROUNDS_WARNING: i64 = 3;
/// Seconds since the last backup, where none is made by itself, and where no round is that long.
pub(crate) const BACKUP_SECONDS_WARNING: i64 = 26 * HOUR;
pub(crate) const BACKUP_SECONDS_ALARM: i64 = 3 * DAY;
/// Seconds that the off-site copy is behind.
pub(crate) const OFF_SITE_SECONDS_ALARM: i64 = 10;
/// Seconds that its first base may take.
pub(crate) const OFF_SITE_BASE_SECONDS_ALARM: i64 = 10 * 60;
/// Seconds since the last drill; there is one a week.
pub(crate) const DRILL_SECONDS_WARNING: i64 = 14 * DAY;
/// Seconds that the oldest message waits.
pub(crate) const OUTBOX_SECONDS_WARNING: i64 = HOUR;
pub(crate) const OUTBOX_SECONDS_ALARM: i64 = DAY;
/// Seconds that the oldest row waits for its way upstream.
pub(crate) const SYNC_SECONDS_WARNING: i64 = 6 * HOUR;
pub(crate) const SYNC_SECONDS_ALARM: i64 = 3 * DAY;
/// Wrong passwords and codes in a day: a site has some, somebody who guesses has many.
pub(crate) const MISSES_WARNING: i64 = 200;
pub(crate) const MISSES_ALARM: i64 = 5_000;

/// How serious a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing is to be done.
    Ok,
    /// Something is to be done soon.
    Warning,
    /// Something is to be done now.
    Alarm,
}

/// One thing about the site, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// By which machines know it; its title is the text `health.name.` with this.
    pub name: &'static str,
    /// How serious it is.
    pub state: State,
    /// The fact in words.
    pub text: Text,
    /// What to do; none where nothing is to be done.
    pub next: Option<Text>,
    /// What it was judged by, for the figures: what it is with its unit, and how much.
    pub figure: Option<(&'static str, i64)>,
}

impl State {
    pub(crate) const ALL: [State; 3] = [State::Ok, State::Warning, State::Alarm];

    pub(crate) fn name(self) -> &'static str {
        ["ok", "warning", "alarm"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// What grows too large.
    pub(crate) fn above<T: PartialOrd>(value: T, warning: T, alarm: T) -> State {
        if value > alarm {
            State::Alarm
        } else if value > warning {
            State::Warning
        } else {
            State::Ok
        }
    }

    /// What grows too small.
    pub(crate) fn below<T: PartialOrd>(value: T, warning: T, alarm: T) -> State {
        if value < alarm {
            State::Alarm
        } else if value < warning {
            State::Warning
        } else {
            State::Ok
        }
    }
}

impl Fact {
    pub(crate) fn ok(name: &'static str, text: Text) -> Fact {
        Fact { name, state: State::Ok, text, next: None, figure: None }
    }

    /// `next` is said where there is something to do.
    pub(crate) fn judged(name: &'static str, state: State, text: Text, next: Text) -> Fact {
        let next = (state != State::Ok).then_some(next);
        Fact { name, state, text, next, figure: None }
    }

    pub(crate) fn with_figure(mut self, unit: &'static str, value: i64) -> Fact {
        self.figure = Some((unit, value));
        self
    }
}

/// How a site is whose newest backup is `age` seconds old; `every` is the time between two, 0 where none is made by itself.
pub(crate) fn backup(age: i64, every: i64) -> State {
    let warning = if every == 0 { BACKUP_SECONDS_WARNING } else { BACKUP_ROUNDS_WARNING * every };
    State::above(age, warning, BACKUP_SECONDS_ALARM.max(2 * warning))
}

/// The worst of them.
pub(crate) fn worst(facts: &[Fact]) -> State {
    facts.iter().map(|fact| fact.state).max().unwrap_or(State::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_itself_is_still_fine_and_what_is_beyond_is_not() {
        assert_eq!([9, 10, 11, 20, 21].map(|value| State::above(value, 10, 20) as u8), [0, 0, 1, 1, 2]);
        assert_eq!([21, 20, 19, 10, 9].map(|value| State::below(value, 20, 10) as u8), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn a_backup_is_late_after_three_rounds_and_never_an_alarm_before_it_is_a_warning() {
        assert_eq!(backup(3 * HOUR, HOUR), State::Ok);
        assert_eq!(backup(3 * HOUR + 1, HOUR), State::Warning);
        assert_eq!(backup(3 * DAY + 1, HOUR), State::Alarm);
        assert_eq!(backup(25 * HOUR, 0), State::Ok);
        assert_eq!(backup(27 * HOUR, 0), State::Warning);
        assert_eq!(backup(20 * DAY, 7 * DAY), State::Ok);
        assert_eq!(backup(22 * DAY, 7 * DAY), State::Warning);
        assert_eq!(backup(43 * DAY, 7 * DAY), State::Alarm);
    }

    #[test]
    fn names_go_both_ways_and_the_worst_counts() {
        for state in State::ALL {
            assert_eq!(State::parse(state.name()), Some(state));
        }
        let fact = |state| Fact { state, ..Fact::ok("space", Text::new("not_found")) };
        assert_eq!(worst(&[fact(State::Ok), fact(State::Alarm), fact(State::Warning)]), State::Alarm);
        assert_eq!(worst(&[]), State::Ok);
    }
}
