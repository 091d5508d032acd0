//! The events of each person: briefs, trainings, skills, bookings and flights, each with its moment. One person's
//! events do not depend on another's, so they are derived person by person, and again whenever they are needed.

use super::Plan;
use super::data::LevelEnd;
use super::people::{OPENING, Person};
use super::rng::Rng;
use crate::domain::booking::{Standing, admit};
use crate::domain::catalogue::{Catalogue, Level, LevelKey, SafetyKind, Skill};
use crate::domain::currency::FLYER_DAYS;

pub(super) const DAY: i64 = 86_400;
pub(super) const HOUR: i64 = 3_600;
/// How many days ahead bookings are made.
const AHEAD: i64 = 14;
/// How busy a day is, from Monday on; in hundredths.
const WEEK: [u64; 7] = [55, 60, 95, 80, 120, 215, 190];
const WEEK_MEAN: u64 = 116;
/// Of a hundred flights, how many are booked with the partner; the others are paid for at the desk.
const BOOKED_PERCENT: u64 = 55;
/// Days that are drawn for a flight until one is busy enough.
const DRAWS_MAX: usize = 30;
const BEGINNER_MINUTES: [i64; 7] = [2, 3, 4, 4, 5, 6, 8];
const FLYER_MINUTES: [i64; 10] = [10, 10, 12, 15, 15, 20, 20, 30, 45, 60];

/// All persons, and how much each flies.
pub(super) struct World {
    pub people: Vec<Person>,
    /// The beginning of today, in Unix seconds.
    pub midnight: i64,
    seed: u64,
    flyer_1: &'static Level,
    /// Flights of each person in addition to those on [`certain_days`].
    free_flights: Vec<u64>,
}

pub(super) struct Event {
    pub at: i64,
    pub who: usize,
    pub kind: EventKind,
}

pub(super) enum EventKind {
    /// A safety brief or training for the programme of a level.
    Safety(&'static Level, SafetyKind),
    /// A skill of a level, and how its entry ends.
    Skill(&'static Level, &'static Skill, LevelEnd),
    /// A booking that the site refused, with the key of the reason.
    Refused(&'static str),
    /// A booking, with the key of the notice to the member.
    Booked(Flight, &'static str),
    /// The booking of the flight is sent again, with more minutes.
    Changed(Flight),
    /// A flight that no booking entered into the logbook.
    Flown(Flight),
}

#[derive(Clone, Copy)]
pub(super) struct Flight {
    pub at: i64,
    pub minutes: i64,
    /// Whether the person holds Flyer Level 1 on that day.
    pub by_flyer: bool,
    /// Whether the booking enters the flight into the logbook.
    pub entered: bool,
    pub changes: bool,
}

impl World {
    /// A world with about `plan.entries` logbook rows in all, and never fewer than the learning of its people makes.
    pub(super) fn new(plan: &Plan, people: Vec<Person>, catalogue: &'static Catalogue, midnight: i64) -> World {
        let key = LevelKey { cat_group: "Flyer", cat_id: "1", track: "" };
        let flyer_1 = catalogue.find_level(key).expect("every catalogue has Flyer Level 1");
        let mut world = World { people, midnight, seed: plan.seed, flyer_1, free_flights: Vec::new() };
        let fixed = |who| (world.learning(who).len() + certain_days(&world.people[who]).len()) as u64;
        let free = plan.entries.saturating_sub((0..world.people.len()).map(fixed).sum());
        let weight = |person: &Person| {
            person.flies.map_or(0, |(first, last)| person.flights_a_year * (last - first.max(OPENING) + 1) as u64)
        };
        let all = world.people.iter().map(weight).sum::<u64>().max(1);
        let share = |sum: u64| (u128::from(sum) * u128::from(free) / u128::from(all)) as u64;
        let mut sum = 0;
        let flights = world.people.iter().map(|person| {
            let before = share(sum);
            sum += weight(person);
            share(sum) - before
        });
        world.free_flights = flights.collect();
        world
    }

    /// The events of a person, in no order; none is later than yesterday.
    pub(super) fn events_of(&self, who: usize) -> Vec<Event> {
        let mut events = self.learning(who);
        self.fly(who, &mut events);
        events
    }

    fn rng(&self, who: usize, stream: u64) -> Rng {
        Rng::new(self.seed, 8 + 2 * who as u64 + stream)
    }

    /// Briefs, trainings and skills.
    fn learning(&self, who: usize) -> Vec<Event> {
        let (person, mut rng) = (&self.people[who], self.rng(who, 0));
        let mut events = Vec::new();
        let mut add = |day: i64, hour: i64, kind| {
            events.push(Event { at: self.midnight + day * DAY + hour * HOUR + rng.between(0, HOUR - 1), who, kind });
        };
        let flown = person.flies.map(|(first, _)| first);
        if let Some(day) = flown.into_iter().chain(person.climbs.iter().map(|climb| climb.days[0])).min() {
            add(day, 8, EventKind::Safety(self.flyer_1, SafetyKind::Initial));
        }
        for (level, kind, day) in &person.trainings {
            add(*day, 19, EventKind::Safety(level, *kind));
        }
        for climb in &person.climbs {
            for (half, skills) in climb.skills().into_iter().enumerate() {
                for (place, skill) in skills.into_iter().enumerate() {
                    let end = match (half, climb.end) {
                        (1, LevelEnd::Training) => continue,
                        (1, end) if place == 0 || end == LevelEnd::Pending => end,
                        _ => LevelEnd::Held,
                    };
                    add(climb.days[half], 20, EventKind::Skill(climb.level, skill, end));
                }
            }
        }
        events
    }

    /// Flights, with their bookings.
    fn fly(&self, who: usize, events: &mut Vec<Event>) {
        let (person, mut rng) = (&self.people[who], self.rng(who, 1));
        let mut days = certain_days(person);
        days.extend((0..self.free_flights[who]).filter_map(|_| self.draw_day(person, &mut rng)));
        days.extend(self.draw_days_ahead(person, &mut rng));
        days.sort_unstable();
        let since = person.flyer_since();
        for (number, day) in days.iter().copied().enumerate() {
            let by_flyer = since.is_some_and(|since| since < day);
            let minutes = *if by_flyer { rng.pick(&FLYER_MINUTES) } else { rng.pick(&BEGINNER_MINUTES) };
            let at = self.midnight + day * DAY + 9 * HOUR + HOUR / 4 * rng.between(0, 40);
            let mut flight = Flight { at, minutes, by_flyer, entered: false, changes: false };
            if day >= 0 || rng.percent(BOOKED_PERCENT) {
                self.book(who, &days, day, &mut flight, &mut rng, events);
            }
            if flight.entered || day >= 0 {
                continue;
            }
            let last = number.checked_sub(1).map(|before| days[before]);
            if by_flyer && last.is_some_and(|last| day - last > FLYER_DAYS) {
                let kind = EventKind::Safety(self.flyer_1, SafetyKind::Recurrent);
                events.push(Event { at: at - HOUR / 3, who, kind });
            }
            events.push(Event { at: at + HOUR / 2, who, kind: EventKind::Flown(flight) });
        }
    }

    /// Books a flight, never before the person joined: mostly some days ahead, sometimes on the way to the tunnel.
    fn book(&self, who: usize, days: &[i64], day: i64, flight: &mut Flight, rng: &mut Rng, events: &mut Vec<Event>) {
        let person = &self.people[who];
        let lead = rng.between(0, AHEAD - 1).min(rng.between(0, AHEAD - 1)).min(day - person.joined).max(0);
        let today = day - lead;
        let at = match lead {
            0 => flight.at - rng.between(30, 180) * 60,
            _ => self.midnight + today * DAY + rng.between(6 * HOUR, 22 * HOUR),
        };
        if today >= 0 {
            return;
        }
        let mut add = |at, kind| events.push(Event { at, who, kind });
        let since = person.flyer_since();
        let standing = Standing {
            banned: person.banned,
            email_confirmed: person.confirmed,
            paid_until: person.paid_until,
            holds_flyer_1: since.is_some_and(|since| since <= today),
        };
        if let Err(denial) = admit(&standing, 1, today) {
            if rng.percent(20) {
                add(at, EventKind::Refused(denial.key()));
            }
            return;
        }
        if rng.percent(1) {
            add(at - 60, EventKind::Refused("booking.wrong_pin"));
        }
        let holds = since.is_some_and(|since| since < today);
        let last = days[..days.partition_point(|flown| *flown < today)].last();
        // One day to spare, so that the hour of the day never decides.
        flight.entered = holds && last.is_some_and(|last| today - last < FLYER_DAYS - 1);
        flight.changes = lead >= 2 && today < -1 && rng.percent(4);
        let lapsed = holds && !flight.entered;
        let notice = if lapsed { "notice.booking_not_current" } else { "notice.booking_recorded" };
        add(at, EventKind::Booked(*flight, notice));
        if flight.changes {
            add(self.midnight + (today + 1) * DAY + 7 * HOUR + rng.between(0, HOUR), EventKind::Changed(*flight));
        }
    }

    /// A day on which the person flies; `None` for a person who does not fly.
    fn draw_day(&self, person: &Person, rng: &mut Rng) -> Option<i64> {
        let (first, last) = person.flies?;
        let mut day = last;
        for _ in 0..DRAWS_MAX {
            day = rng.between(first.max(OPENING), last);
            // The tunnel fills up over its first year.
            let growth = 70 + (60 * (day - OPENING) / -OPENING).min(30) as u64;
            if rng.below(WEEK[5] * 100) < self.busyness(day) * growth {
                break;
            }
        }
        Some(day)
    }

    /// The coming days on which a person who comes again wants to fly.
    fn draw_days_ahead(&self, person: &Person, rng: &mut Rng) -> Vec<i64> {
        let ahead = if person.comes_again { 0..AHEAD } else { 0..0 };
        let wants = |day: &i64| rng.below(365 * WEEK_MEAN) < person.flights_a_year * self.busyness(*day);
        ahead.filter(wants).collect()
    }

    fn busyness(&self, day: i64) -> u64 {
        // The first day of 1970 was a Thursday.
        let weekday = (self.midnight + DAY / 2).div_euclid(DAY) + 3 + day;
        WEEK[weekday.rem_euclid(7) as usize]
    }
}

/// The days on which a person flew for certain: the first, the last, and those of the halves of levels.
fn certain_days(person: &Person) -> Vec<i64> {
    let flights = person.flies.into_iter().flat_map(|(first, last)| [first, last]);
    let all = flights.chain(person.climbs.iter().flat_map(|climb| climb.days));
    let mut days: Vec<i64> = all.filter(|day| (OPENING..0).contains(day)).collect();
    days.sort_unstable();
    days.dedup();
    days
}
