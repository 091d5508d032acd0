//! The people of the demo: when each joined, how often each flies and which levels each climbs. Days are counted from
//! today, which is day 0.

use super::Plan;
use super::data::{LevelEnd, PEOPLE, Person};
use super::levels::{Climb, path_to};
use super::rng::Rng;
use crate::domain::catalogue::{Catalogue, Level};

/// The first day of the logbook of the public.
pub(super) const OPENING: i64 = -730;
/// When the staff joined and the founders were appointed.
pub(super) const FOUNDING: i64 = -1_100;
/// The day by which the staff hold all their levels, and the founders stand in for none.
pub(super) const FOUNDED: i64 = FOUNDING + 30;
/// From so many entries a member on, all persons climb as the habits say; below, signed skills would leave no room for
/// flights.
const ENTRIES_FOR_ALL_AMBITIONS: u64 = 36;
/// The least time that a level takes.
const LEVEL_DAYS_MIN: i64 = 21;
/// The most days since the last flight of a member who renews the membership.
const RENEWED_DAYS_MAX: i64 = 90;
/// How the last level of a person of the crowd ends, of a hundred.
const ENDS: [(LevelEnd, u64); 6] = [
    (LevelEnd::Held, 76),
    (LevelEnd::Training, 14),
    (LevelEnd::Pending, 6),
    (LevelEnd::Denied, 2),
    (LevelEnd::Suspended, 1),
    (LevelEnd::Cancelled, 1),
];
/// The positions of the admin and the desk in the cast.
pub(super) const ADMIN: usize = 0;
pub(super) const DESK: usize = 1;

impl Person {
    /// The first and the last day in the tunnel; `None`: the person never flew.
    pub(super) fn flies(&self) -> Option<(i64, i64)> {
        self.last_day.map(|last| ((self.joined + 1).min(last), last))
    }

    /// The levels held in the end, each with the day from which it is held.
    pub(super) fn held(&self) -> impl Iterator<Item = (&'static Level, i64)> {
        let held = self.climbs.iter().filter(|climb| climb.end == LevelEnd::Held);
        held.map(|climb| (climb.level, climb.days[1]))
    }

    /// The day on which Flyer Level 1 was completed.
    pub(super) fn flyer_since(&self) -> Option<i64> {
        let mut held = self.held();
        held.find(|(level, _)| (&*level.cat_group, &*level.cat_id) == ("Flyer", "1")).map(|(_, day)| day)
    }

    /// The climb to the person's levels, at even steps between the first and the last flight. The staff learned before
    /// the opening, a level a day.
    fn climb(&self, catalogue: &'static Catalogue, rng: &mut Rng) -> Vec<Climb> {
        let mut path = path_to(catalogue, &self.levels);
        if self.staff.is_some() {
            let climb = |(level, day)| Climb { level, days: [day; 2], end: LevelEnd::Held, optional: true };
            return path.into_iter().zip(FOUNDING + 1..).map(climb).collect();
        }
        let (first, last) = self.flies().unwrap_or_default();
        path.truncate(((last - first) / LEVEL_DAYS_MIN) as usize);
        let step = (last - first) / (path.len() as i64 + 1);
        let climb = |(n, level): (usize, &&'static Level)| {
            let end = if n + 1 == path.len() { self.end } else { LevelEnd::Held };
            let begun = first + step * (n as i64) + 1 + rng.between(0, step / 3);
            let done = if end == LevelEnd::Pending { last } else { begun + rng.between(1, (step / 2).clamp(1, 21)) };
            Climb { level, days: [begun, done], end, optional: rng.percent(40) }
        };
        path.iter().enumerate().map(climb).collect()
    }
}

/// All persons of a plan: the cast first, then the crowd in the order of joining.
pub(super) fn make(plan: &Plan, catalogue: &'static Catalogue) -> Vec<Person> {
    let mut rng = Rng::new(plan.seed, 1);
    let mut people = PEOPLE.cast.clone();
    let crowd = plan.members.saturating_sub(people.len() as u64);
    // A third joined in the first months.
    let mut draw_day = |_| OPENING + if rng.percent(33) { rng.between(0, 75) } else { rng.between(40, -2 - OPENING) };
    let mut joined: Vec<i64> = (0..crowd).map(&mut draw_day).collect();
    joined.sort_unstable();
    let ambitious_percent = 100 * (plan.entries / plan.members.max(1)) / ENTRIES_FOR_ALL_AMBITIONS;
    people.extend(joined.into_iter().map(|joined| draw(joined, ambitious_percent, &mut rng)));
    for person in &mut people {
        person.climbs = person.climb(catalogue, &mut rng);
    }
    people
}

/// Draws a person of the crowd. `ambitious_percent`: of a hundred who by habit climb, how many do.
fn draw(joined: i64, ambitious_percent: u64, rng: &mut Rng) -> Person {
    let habit = rng.weighted(&PEOPLE.habits, |habit| habit.weight);
    let stays = !rng.percent(14);
    let last = match habit.flights_a_year {
        0 => joined + rng.between(1, 9),
        _ if stays => -rng.between(1, habit.pause_days_max),
        _ => rng.between(joined, -1),
    };
    let last = last.clamp(joined + 1, -1);
    let climbs = rng.percent(ambitious_percent) && rng.percent(habit.ambitious_percent);
    let pays = last >= -RENEWED_DAYS_MAX && !rng.percent(9);
    let paid_until = if pays { joined.rem_euclid(365) + 1 } else { (last + rng.between(1, 60)).min(-1) };
    let end = match rng.weighted(&ENDS, |(_, weight)| *weight).0 {
        // Nobody leaves a request open for weeks.
        LevelEnd::Pending if last <= -12 => LevelEnd::Held,
        end => end,
    };
    Person {
        joined,
        last_day: Some(last),
        flights_a_year: habit.flights_a_year,
        levels: if climbs { rng.pick(&habit.goals).clone() } else { Vec::new() },
        end,
        paid_until: climbs.then_some(paid_until),
        unconfirmed: !climbs && rng.percent(if joined > -25 { 50 } else { 6 }),
        ..Person::default()
    }
}
