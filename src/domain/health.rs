//! The limits at which a fact about the site becomes a warning or an alarm.

use crate::i18n::language::Text;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const MIB: u64 = 1024 * 1024;

/// Free bytes on the disk of the data directory.
pub(crate) const FREE_BYTES_WARNING: u64 = 1024 * MIB;
pub(crate) const FREE_BYTES_ALARM: u64 = 256 * MIB;
/// Bytes of the WAL. SQLite resets it regularly, so a large one means that a reader blocks the checkpoint.
pub(crate) const WAL_BYTES_WARNING: u64 = 128 * MIB;
pub(crate) const WAL_BYTES_ALARM: u64 = 1024 * MIB;
/// Seconds until a certificate expires. The site renews its own half a year before the end.
pub(crate) const CERTIFICATE_SECONDS_WARNING: i64 = 14 * DAY;
pub(crate) const CERTIFICATE_SECONDS_ALARM: i64 = 3 * DAY;
/// Seconds since the keys of a network were written; networks change theirs within weeks.
pub(crate) const SOCIAL_KEYS_SECONDS_WARNING: i64 = 30 * DAY;
/// Seconds for which a form that a proxy spoiled is told of.
pub(crate) const PROXY_SECONDS: i64 = DAY;
/// Backup rounds without a backup.
pub(crate) const BACKUP_ROUNDS_WARNING: i64 = 3;
/// Seconds since the last backup, where no backups are scheduled, and the least alarm limit.
pub(crate) const BACKUP_SECONDS_WARNING: i64 = 26 * HOUR;
pub(crate) const BACKUP_SECONDS_ALARM: i64 = 3 * DAY;
/// Seconds by which the off-site copy is behind.
pub(crate) const OFF_SITE_SECONDS_ALARM: i64 = 10;
/// Seconds that the first base of the off-site copy may take.
pub(crate) const OFF_SITE_BASE_SECONDS_ALARM: i64 = 10 * 60;
/// Seconds since the last drill; drills are weekly.
pub(crate) const DRILL_SECONDS_WARNING: i64 = 14 * DAY;
/// Seconds for which the oldest message has waited.
pub(crate) const OUTBOX_SECONDS_WARNING: i64 = HOUR;
pub(crate) const OUTBOX_SECONDS_ALARM: i64 = DAY;
/// Seconds for which the oldest row has waited for the sync.
pub(crate) const SYNC_SECONDS_WARNING: i64 = 6 * HOUR;
pub(crate) const SYNC_SECONDS_ALARM: i64 = 3 * DAY;
/// Failed attempts with passwords and codes in a day: a site always has some, a guessing attacker causes many.
pub(crate) const MISSES_WARNING: i64 = 200;
pub(crate) const MISSES_ALARM: i64 = 5_000;

/// How serious a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing needs to be done.
    Ok,
    /// The operator must act soon.
    Warning,
    /// The operator must act now.
    Alarm,
}

/// One fact about the site, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The name for machines; the title is the text `health.name.` with this name.
    pub name: &'static str,
    /// How serious the fact is.
    pub state: State,
    /// The fact in words.
    pub text: Text,
    /// The action to take; `None` where nothing needs to be done.
    pub next: Option<Text>,
    /// The measured value for the metrics.
    pub figure: Option<Figure>,
}

/// A measured value, as the metrics show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// What is measured, with its unit: follows the name of the fact.
    pub unit: &'static str,
    /// What the value means, for whoever reads the metrics.
    pub help: &'static str,
    /// The value.
    pub value: i64,
}

impl State {
    pub(crate) const ALL: [State; 3] = [State::Ok, State::Warning, State::Alarm];

    pub(crate) fn name(self) -> &'static str {
        ["ok", "warning", "alarm"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// The state of a value that should not grow too large.
    pub(crate) fn above<T: PartialOrd>(value: T, warning: T, alarm: T) -> State {
        if value > alarm {
            State::Alarm
        } else if value > warning {
            State::Warning
        } else {
            State::Ok
        }
    }

    /// The state of a value that should not fall too low.
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

    /// A fact; `next` is kept unless the state is OK.
    pub(crate) fn judged(name: &'static str, state: State, text: Text, next: Text) -> Fact {
        let next = (state != State::Ok).then_some(next);
        Fact { name, state, text, next, figure: None }
    }

    pub(crate) fn with_figure(mut self, unit: &'static str, help: &'static str, value: i64) -> Fact {
        self.figure = Some(Figure { unit, help, value });
        self
    }
}

/// The state of a site whose newest backup is `age` seconds old; `every` is the interval of scheduled backups in
/// seconds, 0 without a schedule.
pub(crate) fn backup(age: i64, every: i64) -> State {
    let warning = if every == 0 { BACKUP_SECONDS_WARNING } else { BACKUP_ROUNDS_WARNING * every };
    State::above(age, warning, BACKUP_SECONDS_ALARM.max(2 * warning))
}

/// The worst state of the facts.
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
