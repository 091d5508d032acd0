//! Day after day from the founding to yesterday: what is booked, flown and signed, in the order in which it happened, so
//! that every row has a number and a moment that fit its neighbours'.

use super::Made;
use super::events::{self, Event, What};
use super::ladder::{Ladder, Signers};
use super::names::Names;
use super::people::{FOUNDING, OPENING, Person};
use super::rng::Rng;
use super::timetable::{AHEAD, Timetable};
use crate::domain::booking::Booking;
use crate::store::engine::bulk::Bulk;
use rusqlite::Result;
use std::collections::VecDeque;

pub(super) const DAY: i64 = 86_400;
pub(super) const HOUR: i64 = 3_600;
/// Of a hundred flights, how many are booked with the partner; the others are paid for at the desk.
const BOOKED_PERCENT: u64 = 55;
const DAYS_BETWEEN_COMMITS: i64 = 20;

/// What never changes while the diary is written.
pub(super) struct World<'a> {
    pub people: &'a [Person],
    pub names: &'a Names,
    pub ladder: &'a Ladder,
    pub signers: &'a Signers,
    pub tunnel_id: i64,
    pub partner_id: i64,
    /// The beginning of today, in Unix seconds.
    pub midnight: i64,
    /// Nobody has come for a flight that is still to be.
    pub now: i64,
}

/// How a person stands on the day that is being written.
#[derive(Clone)]
pub(super) struct State {
    pub minutes: i64,
    pub last_flown: Option<i64>,
    pub first_level_since: Option<i64>,
    /// Whether the partner keeps a record of this person.
    pub known_to_partner: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub who: usize,
    pub at: i64,
    pub minutes: i64,
    /// Whether the booking has put it into the logbook already.
    pub entered: bool,
}

/// A booking that will change on the next day.
pub(super) struct Change {
    pub booking_id: i64,
    pub who: usize,
    pub booking: Booking,
    pub entered: bool,
}

enum Doing {
    Event(usize, What),
    /// A booking of the flight with this place on the day that is so many ahead.
    Book(i64, usize),
    Fly(usize),
    Change(Change),
}

pub(super) struct Diary<'a> {
    pub world: World<'a>,
    pub bulk: &'a Bulk<'a>,
    pub rng: Rng,
    pub states: Vec<State>,
    pub made: Made,
    pub changes: Vec<Change>,
    pub day: i64,
    /// From the day that is being written on.
    flights: VecDeque<Vec<Flight>>,
    /// When, how many days ahead, and which flight of that day; by the day on which the booking is made.
    bookings: VecDeque<Vec<(i64, i64, usize)>>,
}

impl<'a> Diary<'a> {
    pub(super) fn new(world: World<'a>, bulk: &'a Bulk<'a>, seed: u64) -> Diary<'a> {
        let state = |person: &Person| State {
            minutes: 0,
            last_flown: None,
            first_level_since: person.first_level_since(world.ladder),
            known_to_partner: false,
        };
        let states = world.people.iter().map(state).collect();
        let ahead = AHEAD as usize + 1;
        let flights = (0..ahead).map(|_| Vec::new()).collect();
        let bookings = (0..ahead).map(|_| Vec::new()).collect();
        let made = Made { members: world.people.len() as u64, entries: 0, bookings: 0 };
        let rng = Rng::new(seed, 3);
        Diary { world, bulk, rng, states, made, changes: Vec::new(), day: FOUNDING, flights, bookings }
    }

    /// Writes it all; `progress` hears how many entries there are.
    pub(super) fn write(&mut self, timetable: &mut Timetable, progress: impl Fn(u64)) -> Result<()> {
        let events = events::of_all(self.world.people);
        let mut events = events.iter().peekable();
        for day in FOUNDING..0 {
            self.day = day;
            self.plan(timetable);
            let mut todays = Vec::new();
            while let Some(event) = events.next_if(|event| event.day == day) {
                todays.push(event);
            }
            self.write_day(&todays)?;
            if day % DAYS_BETWEEN_COMMITS == 0 {
                self.bulk.commit()?;
            }
            progress(self.made.entries);
        }
        Ok(())
    }

    /// Decides who flies on the day at the horizon, and who of them books and when.
    fn plan(&mut self, timetable: &mut Timetable) {
        let day = self.day + AHEAD;
        if !(OPENING..AHEAD).contains(&day) {
            return;
        }
        for who in timetable.day(day, self.world.people) {
            let person = &self.world.people[who];
            let beginner = self.states[who].first_level_since.is_none_or(|since| day <= since);
            let minutes = if beginner {
                *self.rng.pick(&[2, 3, 4, 4, 5, 6, 8])
            } else {
                *self.rng.pick(&[10, 10, 12, 15, 15, 20, 20, 30, 45, 60])
            };
            let at = day * DAY + 9 * HOUR + 900 * self.rng.between(0, 40);
            let index = self.flights[AHEAD as usize].len();
            self.flights[AHEAD as usize].push(Flight { who, at, minutes, entered: false });
            if self.rng.percent(BOOKED_PERCENT) || day >= 0 {
                // Nobody books before joining; most do some days ahead, and some on the way to the tunnel.
                let lead =
                    self.rng.between(0, AHEAD - 1).min(self.rng.between(0, AHEAD - 1)).min(day - person.joined).max(0);
                let made = if lead == 0 {
                    at - self.rng.between(30, 180) * 60
                } else {
                    (day - lead) * DAY + self.rng.between(6 * HOUR, 22 * HOUR)
                };
                self.bookings[(AHEAD - lead) as usize].push((made, lead, index));
            }
        }
    }

    fn write_day(&mut self, events: &[&Event]) -> Result<()> {
        let start = self.day * DAY;
        let mut doings: Vec<(i64, Doing)> = Vec::new();
        for change in std::mem::take(&mut self.changes) {
            doings.push((start + self.rng.between(7 * HOUR, 8 * HOUR), Doing::Change(change)));
        }
        for event in events {
            let hour = match event.what {
                What::Brief => 8,
                What::Training(_) => 19,
                What::Half(..) => 20,
            };
            doings.push((start + hour * HOUR + self.rng.between(0, HOUR - 1), Doing::Event(event.who, event.what)));
        }
        let booked = std::mem::take(&mut self.bookings[0]);
        doings.extend(booked.into_iter().map(|(at, lead, index)| (at, Doing::Book(lead, index))));
        let flown = self.flights[0].iter().enumerate().map(|(index, flight)| (flight.at + 1800, Doing::Fly(index)));
        doings.extend(flown);
        doings.sort_by_key(|(at, _)| *at);
        for (at, doing) in doings {
            self.carry_out(self.world.midnight + at, doing)?;
        }
        for flight in self.flights.pop_front().unwrap_or_default() {
            self.states[flight.who].last_flown = Some(self.day);
        }
        self.flights.push_back(Vec::new());
        self.bookings.rotate_left(1);
        Ok(())
    }

    fn carry_out(&mut self, at: i64, doing: Doing) -> Result<()> {
        match doing {
            Doing::Event(who, what) => self.sign(at, who, what),
            Doing::Book(lead, index) => {
                let flight = self.flights[lead as usize][index];
                let entered = self.book(at, lead, &flight)?;
                self.flights[lead as usize][index].entered = entered;
                Ok(())
            }
            Doing::Fly(index) => {
                let flight = self.flights[0][index];
                if flight.entered { Ok(()) } else { self.fly(at, &flight) }
            }
            Doing::Change(change) => self.change(at, &change),
        }
    }
}
