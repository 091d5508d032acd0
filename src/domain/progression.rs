//! A member's progression through the catalogue: which levels are held, open, next or later.

use super::catalogue::{Catalogue, Level, LevelKey, Skill};
use super::currency::Currencies;
use crate::moment::Moment;

/// The three tracks that clients show on a flyer's dashboard.
pub(crate) const TRACKS: [&str; 3] = ["Static", "Dynamic", "Formation"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Held since this moment, in Unix seconds.
    Held(Moment),
    /// Held since this moment, but the programme's currency has lapsed.
    Lapsed(Moment),
    /// Ready to be worked on.
    Open,
    /// Opens once the open levels are held.
    Next,
    Later,
}

/// A level, and the member's progress on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step<'a> {
    pub level: &'a Level,
    pub state: State,
    /// The required skills without a signature.
    pub missing: Vec<&'a Skill>,
}

impl Step<'_> {
    pub(crate) fn required(&self) -> usize {
        self.level.required().count()
    }

    /// The number of required skills that are signed.
    pub(crate) fn signed(&self) -> usize {
        self.required() - self.missing.len()
    }
}

/// A step for every level of the catalogue, in its order. `held`: the held levels, each with the moment
/// since when; `signed`: the signed skills.
pub(crate) fn of<'a>(
    catalogue: &'a Catalogue,
    held: &[(LevelKey, Moment)],
    signed: &[&str],
    currency: &Currencies,
) -> Vec<Step<'a>> {
    let keys: Vec<LevelKey> = held.iter().map(|(key, _)| *key).collect();
    let open: Vec<LevelKey> = catalogue.next_levels(&keys).into_iter().map(Level::key).collect();
    let soon: Vec<LevelKey> = keys.iter().chain(&open).copied().collect();
    let lapsed = |level: &Level| currency.find(&level.cat_group).is_some_and(|currency| !currency.current);
    let state = |level: &Level| match held.iter().find(|(key, _)| *key == level.key()) {
        Some((_, since)) if lapsed(level) => State::Lapsed(*since),
        Some((_, since)) => State::Held(*since),
        None if level.admits(&keys) => State::Open,
        None if level.admits(&soon) => State::Next,
        None => State::Later,
    };
    let step = |level: &'a Level| Step {
        level,
        state: state(level),
        missing: level.required().filter(|skill| !signed.contains(&skill.skill.as_str())).collect(),
    };
    catalogue.levels().map(step).collect()
}

/// The highest held level of a flyer's track.
pub(crate) fn highest<'a>(held: &[LevelKey<'a>], track: &str) -> Option<&'a str> {
    held.iter().filter(|level| level.cat_group == "Flyer" && level.track == track).map(|level| level.cat_id).max()
}

/// Whether a skill of this flyer's track is pending.
pub(crate) fn is_pending(catalogue: &Catalogue, track: &str, pending: &[&str]) -> bool {
    let of_track = |level: &Level| level.cat_group == "Flyer" && level.track == track;
    pending.iter().filter_map(|skill| catalogue.find_skill(skill)).any(|(level, _)| of_track(level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::currency::Currency;

    const fn key<'a>(cat_group: &'a str, cat_id: &'a str, track: &'a str) -> LevelKey<'a> {
        LevelKey { cat_group, cat_id, track }
    }

    const FLYER_1: LevelKey = key("Flyer", "1", "");
    const BACK_2: LevelKey = key("Flyer", "2", "Backflying");

    fn named(steps: &[Step], state: State) -> Vec<String> {
        steps.iter().filter(|step| step.state == state).map(|step| step.level.name.clone()).collect()
    }

    #[test]
    fn a_newcomer_begins_at_level_one_and_sees_what_it_opens() {
        let steps = of(Catalogue::built_in(), &[], &[], &Currencies::default());
        assert_eq!(steps.len(), Catalogue::built_in().levels().count());
        assert_eq!(named(&steps, State::Open), ["Flyer Level 1", "Military"]);
        assert_eq!(named(&steps, State::Next), ["Backflying Level 2", "Formation Level 2"]);
        assert!(steps.iter().all(|step| step.signed() == 0 && step.required() > 0));
    }

    #[test]
    fn what_is_held_opens_what_requires_it_and_a_lapse_shows() {
        let flyer = Currency { current: true, renewal: Some(Moment(9)) };
        let (held, current) =
            ([(FLYER_1, Moment(5)), (BACK_2, Moment(7))], Currencies { flyer, ..Currencies::default() });
        let steps = of(Catalogue::built_in(), &held, &["11301", "11310", "10101", "no such"], &current);
        assert_eq!(named(&steps, State::Held(Moment(5))), ["Flyer Level 1"]);
        assert_eq!(
            named(&steps, State::Open),
            ["Static Level 3", "Dynamic Level 3", "Formation Level 2", "Assistant Flight Coach", "Military"]
        );
        assert_eq!(
            named(&steps, State::Next),
            ["Static Level 4", "Dynamic Level 4", "Formation Level 3", "Instructor Level 1", "Coach"]
        );
        let sit = steps.iter().find(|step| step.level.name == "Static Level 3").unwrap();
        assert_eq!((sit.signed(), sit.required()), (1, 8), "what is not required does not count");
        let lapsed = of(Catalogue::built_in(), &held, &[], &Currencies::default());
        assert_eq!(named(&lapsed, State::Lapsed(Moment(7))), ["Backflying Level 2"]);
    }

    #[test]
    fn a_track_has_its_highest_level_and_what_waits() {
        let held = [FLYER_1, BACK_2, key("Flyer", "4", "Static"), key("Flyer", "3", "Static"), key("Coach", "1", "")];
        assert_eq!(TRACKS.map(|track| highest(&held, track)), [Some("4"), None, None]);
        assert_eq!(highest(&held, ""), Some("1"));
        let pending = ["13201", "20101", "no such"];
        assert_eq!(TRACKS.map(|track| is_pending(Catalogue::built_in(), track, &pending)), [false, false, true]);
    }
}
