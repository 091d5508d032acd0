//! The people of the demo: when each joined, how often each flies and which levels each climbs. Days are counted from
//! today, which is day 0.

use super::Plan;
use super::data::{CastMember, Habit, LevelEnd, PEOPLE, Staff};
use super::levels::path_to;
use super::rng::Rng;
use crate::domain::catalogue::{Catalogue, Level, SafetyKind, Skill};
use crate::domain::role::Role;

/// The first day of the logbook.
pub(super) const OPENING: i64 = -730;
/// When the founders were appointed.
pub(super) const FOUNDING: i64 = -1_100;
/// The day by which the founders hold every level themselves, one a day, and stand in for none.
pub(super) const FOUNDED: i64 = FOUNDING + 30;
/// Days between two safety trainings at most: less than the half-year for which one counts.
const TRAINING_DAYS_MAX: i64 = 160;
/// The last training of a signer whose training has lapsed.
const LAPSED_TRAINING: i64 = -430;
/// From so many entries a member on, all persons climb as the habits say; below, signed skills would leave no room for
/// flights.
const ENTRIES_FOR_ALL_AMBITIONS: u64 = 36;
/// Below so many entries a member, some persons have not flown.
const ENTRIES_FOR_ALL_TO_FLY: u64 = 5;
/// The least time that a level takes.
const LEVEL_DAYS_MIN: i64 = 21;
/// The positions of the admin and the desk in the cast.
pub(super) const ADMIN: usize = 0;
pub(super) const DESK: usize = 1;

/// A level that a person climbs: half of its skills on the first day, the others on the second.
pub(super) struct Climb {
    pub level: &'static Level,
    pub days: [i64; 2],
    pub end: LevelEnd,
    /// Whether the optional skills are learnt too.
    pub optional: bool,
}

#[derive(Default)]
pub(super) struct Person {
    pub username: Option<&'static str>,
    pub role: Role,
    pub staff: Option<Staff>,
    pub joined: i64,
    /// The first and the last day in the tunnel; `None`: the person never flew.
    pub flies: Option<(i64, i64)>,
    /// Whether there may be bookings ahead.
    pub comes_again: bool,
    pub flights_a_year: u64,
    pub climbs: Vec<Climb>,
    /// Safety briefs and trainings: a level of the programme, the kind and the day.
    pub trainings: Vec<(&'static Level, SafetyKind, i64)>,
    pub confirmed: bool,
    pub paid_until: Option<i64>,
    pub banned: bool,
    pub born: i64,
}

impl Climb {
    /// The skills of each half; the second has the optional ones.
    pub(super) fn skills(&self) -> [Vec<&'static Skill>; 2] {
        let (required, optional): (Vec<_>, Vec<_>) = self.level.skills.iter().partition(|skill| skill.required);
        let (first, second) = required.split_at(required.len() / 2);
        let optional = if self.optional { optional } else { Vec::new() };
        [first.to_vec(), [second, &optional].concat()]
    }
}

impl Person {
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
}

/// All persons of a plan: the cast first, then the crowd in the order of joining.
pub(super) fn make(plan: &Plan, catalogue: &'static Catalogue) -> Vec<Person> {
    let mut rng = Rng::new(plan.seed, 1);
    let mut people: Vec<Person> = PEOPLE.cast.iter().map(|member| from_cast(member, catalogue, &mut rng)).collect();
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
        from_crowd(joined, habit, flies, climbs.then_some(catalogue), &mut rng)
    }));
    people
}

fn from_cast(member: &'static CastMember, catalogue: &'static Catalogue, rng: &mut Rng) -> Person {
    let last = member.last_day;
    let first = match last {
        Some(last) if member.levels.is_empty() => last - 3,
        _ if member.staff.is_some() => OPENING,
        _ => OPENING + rng.between(2, 90),
    };
    let is_employed = member.staff.is_some() || member.role != Role::Member;
    let path = path_to(catalogue, &member.levels);
    let climbs = match member.staff {
        // Founders sign for each other, a level a day; the other staff came up under them before the opening.
        Some(Staff::Founder) => path
            .iter()
            .zip(FOUNDING..)
            .map(|(level, day)| Climb { level, days: [day; 2], end: LevelEnd::Held, optional: true })
            .collect(),
        Some(_) => climb(&path, FOUNDED, OPENING - 10, LevelEnd::Held, rng),
        None => climb(&path, first, last.unwrap_or(first), member.end, rng),
    };
    Person {
        username: member.username.as_deref(),
        role: member.role,
        staff: member.staff,
        joined: if is_employed { FOUNDING } else { last.map_or(0, |_| first) - rng.between(2, 10) },
        flies: last.map(|last| (first, last)),
        comes_again: last.is_some_and(|last| last > -10) && member.end == LevelEnd::Held,
        flights_a_year: member.flights_a_year,
        trainings: member.staff.map_or_else(Vec::new, |staff| trainings(&climbs, staff, catalogue, rng)),
        climbs,
        confirmed: !member.unconfirmed,
        paid_until: member.paid_days,
        banned: member.banned,
        born: -rng.between(22 * 365, 48 * 365),
    }
}

/// The day on which a person joined: for a third in the first months, for the others any time since.
fn joining_day(rng: &mut Rng) -> i64 {
    if rng.percent(33) { OPENING + rng.between(0, 75) } else { rng.between(OPENING + 40, -2) }
}

/// Makes a person of the crowd. `catalogue`: for a person who climbs.
fn from_crowd(
    joined: i64,
    habit: &'static Habit,
    flies: bool,
    catalogue: Option<&'static Catalogue>,
    rng: &mut Rng,
) -> Person {
    let first = (joined + rng.between(0, 9)).min(-1);
    let dropped_out = rng.percent(14);
    let last = match habit.flights_a_year {
        0 => first,
        _ if dropped_out => rng.between(first, -1),
        _ => (-rng.between(1, habit.pause_days_max)).max(first),
    };
    let comes_again = !dropped_out && habit.flights_a_year > 0;
    let climbs = match catalogue {
        Some(catalogue) if flies => {
            let goals: &Vec<String> = rng.pick(&habit.goals);
            let mut path = path_to(catalogue, goals);
            path.truncate(((last - first) / LEVEL_DAYS_MIN) as usize);
            climb(&path, first, last, crowd_end(last, rng), rng)
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

fn crowd_end(last: i64, rng: &mut Rng) -> LevelEnd {
    match rng.below(100) {
        0..=13 => LevelEnd::Training,
        14..=19 if last > -12 => LevelEnd::Pending,
        20..=21 => LevelEnd::Denied,
        22 => LevelEnd::Suspended,
        23 => LevelEnd::Cancelled,
        _ => LevelEnd::Held,
    }
}

/// Climbs a path between two days, at even steps; the last level ends with `end`.
fn climb(path: &[&'static Level], first: i64, last: i64, end: LevelEnd, rng: &mut Rng) -> Vec<Climb> {
    let step = (last - first) / (path.len() as i64 + 1);
    let climb_one = |(n, level): (usize, &&'static Level)| {
        let top = n + 1 == path.len();
        let begun = first + step * (n as i64) + 1 + rng.between(0, step / 3);
        let done = if top && end == LevelEnd::Pending { last } else { begun + rng.between(1, (step / 2).clamp(1, 21)) };
        let end = if top { end } else { LevelEnd::Held };
        Climb { level, days: [begun, done], end, optional: rng.percent(40) }
    };
    path.iter().enumerate().map(climb_one).collect()
}

/// One safety training for each programme as it is entered, repeated in time up to today or to the lapse.
fn trainings(
    climbs: &[Climb],
    staff: Staff,
    catalogue: &'static Catalogue,
    rng: &mut Rng,
) -> Vec<(&'static Level, SafetyKind, i64)> {
    let end = if staff == Staff::Lapsed { LAPSED_TRAINING } else { 0 };
    let (mut trainings, mut logbooks) = (Vec::new(), Vec::new());
    for climb in climbs.iter().filter(|climb| climb.level.cat_group != "Flyer") {
        let logbook = catalogue.find_programme(&climb.level.cat_group).map(|programme| &programme.safety_logbook);
        if logbooks.contains(&logbook) {
            continue;
        }
        logbooks.push(logbook);
        let (mut day, mut kind) = (climb.days[0], SafetyKind::Initial);
        while day < end {
            trainings.push((climb.level, kind, day));
            day += rng.between(TRAINING_DAYS_MAX - 25, TRAINING_DAYS_MAX);
            kind = SafetyKind::Recurrent;
        }
    }
    trainings
}
