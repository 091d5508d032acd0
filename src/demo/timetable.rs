//! Who flies when: a quota for each day (weekends and winters are busier, the tunnel grows), filled by those whose habit
//! and favourite day fit best. What must be flown (a first flight, a last one, the day of a sign-off) comes first.

use super::people::{OPENING, Person};
use super::rng::Rng;

/// How many days ahead bookings are made.
pub(super) const AHEAD: i64 = 14;
/// How busy a day is, from Monday on; in hundredths.
const WEEK: [u64; 7] = [55, 60, 95, 80, 120, 215, 190];
/// A flyer whose favourite day it is not still comes on so many of a hundred occasions.
const OTHER_DAY_PERCENT: u64 = 25;
const TRIES: usize = 60;

pub(super) struct Timetable {
    /// The running sum of flights by day, from the opening on.
    quotas: Vec<u64>,
    /// Flights that must be, by day.
    forced: Vec<(i64, usize)>,
    next_forced: usize,
    /// The running sum of flights a year, by person.
    habits: Vec<u64>,
    weekday_of_today: i64,
    rng: Rng,
}

impl Timetable {
    /// About `flights` in all, and never less than what must be. `today` counts days from 1970.
    pub(super) fn new(people: &[Person], flights: u64, today: i64, seed: u64) -> Timetable {
        let mut rng = Rng::new(seed, 2);
        let weekday_of_today = (today + 3).rem_euclid(7);
        let weights: Vec<u64> = (OPENING..AHEAD).map(|day| busyness(day, weekday_of_today, today, &mut rng)).collect();
        let all: u64 = weights.iter().sum();
        let mut sum = 0;
        let quotas = weights
            .iter()
            .map(|weight| {
                sum += weight;
                (u128::from(sum) * u128::from(flights) / u128::from(all)) as u64
            })
            .collect();
        let mut forced: Vec<(i64, usize)> =
            people.iter().enumerate().flat_map(|(who, p)| must(p).map(move |day| (day, who))).collect();
        forced.sort_unstable();
        forced.dedup();
        let mut sum = 0;
        let habits = people
            .iter()
            .map(|person| {
                sum += if person.flies.is_some() { person.flights_a_year } else { 0 };
                sum
            })
            .collect();
        Timetable { quotas, forced, next_forced: 0, habits, weekday_of_today, rng }
    }

    /// Who flies on a day; ask for the days in their order.
    pub(super) fn day(&mut self, day: i64, people: &[Person]) -> Vec<usize> {
        let mut flyers = Vec::new();
        while let Some((_, who)) = self.forced.get(self.next_forced).filter(|(forced, _)| *forced == day) {
            flyers.push(*who);
            self.next_forced += 1;
        }
        let at = (day - OPENING) as usize;
        let quota = self.quotas[at] - if at == 0 { 0 } else { self.quotas[at - 1] };
        for _ in flyers.len() as u64..quota {
            flyers.extend(self.draw(day, people));
        }
        flyers
    }

    fn draw(&mut self, day: i64, people: &[Person]) -> Option<usize> {
        let weekday = (self.weekday_of_today + day).rem_euclid(7) as u64;
        let all = *self.habits.last()?;
        for attempt in 0..TRIES {
            let ticket = self.rng.below(all);
            let who = self.habits.partition_point(|sum| *sum <= ticket);
            let person = people.get(who)?;
            let there = match person.flies {
                Some((first, last)) => first <= day && (day <= last || (day >= 0 && person.comes_again)),
                None => false,
            };
            let likes = person.weekday == weekday || attempt > TRIES / 2 || self.rng.percent(OTHER_DAY_PERCENT);
            if there && likes {
                return Some(who);
            }
        }
        None
    }
}

/// The days on which a person was there for certain.
fn must(person: &Person) -> impl Iterator<Item = i64> {
    let flights = person.flies.into_iter().flat_map(|(first, last)| [first, last]);
    flights.chain(person.climbs.iter().flat_map(|climb| climb.days)).filter(|day| (OPENING..0).contains(day))
}

fn busyness(day: i64, weekday_of_today: i64, today: i64, rng: &mut Rng) -> u64 {
    let of_week = WEEK[(weekday_of_today + day).rem_euclid(7) as usize];
    // Days since New Year, nearly: winter is high season.
    let of_year = (today + day).rem_euclid(365);
    let season = if (90..270).contains(&of_year) { 85 } else { 115 };
    let growth = 70 + (50 * (day - OPENING) / -OPENING) as u64;
    let ahead = if day < 0 { 100 } else { (60 - 4 * day) as u64 };
    of_week * season * growth * ahead * (80 + rng.below(41)) / 1000
}
