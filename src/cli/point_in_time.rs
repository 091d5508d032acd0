//! A moment of the past as it is typed: exact with an offset from UTC, in the site's time zone without one.

use super::{CommandError, refused};
use crate::domain::local_time::{AmbiguousMoment, MomentInput, TimeZone};
use crate::moment::Moment;
use serde_json::{Value, json};

const UTC: &str = " UTC";

/// Parses a moment, for the parser of the command line.
pub(super) fn parse(text: &str) -> Result<MomentInput, String> {
    let in_utc = |local| match MomentInput::parse(local)? {
        MomentInput::Exact(_) => None,
        typed @ (MomentInput::Local(_) | MomentInput::Day(_)) => {
            TimeZone::UTC.resolve(typed).ok().map(MomentInput::Exact)
        }
    };
    let typed = text.strip_suffix(UTC).map_or_else(|| MomentInput::parse(text), in_utc);
    typed.ok_or_else(|| {
        format!(
            "{text:?} is no moment like \"2026-11-22 15:03:10\", by the site's clock, or \"2026-11-22 15:03:10+01:00\""
        )
    })
}

/// The time zone of a site that may not exist yet.
pub(super) struct SiteClock {
    pub(super) zone: TimeZone,
    /// Whether the zone is known to be the site's. Otherwise the zone is UTC.
    pub(super) is_known: bool,
}

/// A moment in Unix seconds, and as it was typed.
pub(super) struct PointInTime {
    pub(super) moment: Moment,
    typed: MomentInput,
}

impl SiteClock {
    pub(super) fn of(found: Option<TimeZone>) -> SiteClock {
        SiteClock { is_known: found.is_some(), zone: found.unwrap_or(TimeZone::UTC) }
    }

    /// A local time that the clock showed twice or never is refused with the two moments that may be meant.
    pub(super) fn read(&self, typed: MomentInput) -> Result<PointInTime, CommandError> {
        let either = |[first, second]: [Moment; 2]| {
            let [first, second] = [first, second].map(|moment| self.zone.date_time_offset(moment));
            format!("say which is meant: \"{first}\" or \"{second}\"")
        };
        let zone = self.zone.name();
        let moment = self.zone.resolve(typed).map_err(|unclear| match unclear {
            AmbiguousMoment::Repeated(two) => {
                refused(format!("{zone} had that time twice, because its clocks were set back: {}", either(two)))
            }
            AmbiguousMoment::Skipped(two) => {
                refused(format!("{zone} never had that time, because its clocks were set ahead: {}", either(two)))
            }
        })?;
        Ok(PointInTime { moment, typed })
    }

    /// The moment in words, with the time zone that was assumed.
    pub(super) fn describe(&self, given: &PointInTime) -> String {
        let (shown, zone) = (self.zone.date_time_offset(given.moment), self.zone.name());
        match given.typed {
            MomentInput::Local(_) | MomentInput::Day(_) if !self.is_known => format!(
                "The wanted moment was read in UTC, {shown}: nothing here says in which time zone the site is. With an \
                 offset, like \"2026-11-22 15:03:10+01:00\", it is exact."
            ),
            _ => format!("The wanted moment was {shown} ({zone})."),
        }
    }

    /// The moment for `--json`.
    pub(super) fn value(&self, given: &PointInTime) -> Value {
        json!({ "moment": given.moment, "shown": self.zone.rfc3339(given.moment), "zone": self.zone.name(),
                "zone_known": self.is_known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_site_s_unless_it_says_how_far_from_utc() {
        const NOON: Moment = Moment(1_795_356_190);
        let zurich = SiteClock::of(Some(TimeZone::named("Europe/Zurich")));
        for (text, moment) in [
            ("2026-11-22 15:03:10", Ok(NOON)),
            ("2026-11-22T15:03:10", Ok(NOON)),
            ("2026-11-22 14:03:10 UTC", Ok(NOON)),
            ("2026-11-22T14:03:10Z", Ok(NOON)),
            ("2026-11-22 15:03:10+01:00", Ok(NOON)),
            ("2026-11-22T08:33:10-05:30", Ok(NOON)),
            ("2026-11-22", Ok(Moment(1_795_302_000))),
            ("2026-11-22 UTC", Ok(Moment(1_795_305_600))),
            ("2026-07-22 15:03:10", Ok(Moment(1_784_725_390))),
            ("2027-02-29 00:00:00", Err(())),
            ("2026-11-22 25:00:00", Err(())),
            ("2026-11-22 15:03:10 CET", Err(())),
            ("2026-11-22 14:03:10+01:00 UTC", Err(())),
            ("yesterday", Err(())),
            ("1795356190", Err(())),
            ("", Err(())),
        ] {
            let read = parse(text).map(|typed| zurich.read(typed).ok().map(|given| given.moment));
            assert_eq!(read.clone().map_err(|_| ()), moment.map(Some), "{text}");
            assert!(read.err().is_none_or(|said| said.contains("by the site's clock")), "{text}");
        }
    }

    #[test]
    fn a_date_alone_is_read_where_the_clock_skips_its_midnight() {
        let havana = SiteClock::of(Some(TimeZone::named("America/Havana")));
        let given = havana.read(parse("2026-03-08").unwrap()).ok().unwrap();
        assert_eq!(havana.describe(&given), "The wanted moment was 2026-03-08 01:00:00-04:00 (America/Havana).");
        assert!(havana.read(parse("2026-03-08 00:00").unwrap()).is_err(), "a typed time must exist");
    }

    #[test]
    fn a_time_that_was_shown_twice_or_never_is_refused_with_the_two_that_may_be_meant() {
        let zurich = SiteClock::of(Some(TimeZone::named("Europe/Zurich")));
        for (text, word, two) in [
            ("2026-10-25 02:30:00", "twice", ["2026-10-25 02:30:00+02:00", "2026-10-25 02:30:00+01:00"]),
            ("2026-03-29 02:30:00", "never", ["2026-03-29 01:30:00+01:00", "2026-03-29 03:30:00+02:00"]),
        ] {
            let Err(CommandError::Refused(said)) = zurich.read(parse(text).unwrap()) else { panic!("{text}") };
            assert!(said.contains(word) && two.iter().all(|one| said.contains(one)), "{said}");
            let read = two.map(|one| zurich.read(parse(one).unwrap()).ok().unwrap().moment);
            assert_eq!(read[1] - read[0], 3_600, "{text}");
        }
    }

    #[test]
    fn where_no_zone_is_known_it_is_utc_and_is_said_unless_the_moment_was_exact() {
        let unknown = SiteClock::of(None);
        let describe = |text| unknown.describe(&unknown.read(parse(text).unwrap()).ok().unwrap());
        assert!(describe("2026-11-22 14:03:10").contains("read in UTC, 2026-11-22 14:03:10+00:00"));
        assert_eq!(describe("2026-11-22 15:03:10+01:00"), "The wanted moment was 2026-11-22 14:03:10+00:00 (UTC).");
    }
}
