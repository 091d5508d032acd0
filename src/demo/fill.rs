//! Fills an empty site: the members, then everybody's events in the order of their moments, so that every row has a number
//! that fits its moment.

use super::data::{End, PEOPLE, Staff};
use super::ladder::{FOUNDERS_LEVELS, Ladder, Signers};
use super::life::{DAY, Event, Flight, HOUR, What, World};
use super::names::{Name, Names};
use super::people::{self, ADMIN, DESK, FOUNDED, FOUNDING, OPENING, Person};
use super::rng::Rng;
use super::{Made, PASSWORD, Plan};
use crate::app::photos;
use crate::domain::booking::Booking;
use crate::domain::catalogue::SafetyKind;
use crate::domain::entry::{Kind, Status};
use crate::domain::local_time::TimeZone;
use crate::domain::password::{self, Cost};
use crate::http::failure::Failure;
use crate::ops::backup::Progress;
use crate::site::Site;
use crate::store::Write;
use crate::store::engine::bulk::{self, Bulk, Member, Signed};
use crate::store::queries::holdings;
use crate::store::tables::entries::{self, NewTime};
use crate::store::tables::history::{self, Event as Happened, EventSubject};
use crate::store::tables::{bookings, entry_events, media, members, notices, partner_users, partners, signers};
use std::collections::HashMap;

pub(super) const PARTNER_NAME: &str = "Airtime Booking";
const ROWS_BETWEEN_COMMITS: usize = 20_000;
/// Logbook rows whose events are in memory at once.
const ENTRIES_AT_ONCE: u64 = 2_000_000;
/// Notices that are older have been read.
const UNREAD_DAYS: i64 = 4;
/// Notices of bookings that are older have been deleted.
const NOTICE_DAYS: i64 = 30;
/// So many members have a picture.
const PICTURES: usize = 24;
const REGISTRATION_FIRST: i64 = 70_000;
const PURCHASE_FIRST: i64 = 20_000;
/// How long before the flight people are there, in seconds.
const EARLY: i64 = 25 * 60;
/// One booking in so many is of somebody who does not come.
const NO_SHOW_EVERY: i64 = 29;
/// By how many minutes a changed booking is longer.
const MINUTES_MORE: i64 = 5;

/// Writes events down.
struct Filler<'a> {
    world: &'a World,
    signers: Signers,
    bulk: &'a Bulk<'a>,
    tunnel_id: i64,
    partner_id: i64,
    now: i64,
    rng: Rng,
    made: Made,
    /// Bookings that will change, by person and flight.
    changing: HashMap<(usize, usize), (i64, Booking)>,
    /// Of whom the partner keeps a record.
    known: Vec<bool>,
}

/// `site`: by whose clock people come and go.
pub(super) fn fill(site: &Site, zone: &TimeZone, plan: &Plan, progress: &mut Progress) -> Result<Made, Failure> {
    let midnight = zone.day(site.now(), 0).from;
    let ladder = Ladder::new(site.catalogue);
    let world = World::new(plan, people::make(plan, &ladder, midnight), ladder, midnight);
    let write = |bulk: &Bulk| -> Result<Made, Failure> {
        write_members(bulk, &world, plan, site.tunnel_id)?;
        appoint(bulk, &world, site.tunnel_id)?;
        let client_id = format!("{:016x}", Rng::new(plan.seed, 4).next());
        let founded = bulk.at(midnight + FOUNDING * DAY);
        let mut filler = Filler {
            signers: Signers::among(&world.people, &world.ladder),
            world: &world,
            bulk,
            tunnel_id: site.tunnel_id,
            partner_id: partners::insert(&founded, &client_id, PARTNER_NAME, false, None)?,
            now: site.now(),
            rng: Rng::new(plan.seed, 3),
            made: Made { members: world.people.len() as u64, entries: 0, bookings: 0 },
            changing: HashMap::new(),
            known: vec![false; world.people.len()],
        };
        filler.write_all(plan, progress)?;
        bulk.read_notices(midnight - UNREAD_DAYS * DAY)?;
        progress("indexes", 0, 1);
        Ok(filler.made)
    };
    let finish = |bulk: &Bulk| -> Result<(), Failure> {
        for (who, _) in world.people.iter().enumerate().filter(|(_, person)| !person.climbs.is_empty()) {
            holdings::refresh(&bulk.at(midnight), number(who), site.catalogue)?;
        }
        Ok(())
    };
    bulk::load(site.store.writer(), write, finish)
}

/// The number of a member.
fn number(who: usize) -> i64 {
    who as i64 + 1
}

fn write_members(bulk: &Bulk, world: &World, plan: &Plan, tunnel_id: i64) -> Result<(), Failure> {
    let (mut names, mut rng) = (Names::default(), Rng::new(plan.seed, 2));
    // One hash for all: hashing a password for each would take longer than everything else.
    let password_hash = password::hash(PASSWORD, Cost::FULL);
    let moment = |day: i64| world.midnight + day * DAY;
    // A birthday is a date wherever one reads it: the midnight of UTC, not the site's.
    let birthday = |day: i64| (world.midnight + DAY / 2).div_euclid(DAY) * DAY + day * DAY;
    for (who, person) in world.people.iter().enumerate() {
        let name: Name = names.draw(&mut rng, person.username);
        let join_date = moment(person.joined) + 7 * HOUR + (who as i64 * 631) % HOUR;
        bulk.insert_member(&Member {
            member_id: number(who),
            username: &name.username,
            screen_name: &name.screen_name,
            real_name: &name.real_name,
            email: &name.email,
            email_confirmed_at: person.confirmed.then_some(join_date + HOUR / 4),
            phone: &name.phone,
            phone_confirmed_at: (person.confirmed && who % 3 == 0).then_some(join_date + HOUR / 3),
            country: name.country,
            country_code: name.country_code,
            dob: birthday(person.born),
            tunnel_id,
            role: person.role.name(),
            password_hash: &password_hash,
            paid_until: person.paid_until.map(moment),
            banned_at: person.banned.map(|day| moment(day) + 18 * HOUR),
            join_date,
        })?;
        if who < PICTURES {
            media::set(&bulk.at(join_date), number(who), &photos::invented(who))?;
        }
        if who % ROWS_BETWEEN_COMMITS == 0 {
            bulk.commit()?;
        }
    }
    Ok(())
}

/// The tunnel's list of signers, kept by the admin: the founders first, who stand in for levels until they hold their own.
fn appoint(bulk: &Bulk, world: &World, tunnel_id: i64) -> Result<(), Failure> {
    let admin = Some(number(ADMIN));
    let row = |who, cat_group, cat_id| signers::NewSigner {
        tunnel_id,
        member_id: number(who),
        cat_group,
        cat_id,
        appointed_by: admin,
    };
    let moment = |day: i64| world.midnight + day * DAY + 7 * HOUR;
    let is_founder = |person: &Person| person.staff == Some(Staff::Founder);
    for (who, _) in world.people.iter().enumerate().filter(|(_, person)| is_founder(person)) {
        for (cat_group, cat_id) in FOUNDERS_LEVELS {
            signers::insert(&bulk.at(moment(FOUNDING)), &row(who, cat_group, cat_id))?;
            signers::end(&bulk.at(moment(FOUNDED)), tunnel_id, number(who), cat_group, admin)?;
        }
    }
    for (who, cat_group, day) in Signers::listed(&world.people, &world.ladder) {
        signers::insert(&bulk.at(moment(day) + 16 * HOUR), &row(who, cat_group, ""))?;
    }
    Ok(())
}

impl Filler<'_> {
    /// Writes all events. Of a large site one stretch of time after the other, so that memory stays bounded: each stretch
    /// derives everybody's events anew.
    fn write_all(&mut self, plan: &Plan, progress: &mut Progress) -> Result<(), Failure> {
        let world = self.world;
        let stretches = 1 + (plan.entries / ENTRIES_AT_ONCE) as i64;
        let end = |n: i64| world.midnight + DAY * (OPENING - OPENING * n / stretches);
        for n in 1..=stretches {
            let from = if n == 1 { i64::MIN } else { end(n - 1) };
            let stretch = from..if n == stretches { i64::MAX } else { end(n) };
            let all = (0..world.people.len()).flat_map(|who| world.events_of(who));
            let mut events: Vec<Event> = all.filter(|event| stretch.contains(&event.at)).collect();
            events.sort_by_key(|event| event.at);
            for (n, event) in events.iter().enumerate() {
                self.write(event)?;
                if n % ROWS_BETWEEN_COMMITS == 0 {
                    self.bulk.commit()?;
                    progress("entries", self.made.entries, plan.entries);
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, event: &Event) -> Result<(), Failure> {
        let (who, tx) = (event.who, self.bulk.at(event.at));
        match &event.what {
            What::Safety(level, kind) => self.record_safety(&tx, who, *level, *kind),
            What::Skill(climb, skill, end) => self.record_skill(&tx, who, *climb, *skill, *end),
            What::Refused(reason) => {
                let detail = serde_json::json!({ "reason": reason }).to_string();
                let about =
                    EventSubject { member_id: Some(number(who)), detail: Some(&detail), ..EventSubject::default() };
                self.add_history(&tx, Happened::TokenRefused, &about)
            }
            What::Booked(flight, notice) => self.book(&tx, who, flight, notice),
            What::Changed(flight) => self.change(&tx, who, flight),
            What::Flown(flight) => {
                let author = if flight.by_flyer { who } else { DESK };
                let comment = if self.rng.percent(12) { self.rng.pick(&PEOPLE.flight_comments) } else { "" };
                self.enter(&tx, who, author, flight, None, comment)
            }
        }
    }

    fn add_history(&self, tx: &Write, event: Happened, about: &EventSubject) -> Result<(), Failure> {
        history::insert(tx, self.partner_id, event, about)?;
        Ok(())
    }

    fn enter(
        &mut self,
        tx: &Write,
        who: usize,
        author: usize,
        flight: &Flight,
        booking_id: Option<i64>,
        comment: &str,
    ) -> Result<(), Failure> {
        let (tunnel_id, comment) = (self.tunnel_id, comment.to_owned());
        let time = NewTime { entry_date: flight.at, minutes: flight.minutes, tunnel_id, comment };
        entries::insert_time(tx, number(who), number(author), booking_id, &time)?;
        self.made.entries += 1;
        Ok(())
    }

    /// A booking as the partner's request would have left it.
    fn book(&mut self, tx: &Write, who: usize, flight: &Flight, notice: &str) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.known[who], true) {
            let email = members::find(tx, number(who))?.map(|profile| profile.email).unwrap_or_default();
            let user_id = Some(partner_users::insert(tx, self.partner_id, &email)?);
            self.add_history(tx, Happened::UserCreated, &EventSubject { user_id, ..EventSubject::default() })?;
        }
        self.made.bookings += 1;
        let nth = self.made.bookings as i64;
        let booking = Booking {
            registration_id: Some(REGISTRATION_FIRST + nth),
            purchase_id: Some(PURCHASE_FIRST + nth),
            purchase_date: Some(tx.now()),
            flight_date: flight.at,
            minutes_booked: flight.minutes,
            product_id: Some(if flight.minutes < 10 { 1 } else { 2 + flight.minutes / 15 }),
            tunnel_id: self.tunnel_id,
            checkin_time: Some(flight.at - HOUR / 2),
        };
        let booking_id = bookings::insert(tx, self.partner_id, number(who), &booking)?;
        if flight.at - EARLY <= self.now && booking_id % NO_SHOW_EVERY != 0 {
            bookings::set_arrived(&self.bulk.at(flight.at - EARLY), booking_id, flight.at - EARLY, Some(number(DESK)))?;
        }
        self.add_booking_history(tx, who, Happened::BookingRecorded, booking_id, &booking)?;
        if flight.entered {
            self.enter(tx, who, who, flight, Some(booking_id), "")?;
        }
        if tx.now() >= self.world.midnight - NOTICE_DAYS * DAY {
            let detail =
                serde_json::json!({ "booking_id": booking_id, "flight_date": flight.at, "minutes": flight.minutes });
            notices::insert(tx, number(who), notice, &detail.to_string())?;
        }
        if flight.changes {
            self.changing.insert((who, flight.number), (booking_id, booking));
        }
        Ok(())
    }

    fn add_booking_history(
        &self,
        tx: &Write,
        who: usize,
        event: Happened,
        booking_id: i64,
        booking: &Booking,
    ) -> Result<(), Failure> {
        let detail = history::booking_detail(booking);
        let about =
            EventSubject { member_id: Some(number(who)), booking_id: Some(booking_id), ..EventSubject::default() };
        self.add_history(tx, event, &EventSubject { detail: Some(&detail), ..about })?;
        self.add_history(tx, Happened::TokenIssued, &about)
    }

    /// The partner sends a booking again with more minutes.
    fn change(&mut self, tx: &Write, who: usize, flight: &Flight) -> Result<(), Failure> {
        let Some((booking_id, mut booking)) = self.changing.remove(&(who, flight.number)) else { return Ok(()) };
        booking.minutes_booked += MINUTES_MORE;
        bookings::update(tx, booking_id, &booking)?;
        if flight.entered {
            entries::update_booked_time(tx, booking_id, None, Some(booking.minutes_booked), None)?;
        }
        self.add_booking_history(tx, who, Happened::BookingChanged, booking_id, &booking)
    }

    /// A safety record, signed by somebody who might on that day, who also wrote it.
    fn record_safety(&mut self, tx: &Write, who: usize, level: usize, kind: SafetyKind) -> Result<(), Failure> {
        let Some((logbook, record)) = self.world.ladder.safety(level, kind) else { return Ok(()) };
        let (entry, by) = self.begin_entry(tx, who, level);
        let entry = Signed {
            kind: Kind::Safety,
            author_id: number(by),
            cat_group: logbook,
            skill: &record.skill,
            approval_date: Some(tx.now()),
            ..entry
        };
        self.add_entry(&entry, &[(tx.now(), by, Status::Open)])
    }

    /// A skill: asked for, then signed, refused or withdrawn. A suspended one was signed before.
    fn record_skill(&mut self, tx: &Write, who: usize, climb: usize, skill: usize, end: End) -> Result<(), Failure> {
        let level_index = self.world.people[who].climbs[climb].level;
        let level = self.world.ladder.level(level_index);
        let (entry, by) = self.begin_entry(tx, who, level_index);
        let approval = tx.now() + self.rng.between(HOUR / 4, 2 * HOUR);
        let (status, then) = match end {
            End::Held | End::Training => (Status::Open, vec![(approval, by, Status::Open)]),
            End::Pending => (Status::Pending, vec![]),
            End::Denied => (Status::Denied, vec![(approval, by, Status::Denied)]),
            End::Cancelled => (Status::Cancelled, vec![(approval, who, Status::Cancelled)]),
            End::Suspended => {
                let suspended = (approval + HOUR / 2, ADMIN, Status::Suspended);
                (Status::Suspended, vec![(approval, by, Status::Open), suspended])
            }
        };
        let signed = status.is_signed();
        let entry = Signed {
            status,
            cat_group: &level.cat_group,
            cat_id: &level.cat_id,
            skill: &level.skills[skill].skill,
            comments_instructor: if signed && self.rng.percent(15) {
                self.rng.pick(&PEOPLE.praise).as_str()
            } else {
                ""
            },
            comment_denial: if status == Status::Denied { self.rng.pick(&PEOPLE.denials).as_str() } else { "" },
            approval_date: signed.then_some(approval),
            ..entry
        };
        self.add_entry(&entry, &[vec![(tx.now(), who, Status::Pending)], then].concat())
    }

    /// An entry of somebody's own that names who may sign for the level on that day, and whose deed the signature is: the
    /// signer's, or the admin's where nobody may sign.
    fn begin_entry(&mut self, tx: &Write, who: usize, level: usize) -> (Signed<'static>, usize) {
        let day = (tx.now() - self.world.midnight).div_euclid(DAY);
        let signer = self.signers.pick(level, day, who, &mut self.rng);
        let entry = Signed {
            member_id: number(who),
            kind: Kind::Skill,
            status: Status::Open,
            entry_date: tx.now(),
            tunnel_id: self.tunnel_id,
            author_id: number(who),
            cat_group: "",
            cat_id: "",
            skill: "",
            instructor_id: signer.map(number),
            comments_instructor: "",
            comment_denial: "",
            approval_date: None,
        };
        (entry, signer.unwrap_or(ADMIN))
    }

    /// Writes an entry with its moves: when, by whom and to what.
    fn add_entry(&mut self, entry: &Signed, moves: &[(i64, usize, Status)]) -> Result<(), Failure> {
        let entry_id = self.bulk.insert_signed(entry)?;
        self.made.entries += 1;
        let mut from = None;
        for (at, by, to) in moves {
            entry_events::insert(
                &self.bulk.at(*at),
                entry_id,
                number(*by),
                from,
                entry_events::EntryState::Status(*to),
            )?;
            from = Some(*to);
        }
        Ok(())
    }
}
