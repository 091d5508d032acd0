//! The people of the demo: `assets/demo/people.json` has the cast, the habits of the crowd and the texts that people
//! write. Days are counted from today, which is day 0.

use super::Plan;
use super::rng::Rng;
use crate::domain::catalogue::{Catalogue, Level, LevelKey, SafetyKind};
use crate::domain::entry::Status;
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The first day of the logbook of the public.
pub(super) const OPENING: i64 = -730;
/// When the staff joined and the founders were appointed.
pub(super) const FOUNDING: i64 = -1_100;
/// The day by which the staff hold all their levels, and the founders stand in for none.
pub(super) const FOUNDED: i64 = FOUNDING + 30;
/// The last day for which there are bookings.
const BOOKED_UNTIL: i64 = 13;
/// Bookings ahead are those of persons who flew within this number of days.
const COMES_AGAIN_DAYS: i64 = 60;
/// The least time that a level takes.
const LEVEL_DAYS_MIN: i64 = 21;
/// Days between two safety trainings of the staff: less than the half-year for which one counts.
const TRAINING_DAYS: i64 = 150;
/// From this number of entries a member on, all persons climb as the habits say; below, signed skills would leave no room for
/// flights.
const ENTRIES_FOR_ALL_AMBITIONS: u64 = 36;

/// The numbers of some members of the cast. The founders are the first signers, and sign for the staff; the instructors
/// hold level 4, and sign for all others.
pub(super) const ADMIN: MemberId = MemberId(1);
pub(super) const DESK: MemberId = MemberId(2);
pub(super) const SYNC: MemberId = MemberId(3);
pub(super) const FOUNDERS: [MemberId; 2] = [MemberId(5), MemberId(6)];
pub(super) const INSTRUCTORS: [MemberId; 4] = [MemberId(5), MemberId(6), MemberId(8), MemberId(10)];

pub(super) static PEOPLE: LazyLock<People> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../assets/demo/people.json")).expect("a test reads assets/demo/people.json")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct People {
    /// The members of every demo site, in the order of their numbers: one in every state, and all who sign.
    pub cast: Vec<Person>,
    habits: Vec<Habit>,
    #[serde(borrow)]
    pub flight_comments: Vec<&'static str>,
    #[serde(borrow)]
    pub denials: Vec<&'static str>,
    #[serde(borrow)]
    pub praise: Vec<&'static str>,
}

/// A person: written in the file, or drawn for the crowd.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Person {
    /// The special state of the person on the day on which the site is made; empty in the crowd.
    pub state: &'static str,
    pub role: Role,
    /// An account name that is easier to remember than an invented one; or empty.
    pub username: &'static str,
    pub joined: i64,
    /// The day of the last flight; `None`: the person never flew.
    pub last_day: Option<i64>,
    pub flights_a_year: u64,
    /// The levels that the person climbs, like `Flyer 1, Flyer 2 Backflying`, each after what it requires.
    levels: &'static str,
    /// The state of the entries that would complete the last of the levels; `None`: the level is held.
    end: Option<Status>,
    /// The day of the last safety training, for staff. Staff learned their levels before the opening.
    pub trained_until: Option<i64>,
    /// The programmes in which the tunnel lists the person as a signer, like `Instructor, Trainer`.
    signs: &'static str,
    /// The day up to which the membership is paid.
    pub paid_until: Option<i64>,
    pub unconfirmed: bool,
    pub banned: bool,
}

/// A skill, or a safety record without a level.
pub(super) struct SignedRecord {
    pub day: i64,
    pub cat_group: &'static str,
    pub cat_id: &'static str,
    pub skill: &'static str,
    /// The state of the entry; `None`: in force.
    pub end: Option<Status>,
}

/// How a part of the crowd flies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Habit {
    /// Flights a year; 0: one flight in all.
    flights_a_year: u64,
    /// The share of all people, in proportion to the other weights.
    weight: u64,
    /// Of a hundred people with this habit, how many climb to one of the goals.
    ambitious_percent: u64,
    /// The most days since the last flight of a person who still comes.
    pause_days_max: i64,
    #[serde(borrow)]
    goals: Vec<&'static str>,
}

impl Person {
    /// The first and the last day with flights, which may be ahead; `None`: the person never flew.
    pub(super) fn flies(&self) -> Option<(i64, i64)> {
        let last = self.last_day?;
        let comes_again = last > -COMES_AGAIN_DAYS && !self.banned;
        Some(((self.joined + 1).max(OPENING), if comes_again { BOOKED_UNTIL } else { last }))
    }

    /// How many flights the person makes, in proportion to those of other persons.
    pub(super) fn weight(&self) -> u64 {
        self.flies().map_or(0, |(first, last)| self.flights_a_year * (last - first + 1) as u64)
    }

    /// All that the person learns: first the skills, then the safety records. A level that the catalogue does not have is
    /// left out, and so are the last ones where there is no time for them.
    pub(super) fn lessons(&self, catalogue: &'static Catalogue, rng: &mut Rng) -> Vec<SignedRecord> {
        let Some(last) = self.last_day else { return Vec::new() };
        let (mut levels, mut lessons) = (self.levels(catalogue), Vec::new());
        let (first, mut step) = (self.joined + 1, 1);
        if self.trained_until.is_none() {
            levels.truncate(((last - first) / LEVEL_DAYS_MIN) as usize);
            step = (last - first) / (levels.len() as i64 + 1);
        }
        let mut logbooks = BTreeMap::from([("Flyer", first)]);
        for (n, level) in levels.iter().enumerate() {
            let (begun, end) = (first + step * n as i64, self.end.filter(|_| n + 1 == levels.len()));
            let done = if end == Some(Status::Pending) { last } else { begun + rng.between(0, step / 3) };
            logbooks.entry(catalogue.safety_logbook(&level.cat_group)).or_insert(begun);
            let skills: Vec<_> = level.skills.iter().filter(|skill| skill.required || rng.percent(40)).collect();
            for (nth, skill) in skills.iter().enumerate() {
                let (day, end) = if nth < skills.len() / 2 { (begun, None) } else { (done, end) };
                lessons.push(SignedRecord {
                    day,
                    cat_group: &level.cat_group,
                    cat_id: &level.cat_id,
                    skill: &skill.skill,
                    end,
                });
                // After a refusal the others are not begun.
                if end.is_some_and(|end| end != Status::Pending) {
                    break;
                }
            }
        }
        for (cat_group, begun) in logbooks {
            for record in catalogue.safety(cat_group) {
                let days = match record.kind {
                    SafetyKind::Initial => begun..begun + 1,
                    SafetyKind::Recurrent => begun + TRAINING_DAYS..self.trained_until.unwrap_or(begun),
                };
                let lesson = |day| SignedRecord { day, cat_group, cat_id: "", skill: &record.skill, end: None };
                lessons.extend(days.step_by(TRAINING_DAYS as usize).map(lesson));
            }
        }
        lessons
    }

    pub(super) fn levels(&self, catalogue: &'static Catalogue) -> Vec<&'static Level> {
        names(self.levels).filter_map(|name| find_level(catalogue, name)).collect()
    }

    pub(super) fn signs(&self) -> impl Iterator<Item = &'static str> {
        names(self.signs)
    }
}

fn names(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(", ").filter(|name| !name.is_empty())
}

/// Finds the level with a name like `Flyer 3 Static`.
fn find_level(catalogue: &'static Catalogue, name: &str) -> Option<&'static Level> {
    let mut words = name.splitn(3, ' ');
    let [cat_group, cat_id, track] = [(); 3].map(|()| words.next().unwrap_or(""));
    catalogue.find_level(LevelKey { cat_group, cat_id, track })
}

/// All persons of a plan: the cast, then the crowd in the order of joining.
pub(super) fn all(plan: &Plan, rng: &mut Rng) -> Vec<Person> {
    let mut people = PEOPLE.cast.clone();
    let crowd = plan.members.saturating_sub(people.len() as u64) as i64;
    let ambitious_percent = 100 * (plan.entries / plan.members.max(1)) / ENTRIES_FOR_ALL_AMBITIONS;
    people.extend((0..crowd).map(|n| draw(OPENING + (-2 - OPENING) * n / crowd, ambitious_percent, rng)));
    people
}

/// Draws a person of the crowd. `ambitious_percent`: of a hundred who by habit climb, how many do.
fn draw(joined: i64, ambitious_percent: u64, rng: &mut Rng) -> Person {
    let habit = rng.weighted(&PEOPLE.habits, |habit| habit.weight);
    let stays = rng.percent(86);
    let last = if stays { -rng.between(1, habit.pause_days_max) } else { rng.between(joined, -1) };
    let last = last.max(joined + 1);
    let climbs = rng.percent(ambitious_percent) && rng.percent(habit.ambitious_percent);
    let end = match rng.below(100) {
        // Nobody leaves a request open for weeks.
        0..6 if last > -12 => Some(Status::Pending),
        6..12 => Some(Status::Denied),
        12..16 => Some(Status::Cancelled),
        16 => Some(Status::Suspended),
        _ => None,
    };
    let paid_until = if rng.percent(85) { rng.between(1, 365) } else { last };
    Person {
        joined,
        last_day: Some(last),
        flights_a_year: habit.flights_a_year,
        levels: if climbs { rng.pick(&habit.goals) } else { "" },
        end,
        paid_until: climbs.then_some(paid_until),
        unconfirmed: !climbs && rng.percent(8),
        ..Person::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_has_every_level_of_the_file() {
        let goals = PEOPLE.habits.iter().flat_map(|habit| habit.goals.iter().copied());
        for name in PEOPLE.cast.iter().map(|person| person.levels).chain(goals).flat_map(names) {
            assert!(find_level(Catalogue::built_in(), name).is_some(), "{name}");
        }
    }
}
