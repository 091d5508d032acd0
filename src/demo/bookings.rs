//! Bookings as the partner's requests would have left them, flights that nobody booked, and their traces in the history.

use super::cast::DESK;
use super::diary::{Change, Diary, Flight};
use crate::domain::booking::{Booking, Denial};
use crate::domain::currency::FLYER_DAYS;
use crate::store::tables::entries::{self, NewTime};
use crate::store::tables::history::{self, About, Event};
use crate::store::tables::{bookings, notices, partner_users};
use rusqlite::Result;

/// Notices of bookings that are older have been put away.
const NOTICE_DAYS: i64 = 30;
const REGISTRATION_FIRST: i64 = 70_000;
const PURCHASE_FIRST: i64 = 20_000;
/// How long before the flight people are there, in seconds.
const EARLY: i64 = 25 * 60;
/// One booking in so many is of somebody who does not come.
const NO_SHOW_EVERY: i64 = 29;

impl Diary<'_> {
    /// A booking, or its refusal; whether it put the flight into the logbook.
    pub(super) fn book(&mut self, at: i64, lead: i64, flight: &Flight) -> Result<bool> {
        let member_id = flight.who as i64 + 1;
        let person = &self.world.people[flight.who];
        let state = &self.states[flight.who];
        let (holds, last_flown) = (state.first_level_since.is_some_and(|since| since < self.day), state.last_flown);
        if !person.may_book(self.day, state.first_level_since) {
            let bar = if person.confirmed { Denial::Unpaid } else { Denial::EmailNotConfirmed };
            return if self.rng.percent(20) {
                self.refuse(at, member_id, bar.key()).map(|()| false)
            } else {
                Ok(false)
            };
        }
        if self.rng.percent(1) {
            self.refuse(at, member_id, "booking.wrong_pin")?;
        }
        self.introduce(at, flight.who)?;
        let booking = self.booking(at, flight);
        let (tx, partner_id) = (self.bulk.at(at), self.world.partner_id);
        let booking_id = bookings::insert(&tx, partner_id, member_id, &booking)?;
        self.made.bookings += 1;
        let comes_at = booking.flight_date - EARLY;
        if comes_at <= self.world.now && booking_id % NO_SHOW_EVERY != 0 {
            bookings::set_arrived(&self.bulk.at(comes_at), booking_id, Some(DESK as i64 + 1))?;
        }
        let detail = history::booking_detail(&booking);
        let about =
            About { member_id: Some(member_id), booking_id: Some(booking_id), detail: Some(&detail), user_id: None };
        history::insert(&tx, partner_id, Event::BookingRecorded, &about)?;
        history::insert(&tx, partner_id, Event::TokenIssued, &About { detail: None, ..about })?;
        // A day to spare, so that the hour of the day never decides.
        let current = holds && last_flown.is_some_and(|last| self.day - last < FLYER_DAYS - 1);
        if current {
            self.enter(at, flight, member_id, Some(booking_id))?;
        }
        if self.day >= -NOTICE_DAYS {
            let subject = if holds && !current { "notice.booking_not_current" } else { "notice.booking_recorded" };
            let detail = serde_json::json!({ "booking_id": booking_id, "flight_date": booking.flight_date, "minutes": booking.minutes_booked });
            notices::insert(&self.bulk.at(at), member_id, subject, &detail.to_string())?;
        }
        if lead >= 2 && self.rng.percent(4) {
            let booking = Booking { minutes_booked: flight.minutes + 5, ..booking };
            self.changes.push(Change { booking_id, who: flight.who, booking, entered: current });
        }
        Ok(current)
    }

    fn booking(&mut self, at: i64, flight: &Flight) -> Booking {
        let flight_date = self.world.midnight + flight.at;
        Booking {
            registration_id: Some(REGISTRATION_FIRST + self.made.bookings as i64 + 1),
            purchase_id: Some(PURCHASE_FIRST + self.made.bookings as i64 + 1),
            purchase_date: Some(at),
            flight_date,
            minutes_booked: flight.minutes,
            product_id: Some(if flight.minutes < 10 { 1 } else { 2 + flight.minutes / 15 }),
            tunnel_id: self.world.tunnel_id,
            checkin_time: Some(flight_date - 1800),
        }
    }

    /// The partner keeps a record of everybody who books.
    fn introduce(&mut self, at: i64, who: usize) -> Result<()> {
        if std::mem::replace(&mut self.states[who].known_to_partner, true) {
            return Ok(());
        }
        let email = self.world.names.email(&self.world.people[who].name);
        let tx = self.bulk.at(at);
        let user_id =
            partner_users::insert(&tx, self.world.partner_id, &email).map_err(|_| rusqlite::Error::InvalidQuery)?;
        history::insert(
            &tx,
            self.world.partner_id,
            Event::UserCreated,
            &About { user_id: Some(user_id), ..About::default() },
        )?;
        Ok(())
    }

    fn refuse(&mut self, at: i64, member_id: i64, reason: &str) -> Result<()> {
        let detail = serde_json::json!({ "reason": reason }).to_string();
        let about = About { member_id: Some(member_id), detail: Some(&detail), ..About::default() };
        history::insert(&self.bulk.at(at), self.world.partner_id, Event::TokenRefused, &about).map(|_| ())
    }

    /// The partner sends a booking again with other minutes.
    pub(super) fn change(&mut self, at: i64, change: &Change) -> Result<()> {
        let Change { booking_id, who, booking, entered } = change;
        let tx = self.bulk.at(at);
        bookings::update(&tx, *booking_id, booking)?;
        if *entered {
            entries::update_booked_time(&tx, *booking_id, None, Some(booking.minutes_booked), None)?;
            self.states[*who].minutes += 5;
        }
        let detail = history::booking_detail(booking);
        let about = About {
            member_id: Some(*who as i64 + 1),
            booking_id: Some(*booking_id),
            detail: Some(&detail),
            user_id: None,
        };
        history::insert(&tx, self.world.partner_id, Event::BookingChanged, &about)?;
        history::insert(&tx, self.world.partner_id, Event::TokenIssued, &About { detail: None, ..about }).map(|_| ())
    }

    /// A flight that no booking entered: by the flyer, or for a beginner by the desk.
    pub(super) fn fly(&mut self, at: i64, flight: &Flight) -> Result<()> {
        let state = &self.states[flight.who];
        let flyer = state.first_level_since.is_some_and(|since| since < self.day);
        if flyer && state.last_flown.is_some_and(|last| self.day - last > FLYER_DAYS) {
            self.brief_again(self.world.midnight + flight.at - 1200, flight.who)?;
        }
        let author = if flyer { flight.who } else { DESK };
        self.enter(at, flight, author as i64 + 1, None)
    }

    fn enter(&mut self, at: i64, flight: &Flight, author_id: i64, booking_id: Option<i64>) -> Result<()> {
        let comment = if booking_id.is_none() && self.rng.percent(12) { *self.rng.pick(&COMMENTS) } else { "" };
        let time = NewTime {
            entry_date: self.world.midnight + flight.at,
            minutes: flight.minutes,
            tunnel_id: self.world.tunnel_id,
            comment: comment.to_owned(),
        };
        entries::insert_time(&self.bulk.at(at), flight.who as i64 + 1, author_id, booking_id, &time)?;
        self.states[flight.who].minutes += flight.minutes;
        self.made.entries += 1;
        Ok(())
    }
}

const COMMENTS: [&str; 8] = [
    "Gift voucher",
    "With the team",
    "First time with a helmet camera",
    "Worked on exits",
    "Split with a friend",
    "Late session, strong wind",
    "Warm-up only",
    "Coaching block",
];
