//! The events of each person: briefs, trainings, skills, bookings and flights, each with its moment. One person's
//! events do not depend on another's, so they are derived person by person, and again whenever they are needed.

use super::Plan;
use super::data::{LevelEnd, Person, Staff};
use super::levels::Climb;
use super::people::{self, OPENING};
use super::rng::Rng;
use crate::domain::booking::{Standing, admit};
use crate::domain::catalogue::{Catalogue, Level, LevelKey, SafetyKind};
use crate::domain::currency::FLYER_DAYS;
use crate::domain::entry::Kind;
use std::collections::BTreeMap;

pub(super) const DAY: i64 = 86_400;
pub(super) const HOUR: i64 = 3_600;
/// How many days ahead bookings are made.
const AHEAD: i64 = 14;
/// Bookings ahead are those of persons who flew in so many days.
const COMES_AGAIN_DAYS: i64 = 60;
/// How busy a day is, from Monday on; in hundredths.
const WEEK: [u64; 7] = [55, 60, 95, 80, 120, 215, 190];
const WEEK_MEAN: u64 = 116;
/// Of a hundred flights, how many are booked with the partner; the others are paid for at the desk.
const BOOKED_PERCENT: u64 = 55;
const BEGINNER_MINUTES: [i64; 7] = [2, 3, 4, 4, 5, 6, 8];
const FLYER_MINUTES: [i64; 10] = [10, 10, 12, 15, 15, 20, 20, 30, 45, 60];
/// Days between two safety trainings of the staff: less than the half-year for which one counts.
const TRAINING_DAYS: usize = 150;
/// The last training of a signer whose training has lapsed.
const LAPSED_TRAINING: i64 = -430;

/// All persons, and how much each flies.
pub(super) struct World {
    pub people: Vec<Person>,
    /// The beginning of today, in Unix seconds.
    pub midnight: i64,
    seed: u64,
    catalogue: &'static Catalogue,
    flyer_1: &'static Level,
}

pub(super) struct Event {
    pub at: i64,
    pub who: usize,
    pub kind: EventKind,
}

pub(super) enum EventKind {
    Learned(Lesson),
    /// A booking that the site refused, with the key of the reason.
    Refused(&'static str),
    Booked(Flight),
    /// The booking of the flight is sent again, with more minutes.
    Changed(Flight),
    /// A flight that no booking entered into the logbook.
    Flown(Flight),
}

/// A skill of a level, or a safety brief or training before it.
pub(super) struct Lesson {
    pub kind: Kind,
    pub level: &'static Level,
    pub skill: &'static str,
    pub end: LevelEnd,
}

#[derive(Clone, Copy)]
pub(super) struct Flight {
    pub at: i64,
    pub minutes: i64,
    /// Whether the person holds Flyer Level 1 when the flight is booked.
    pub by_flyer: bool,
    /// Whether the booking enters the flight into the logbook.
    pub entered: bool,
    pub changes: bool,
}

impl World {
    /// A world with about `plan.entries` logbook rows in all, and never fewer than the learning of its people makes.
    pub(super) fn new(plan: &Plan, catalogue: &'static Catalogue, midnight: i64) -> World {
        let key = LevelKey { cat_group: "Flyer", cat_id: "1", track: "" };
        let flyer_1 = catalogue.find_level(key).expect("every catalogue has Flyer Level 1");
        let people = people::make(plan, catalogue);
        let mut world = World { people, midnight, seed: plan.seed, catalogue, flyer_1 };
        let fixed = |who| (world.learning(who).len() + certain_days(&world.people[who]).count()) as u64;
        let free = plan.entries.saturating_sub((0..world.people.len()).map(fixed).sum());
        let weight = |person: &Person| {
            let days = person.flies().map_or(0, |(first, last)| last - first.max(OPENING) + 1);
            person.flights_a_year * days as u64
        };
        let all = world.people.iter().map(weight).sum::<u64>().max(1);
        let mut rng = Rng::new(plan.seed, 5);
        for person in &mut world.people {
            // Rounded up or down at random, so that the sum is about right.
            person.free_flights = (free * weight(person) + rng.below(all)) / all;
        }
        world
    }

    /// The events of a person, in no order; none is later than yesterday.
    pub(super) fn events_of(&self, who: usize) -> Vec<Event> {
        let mut events = self.learning(who);
        self.fly(who, &mut events);
        events
    }

    pub(super) fn moment(&self, day: i64, hour: i64) -> i64 {
        self.midnight + day * DAY + hour * HOUR
    }

    fn rng(&self, who: usize, stream: u64) -> Rng {
        Rng::new(self.seed, 8 + 2 * who as u64 + stream)
    }

    /// Briefs, trainings and skills.
    fn learning(&self, who: usize) -> Vec<Event> {
        let (person, mut rng) = (&self.people[who], self.rng(who, 0));
        let mut events = Vec::new();
        let Some((first, _)) = person.flies() else { return events };
        let mut add = |day, hour, lesson| {
            let at = self.moment(day, hour) + rng.between(0, HOUR - 1);
            events.push(Event { at, who, kind: EventKind::Learned(lesson) });
        };
        // A logbook begins with the first level that needs it.
        let mut logbooks = BTreeMap::from([(self.catalogue.safety_logbook("Flyer"), (self.flyer_1, first))]);
        for Climb { level, days, .. } in &person.climbs {
            logbooks.entry(self.catalogue.safety_logbook(&level.cat_group)).or_insert((level, days[0]));
        }
        for (level, begun) in logbooks.into_values() {
            add(begun, 8, self.safety(level, SafetyKind::Initial));
            let repeated_until = match person.staff {
                None => begun,
                Some(Staff::Lapsed) => LAPSED_TRAINING,
                Some(_) => 0,
            };
            for day in (begun..repeated_until).step_by(TRAINING_DAYS).skip(1) {
                add(day, 19, self.safety(level, SafetyKind::Recurrent));
            }
        }
        for climb in &person.climbs {
            for (skill, day, end) in climb.skills() {
                add(day, 20, Lesson { kind: Kind::Skill, level: climb.level, skill: &skill.skill, end });
            }
        }
        events
    }

    fn safety(&self, level: &'static Level, kind: SafetyKind) -> Lesson {
        let mut records = self.catalogue.safety(&level.cat_group).iter();
        let skill = records.find(|record| record.kind == kind).map_or("", |record| &record.skill);
        Lesson { kind: Kind::Safety, level, skill, end: LevelEnd::Held }
    }

    /// Flights, with their bookings: mostly some days ahead, sometimes on the way to the tunnel.
    fn fly(&self, who: usize, events: &mut Vec<Event>) {
        let (person, mut rng) = (&self.people[who], self.rng(who, 1));
        let days = self.flight_days(person, &mut rng);
        let since = person.flyer_since().unwrap_or(i64::MAX);
        let mut add = |at, kind| events.push(Event { at, who, kind });
        for &day in &days {
            let at = self.moment(day, 9) + HOUR / 4 * rng.between(0, 40);
            let lead = rng.between(0, AHEAD - 1).min(rng.between(0, AHEAD - 1)).min(day - person.joined - 1);
            let booked_on = day - lead;
            let booked_at = match lead {
                0 => at - rng.between(30, 180) * 60,
                _ => self.moment(booked_on, 6) + rng.between(0, 16 * HOUR),
            };
            let by_flyer = since < booked_on;
            let minutes = *if by_flyer { rng.pick(&FLYER_MINUTES) } else { rng.pick(&BEGINNER_MINUTES) };
            let mut flight = Flight { at, minutes, by_flyer, entered: false, changes: false };
            let books = booked_on < 0 && (day >= 0 || rng.percent(BOOKED_PERCENT));
            match admit(&standing(person, booked_on), 1, booked_on) {
                Err(denial) if books && rng.percent(35) => add(booked_at, EventKind::Refused(denial.key())),
                Ok(()) if books => {
                    // One day to spare, so that the hour of the day never decides.
                    flight.entered = by_flyer && days_since_flight(&days, booked_on) < FLYER_DAYS - 1;
                    flight.changes = lead >= 2 && booked_on < -1 && rng.percent(4);
                    if rng.percent(1) {
                        add(booked_at - 60, EventKind::Refused("booking.wrong_pin"));
                    }
                    add(booked_at, EventKind::Booked(flight));
                    if flight.changes {
                        add(self.moment(booked_on + 1, 7) + rng.between(0, HOUR), EventKind::Changed(flight));
                    }
                }
                _ => (),
            }
            if flight.entered || day >= 0 {
                continue;
            }
            if by_flyer && days_since_flight(&days, day) > FLYER_DAYS {
                add(at - HOUR / 3, EventKind::Learned(self.safety(self.flyer_1, SafetyKind::Recurrent)));
            }
            add(at + HOUR / 2, EventKind::Flown(flight));
        }
    }

    /// The days on which a person flies, past and ahead, in order.
    fn flight_days(&self, person: &Person, rng: &mut Rng) -> Vec<i64> {
        let Some((first, last)) = person.flies() else { return Vec::new() };
        let mut draw_day = || loop {
            let day = rng.between(first.max(OPENING), last);
            // The tunnel fills up over its first year.
            let growth = 70 + (60 * (day - OPENING) / -OPENING).min(30) as u64;
            if rng.below(WEEK[5] * 100) < self.busyness(day) * growth {
                return day;
            }
        };
        let mut days: Vec<i64> = (0..person.free_flights).map(|_| draw_day()).collect();
        days.extend(certain_days(person));
        if last > -COMES_AGAIN_DAYS && person.end == LevelEnd::Held {
            let wants = |day: &i64| rng.below(365 * WEEK_MEAN) < person.flights_a_year * self.busyness(*day);
            days.extend((0..AHEAD).filter(wants));
        }
        days.sort_unstable();
        days
    }

    fn busyness(&self, day: i64) -> u64 {
        // The first day of 1970 was a Thursday.
        let weekday = (self.midnight + DAY / 2).div_euclid(DAY) + 3 + day;
        WEEK[weekday.rem_euclid(7) as usize]
    }
}

fn standing(person: &Person, day: i64) -> Standing {
    Standing {
        banned: person.banned,
        email_confirmed: !person.unconfirmed,
        paid_until: person.paid_until,
        holds_flyer_1: person.flyer_since().is_some_and(|since| since <= day),
    }
}

/// How long before `day` the last of the sorted flights was.
fn days_since_flight(days: &[i64], day: i64) -> i64 {
    days[..days.partition_point(|flown| *flown < day)].last().map_or(i64::MAX, |last| day - last)
}

/// The days on which a person flew for certain: the last, and those of levels.
fn certain_days(person: &Person) -> impl Iterator<Item = i64> {
    let days = person.climbs.iter().flat_map(|climb| climb.days).chain(person.last_day);
    days.filter(|day| *day >= OPENING)
}
