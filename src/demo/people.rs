//! Who comes to the tunnel: when they began, how often they fly, how far they have come.

use super::Plan;
use super::cast::{CAST, Part, Staff};
use super::crowd;
use super::ladder::Ladder;
use super::names::{Name, Names};
use super::rng::Rng;
use crate::domain::currency;
use crate::domain::role::Role;

/// The first day of the logbook, counted from today.
pub(super) const OPENING: i64 = -730;
/// When the first signers were appointed.
pub(super) const FOUNDING: i64 = -1_100;
/// When they were through, a level a day, and stood in for nothing more.
pub(super) const FOUNDED: i64 = FOUNDING + 30;
/// The longest that a cast's safety training may be ago: within the half-year before the present one, whatever the day.
const TRAINING_DAYS_MAX: i64 = 160;
const LAPSED_TRAINING: i64 = -430;

/// A level on its way: in two halves, each on a day.
pub(super) struct Climb {
    pub level: usize,
    pub days: [i64; 2],
    pub end: End,
    pub optional: bool,
}

/// How the second half of a level ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Held,
    /// Not begun.
    Training,
    /// Asked for.
    Pending,
    /// One skill was refused.
    Denied,
    /// One skill was paused by the admin.
    Suspended,
    /// One request was withdrawn.
    Cancelled,
}

pub(super) struct Person {
    pub name: Name,
    pub role: Role,
    pub joined: i64,
    /// The first and the last day in the tunnel; none: never flew.
    pub flies: Option<(i64, i64)>,
    /// Who comes again, so that there may be bookings ahead.
    pub comes_again: bool,
    pub flights_a_year: u64,
    /// The day of the week, from Monday 0, that suits best.
    pub weekday: u64,
    pub climbs: Vec<Climb>,
    /// Safety trainings by level (for its programme) and day; the first of a level is the initial one.
    pub trainings: Vec<(usize, i64)>,
    /// Until when somebody who signs may sign.
    pub trained_until: i64,
    pub staff: bool,
    pub founder: bool,
    pub confirmed: bool,
    pub paid_until: Option<i64>,
    pub banned: Option<i64>,
    pub born: i64,
}

impl Person {
    /// The day from which on Flyer Level 1 is held.
    pub(super) fn first_level_since(&self, ladder: &Ladder) -> Option<i64> {
        let first = |climb: &&Climb| {
            let level = ladder.level(climb.level);
            climb.end == End::Held && (&*level.cat_group, &*level.cat_id) == ("Flyer", "1")
        };
        self.climbs.iter().find(first).map(|climb| climb.days[1])
    }

    /// Whether a booking was possible on that day, as the rules go.
    pub(super) fn may_book(&self, day: i64, first_level_since: Option<i64>) -> bool {
        let pays = first_level_since.is_some_and(|since| since < day);
        self.confirmed && self.banned.is_none() && (!pays || self.paid_until.is_some_and(|until| day < until))
    }
}

/// Everybody of a plan: the cast first, then the crowd in the order of joining.
pub(super) fn make(plan: &Plan, ladder: &Ladder, names: &mut Names, midnight: i64) -> Vec<Person> {
    let mut rng = Rng::new(plan.seed, 1);
    let mut people: Vec<Person> = CAST.iter().map(|part| from_cast(part, ladder, names, midnight, &mut rng)).collect();
    let rest = plan.members.saturating_sub(people.len() as u64);
    people.extend(crowd::make(rest, plan, ladder, names, &mut rng));
    people
}

fn from_cast(part: &Part, ladder: &Ladder, names: &mut Names, midnight: i64, rng: &mut Rng) -> Person {
    let staff = part.staff != Staff::No;
    let newcomer = part.targets.is_empty();
    let first = match part.last {
        Some(last) if newcomer => last - 3,
        _ if staff => OPENING,
        _ => OPENING + rng.between(2, 90),
    };
    let mut person = Person {
        name: names.draw(rng, part.username),
        role: part.role,
        joined: if staff || part.role != Role::Member { FOUNDING } else { first - rng.between(1, 10) },
        flies: part.last.map(|last| (first, last)),
        comes_again: part.last.is_some_and(|last| last > -10) && part.end == End::Held,
        flights_a_year: part.flights_a_year,
        weekday: rng.below(7),
        climbs: Vec::new(),
        trainings: Vec::new(),
        trained_until: i64::MAX,
        staff,
        founder: part.staff == Staff::Founder,
        confirmed: part.confirmed,
        paid_until: part.paid,
        banned: part.banned.then_some(-19),
        born: -rng.between(22 * 365, 48 * 365),
    };
    if part.last.is_none() && part.role == Role::Member {
        person.joined = -rng.between(2, 5);
    }
    let way = ladder.way(part.targets);
    person.climbs = if staff {
        climb_before_opening(&way, person.founder, rng)
    } else {
        climb(&way, first, part.last.unwrap_or(first), part.end, rng)
    };
    if staff {
        train(&mut person, ladder, part.staff == Staff::Lapsed, midnight, rng);
    }
    person
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
                let until = currency::training_ends(logbook, midnight + day * 86_400).unwrap_or(i64::MAX);
                person.trained_until = (until - midnight) / 86_400;
            }
            day += rng.between(TRAINING_DAYS_MAX - 25, TRAINING_DAYS_MAX);
        }
    }
}
