//! The validity of a safety brief or training.

use super::currency;
use super::entry::Status;
use super::local_time::TimeZone;
use crate::moment::Moment;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Validity {
    /// The last second at which the record is valid, that of a day; `None` where it does not expire.
    pub until: Option<Moment>,
    pub in_force: bool,
}

/// The validity of a record in this logbook whose training was at `held_at`. Only an `open` record is in force, and not
/// before its day.
pub(crate) fn validity(logbook: &str, status: Status, held_at: Moment, now: Moment, zone: &TimeZone) -> Validity {
    let until = currency::training_ends(logbook, held_at, zone);
    let in_force = status == Status::Open && held_at <= now && until.is_none_or(|until| now <= until);
    Validity { until, in_force }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_holds_as_long_as_it_keeps_the_programme_current() {
        let validity = |logbook, status, held_at, now| validity(logbook, status, held_at, now, &TimeZone::UTC);
        let (march, april) = (Moment(1_772_323_200), Moment(1_775_001_600));
        for (logbook, until) in [
            ("Flyer", None),
            ("Coach", Some(Moment(1_800_057_599))),
            ("Instructor", Some(Moment(1_800_057_599))),
            ("Trainer", Some(Moment(1_803_945_599))),
            ("Military", Some(Moment(1_803_945_599))),
        ] {
            assert_eq!(validity(logbook, Status::Open, march, april), Validity { until, in_force: true }, "{logbook}");
            assert!(!validity(logbook, Status::Open, april, march).in_force, "{logbook}: not held yet");
            assert!(!validity(logbook, Status::Suspended, march, april).in_force, "{logbook}");
            if let Some(until) = until {
                assert!(validity(logbook, Status::Open, march, until).in_force, "{logbook}");
                assert!(!validity(logbook, Status::Open, march, until + 1).in_force, "{logbook}");
            }
        }
    }
}
