//! Who comes to the tunnel: when each person joined, how often the person flies and what the person climbs. Days are counted
//! from today, which is day 0.

use super::Plan;
use super::data::{End, Habit, PEOPLE, Part, Staff};
use super::ladder::Ladder;
use super::life::DAY;
use super::rng::Rng;
use crate::domain::currency;
use crate::domain::role::Role;

/// The first day of the logbook.
pub(super) const OPENING: i64 = -730;
/// When the founders were appointed.
pub(super) const FOUNDING: i64 = -1_100;
/// When the founders held every level of their own, one a day, and stood in for nothing more.
pub(super) const FOUNDED: i64 = FOUNDING + 30;
/// Days between two safety trainings at most: within the half-year before the present one, whatever the day.
const TRAINING_DAYS_MAX: i64 = 160;
const LAPSED_TRAINING: i64 = -430;
/// Entries a member from which on everybody climbs as they like; below, signed skills would leave no room for flights.
const ENTRIES_FOR_ALL_AMBITIONS: u64 = 36;
/// Entries a member below which not everybody has flown.
const ENTRIES_FOR_ALL_TO_FLY: u64 = 5;
/// The least time that a level takes.
const LEVEL_DAYS_MIN: i64 = 21;
/// Where the admin and the desk are in the cast.
pub(super) const ADMIN: usize = 0;
pub(super) const DESK: usize = 1;

/// A level on its way, in two halves, each on a day.
pub(super) struct Climb {
    pub level: usize,
    pub days: [i64; 2],
    pub end: End,
    /// Whether the optional skills are learnt too.
    pub optional: bool,
}

#[derive(Default)]
pub(super) struct Person {
    pub username: Option<&'static str>,
    pub role: Role,
    pub staff: Option<Staff>,
    pub joined: i64,
    /// The first and the last day in the tunnel; none: never flew.
    pub flies: Option<(i64, i64)>,
    /// Whether there may be bookings ahead.
    pub comes_again: bool,
    pub flights_a_year: u64,
    pub climbs: Vec<Climb>,
    /// Safety trainings by level (for its programme) and day.
    pub trainings: Vec<(usize, i64)>,
    /// Until when somebody who signs may sign.
    pub trained_until: i64,
    pub confirmed: bool,
    pub paid_until: Option<i64>,
    pub banned: Option<i64>,
    pub born: i64,
}

impl Person {
    /// The day on which Flyer Level 1 was completed.
    pub(super) fn first_level_since(&self, ladder: &Ladder) -> Option<i64> {
        let first = |climb: &&Climb| {
            let level = ladder.level(climb.level);
            climb.end == End::Held && (&*level.cat_group, &*level.cat_id) == ("Flyer", "1")
        };
        self.climbs.iter().find(first).map(|climb| climb.days[1])
    }
}

/// Everybody of a plan: the cast first, then the crowd in the order of joining. `midnight`: the beginning of today.
pub(super) fn make(plan: &Plan, ladder: &Ladder, midnight: i64) -> Vec<Person> {
    let mut rng = Rng::new(plan.seed, 1);
    let mut people: Vec<Person> = PEOPLE.cast.iter().map(|part| from_cast(part, ladder, midnight, &mut rng)).collect();
    let crowd = plan.members.saturating_sub(people.len() as u64);
    let mut joined: Vec<i64> = (0..crowd).map(|_| joining_day(&mut rng)).collect();
    joined.sort_unstable();
    let each = plan.entries / plan.members.max(1);
    let ambitious = (100 * each / ENTRIES_FOR_ALL_AMBITIONS).min(100);
    let flying = (100 * each / ENTRIES_FOR_ALL_TO_FLY).min(100);
    let weights: Vec<u64> = PEOPLE.habits.iter().map(|habit| habit.weight).collect();
    people.extend(joined.into_iter().map(|joined| {
        let habit = &PEOPLE.habits[rng.weighted(&weights)];
        let (flies, climbs) = (rng.percent(flying), rng.percent(ambitious) && rng.percent(habit.ambitious_percent));
        from_crowd(joined, habit, flies, climbs.then_some(ladder), &mut rng)
    }));
    people
}

fn from_cast(part: &'static Part, ladder: &Ladder, midnight: i64, rng: &mut Rng) -> Person {
    let last = part.last_day;
    let first = match last {
        Some(last) if part.levels.is_empty() => last - 3,
        _ if part.staff.is_some() => OPENING,
        _ => OPENING + rng.between(2, 90),
    };
    let joined = match (part.role, last) {
        (Role::Member, None) => -rng.between(2, 5),
        (Role::Member, Some(_)) if part.staff.is_none() => first - rng.between(1, 10),
        _ => FOUNDING,
    };
    let way = ladder.way(&part.levels);
    let mut person = Person {
        username: part.username.as_deref(),
        role: part.role,
        staff: part.staff,
        joined,
        flies: last.map(|last| (first, last)),
        comes_again: last.is_some_and(|last| last > -10) && part.end == End::Held,
        flights_a_year: part.flights_a_year,
        climbs: match part.staff {
            Some(staff) => climb_before_opening(&way, staff == Staff::Founder, rng),
            None => climb(&way, first, last.unwrap_or(first), part.end, rng),
        },
        trainings: Vec::new(),
        trained_until: i64::MAX,
        confirmed: !part.unconfirmed,
        paid_until: part.paid_days,
        banned: part.banned.then_some(-19),
        born: -rng.between(22 * 365, 48 * 365),
    };
    if let Some(staff) = part.staff {
        train(&mut person, ladder, staff == Staff::Lapsed, midnight, rng);
    }
    person
}

/// A third came in the first months, the others ever since.
fn joining_day(rng: &mut Rng) -> i64 {
    if rng.percent(33) { OPENING + rng.between(0, 75) } else { rng.between(OPENING + 40, -2) }
}

/// `ladder`: for somebody who climbs.
fn from_crowd(joined: i64, habit: &'static Habit, flies: bool, ladder: Option<&Ladder>, rng: &mut Rng) -> Person {
    let first = (joined + rng.between(0, 9)).min(-1);
    let dropped_out = rng.percent(14);
    let last = match habit.flights_a_year {
        0 => first,
        _ if dropped_out => rng.between(first, -1),
        _ => (-rng.between(1, habit.pause_days_max)).max(first),
    };
    let comes_again = !dropped_out && habit.flights_a_year > 0;
    let climbs = match ladder {
        Some(ladder) if flies => {
            let goal: &Vec<String> = rng.pick(&habit.goals);
            let mut way = ladder.way(goal);
            way.truncate(((last - first) / LEVEL_DAYS_MIN) as usize);
            climb(&way, first, last, crowd_end(last, rng), rng)
        }
        _ => Vec::new(),
    };
    let beginner = climbs.is_empty();
    let owes = !comes_again || rng.percent(9);
    let paid_until = if owes { (last + rng.between(1, 60)).min(-1) } else { joined.rem_euclid(365) + 1 };
    Person {
        joined,
        flies: flies.then_some((first, last)),
        comes_again,
        flights_a_year: habit.flights_a_year,
        climbs,
        confirmed: !beginner || !rng.percent(if joined > -25 { 50 } else { 6 }),
        paid_until: (!beginner).then_some(paid_until),
        born: joined - if rng.percent(15) { rng.between(8 * 365, 16 * 365) } else { rng.between(16 * 365, 62 * 365) },
        ..Person::default()
    }
}

fn crowd_end(last: i64, rng: &mut Rng) -> End {
    match rng.below(100) {
        0..=13 => End::Training,
        14..=19 if last > -12 => End::Pending,
        20..=21 => End::Denied,
        22 => End::Suspended,
        23 => End::Cancelled,
        _ => End::Held,
    }
}

/// From below to the top between the first and the last flight; the top ends as it ends, on the last days.
pub(super) fn climb(way: &[usize], first: i64, last: i64, end: End, rng: &mut Rng) -> Vec<Climb> {
    let step = (last - first) / (way.len() as i64 + 1);
    let place = |(n, level): (usize, &usize)| {
        let top = n + 1 == way.len();
        let begun = first + step * (n as i64) + 1 + rng.between(0, step / 3);
        let done = if top && end == End::Pending { last } else { begun + rng.between(1, (step / 2).clamp(1, 21)) };
        let end = if top { end } else { End::Held };
        Climb { level: *level, days: [begun, done], end, optional: rng.percent(40) }
    };
    way.iter().enumerate().map(place).collect()
}

/// Founders were appointed; the others came up under them, one level after the other.
fn climb_before_opening(way: &[usize], founder: bool, rng: &mut Rng) -> Vec<Climb> {
    let held = |level: &usize, days| Climb { level: *level, days, end: End::Held, optional: true };
    if founder {
        return way.iter().zip(FOUNDING..).map(|(level, day)| held(level, [day; 2])).collect();
    }
    let step = (OPENING - 10 - FOUNDED) / (way.len() as i64 + 1);
    let place = |(n, level): (usize, &usize)| {
        let begun = FOUNDED + step * (n as i64) + 1;
        held(level, [begun, begun + rng.between(1, step - 2)])
    };
    way.iter().enumerate().map(place).collect()
}

/// A safety training for each programme as it is entered, and again in time, up to today or to the lapse.
fn train(person: &mut Person, ladder: &Ladder, lapsed: bool, midnight: i64, rng: &mut Rng) {
    let end = if lapsed { LAPSED_TRAINING } else { 0 };
    let mut logbooks: Vec<&str> = Vec::new();
    for climb in &person.climbs {
        let level = ladder.level(climb.level);
        let logbook = ladder.catalogue.find_programme(&level.cat_group).map_or("", |one| &one.safety_logbook);
        if level.cat_group == "Flyer" || logbooks.contains(&logbook) {
            continue;
        }
        logbooks.push(logbook);
        let mut day = climb.days[0];
        while day < end {
            person.trainings.push((climb.level, day));
            if lapsed {
                let until = currency::training_ends(logbook, midnight + day * DAY).unwrap_or(i64::MAX);
                person.trained_until = (until - midnight) / DAY;
            }
            day += rng.between(TRAINING_DAYS_MAX - 25, TRAINING_DAYS_MAX);
        }
    }
}
