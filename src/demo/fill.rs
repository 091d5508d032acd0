//! Fills an empty site: the members, then all events in the order of their moments, so that every row has a number
//! that fits its moment.

use super::data::{LevelEnd, PEOPLE, Staff};
use super::events::{DAY, Event, EventKind, Flight, HOUR, Lesson, World};
use super::levels::{FOUNDERS_LEVELS, Signers, listed};
use super::names::Names;
use super::people::{ADMIN, DESK, FOUNDED, FOUNDING};
use super::rng::Rng;
use super::{Made, PASSWORD, Plan};
use crate::app::photos;
use crate::domain::booking::Booking;
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
use crate::store::tables::entry_events::{self, EntryState};
use crate::store::tables::history::{self, Event as HistoryEvent, EventSubject};
use crate::store::tables::signers::{self, NewSigner};
use crate::store::tables::{bookings, media, members, notices, partner_users, partners};
use serde_json::json;
use std::collections::{HashMap, HashSet};

pub(super) const PARTNER_NAME: &str = "Airtime Booking";
const ROWS_BETWEEN_COMMITS: usize = 20_000;
/// Logbook rows whose events are in memory at once.
const ENTRIES_AT_ONCE: u64 = 2_000_000;
/// Older notices are read.
const UNREAD_DAYS: i64 = 4;
/// Older notices of bookings are deleted.
const NOTICE_DAYS: i64 = 30;
/// How many members have a picture.
const PICTURES: usize = 24;
const BAN_DAY: i64 = -19;
const REGISTRATION_FIRST: i64 = 70_000;
const PURCHASE_FIRST: i64 = 20_000;
/// How long before the flight people check in, in seconds.
const EARLY: i64 = 25 * 60;
/// One booking in so many is a no-show.
const NO_SHOW_EVERY: i64 = 29;
/// By how many minutes a changed booking is longer.
const MINUTES_MORE: i64 = 5;

/// Writes events to the site.
struct Filler<'a> {
    world: &'a World,
    site: &'a Site,
    signers: Signers,
    bulk: &'a Bulk<'a>,
    partner_id: i64,
    rng: Rng,
    made: Made,
    /// Bookings that will change, by person and moment of the flight.
    changing: HashMap<(usize, i64), (i64, Booking)>,
    /// The persons of whom the partner has a record.
    known: HashSet<usize>,
}

/// Fills the site. `zone`: the site's time zone, by which people come and go.
pub(super) fn fill(site: &Site, zone: &TimeZone, plan: &Plan, progress: &mut Progress) -> Result<Made, Failure> {
    let world = World::new(plan, site.catalogue, zone.day(site.now(), 0).from);
    let write = |bulk: &Bulk| -> Result<Made, Failure> {
        write_members(bulk, &world, plan, site.tunnel_id)?;
        appoint(bulk, &world, site.tunnel_id)?;
        let client_id = format!("{:016x}", Rng::new(plan.seed, 4).next());
        let founded = bulk.at(world.moment(FOUNDING, 0));
        let mut filler = Filler {
            signers: Signers::among(&world.people, site.catalogue),
            world: &world,
            site,
            bulk,
            partner_id: partners::insert(&founded, &client_id, PARTNER_NAME, false, None)?,
            rng: Rng::new(plan.seed, 3),
            made: Made { members: world.people.len() as u64, entries: 0, bookings: 0 },
            changing: HashMap::new(),
            known: HashSet::new(),
        };
        filler.write_all(plan, progress)?;
        bulk.read_notices(world.moment(-UNREAD_DAYS, 0))?;
        progress("indexes", 0, 1);
        Ok(filler.made)
    };
    let finish = |bulk: &Bulk| -> Result<(), Failure> {
        for (who, _) in world.people.iter().enumerate().filter(|(_, person)| !person.climbs.is_empty()) {
            holdings::refresh(&bulk.at(world.midnight), member_id(who), site.catalogue)?;
        }
        Ok(())
    };
    bulk::load(site.store.writer(), write, finish)
}

fn member_id(who: usize) -> i64 {
    who as i64 + 1
}

fn write_members(bulk: &Bulk, world: &World, plan: &Plan, tunnel_id: i64) -> Result<(), Failure> {
    let (mut names, mut rng) = (Names::default(), Rng::new(plan.seed, 2));
    // One hash for all: hashing a password for each would take longer than everything else.
    let password_hash = password::hash(PASSWORD, Cost::FULL);
    for (who, person) in world.people.iter().enumerate() {
        let join_date = world.moment(person.joined, 7) + (who as i64 * 631) % HOUR;
        let is_child = person.state.is_empty() && rng.percent(15);
        let age = if is_child { rng.between(8 * 365, 16 * 365) } else { rng.between(18 * 365, 60 * 365) };
        let confirmed_at = (!person.unconfirmed).then_some(join_date + HOUR / 4);
        bulk.insert_member(&Member {
            member_id: member_id(who),
            email_confirmed_at: confirmed_at,
            phone_confirmed_at: confirmed_at.filter(|_| who % 3 == 0),
            // A birthday is a date, the same in every time zone: the midnight of UTC, not the site's.
            dob: (join_date.div_euclid(DAY) - age) * DAY,
            tunnel_id,
            role: person.role.name(),
            password_hash: &password_hash,
            paid_until: person.paid_until.map(|day| world.moment(day, 0)),
            banned_at: person.banned.then(|| world.moment(BAN_DAY, 18)),
            join_date,
            ..names.draw(&mut rng, person.username.as_deref())
        })?;
        if who < PICTURES {
            media::set(&bulk.at(join_date), member_id(who), &photos::invented(who))?;
        }
        if who % ROWS_BETWEEN_COMMITS == 0 {
            bulk.commit()?;
        }
    }
    Ok(())
}

/// The tunnel's list of signers, kept by the admin. The founders stand in for levels until the staff hold their own.
fn appoint(bulk: &Bulk, world: &World, tunnel_id: i64) -> Result<(), Failure> {
    let appointed_by = Some(member_id(ADMIN));
    let (founding, founded) = (bulk.at(world.moment(FOUNDING, 7)), bulk.at(world.moment(FOUNDED, 7)));
    for (person, member_id) in world.people.iter().zip(1..).filter(|(person, _)| person.staff.is_some()) {
        let signer = |cat_group, cat_id| NewSigner { tunnel_id, member_id, cat_group, cat_id, appointed_by };
        if person.staff == Some(Staff::Founder) {
            for (cat_group, cat_id) in FOUNDERS_LEVELS {
                signers::insert(&founding, &signer(cat_group, cat_id))?;
                signers::end(&founded, tunnel_id, member_id, cat_group, appointed_by)?;
            }
        }
        for cat_group in listed(person) {
            signers::insert(&founded, &signer(cat_group, ""))?;
        }
    }
    Ok(())
}

impl Filler<'_> {
    /// Writes all events. A large site is written one stretch of time after the other, so that memory stays bounded:
    /// each stretch derives all events again.
    fn write_all(&mut self, plan: &Plan, progress: &mut Progress) -> Result<(), Failure> {
        let world = self.world;
        let stretches = 1 + (plan.entries / ENTRIES_AT_ONCE) as i64;
        let begin = |n: i64| world.midnight + DAY * FOUNDING * (stretches - n) / stretches;
        for n in 0..stretches {
            let stretch = begin(n)..begin(n + 1);
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
        match &event.kind {
            EventKind::Learned(lesson) => self.learn(&tx, who, lesson),
            EventKind::Refused(reason) => {
                let detail = json!({ "reason": reason }).to_string();
                let subject =
                    EventSubject { member_id: Some(member_id(who)), detail: Some(&detail), ..EventSubject::default() };
                history::insert(&tx, self.partner_id, HistoryEvent::TokenRefused, &subject)?;
                Ok(())
            }
            EventKind::Booked(flight) => self.book(&tx, who, flight),
            EventKind::Changed(flight) => self.change(&tx, who, flight),
            EventKind::Flown(flight) => self.insert_time(&tx, who, flight, None),
        }
    }

    fn sometimes(&mut self, percent: u64, texts: &'static [String]) -> &'static str {
        if self.rng.percent(percent) { self.rng.pick(texts).as_str() } else { "" }
    }

    /// Beginners leave their logbook to the desk.
    fn insert_time(&mut self, tx: &Write, who: usize, flight: &Flight, booking_id: Option<i64>) -> Result<(), Failure> {
        let author = if flight.by_flyer { who } else { DESK };
        let comment = self.sometimes(8, &PEOPLE.flight_comments).to_owned();
        let tunnel_id = self.site.tunnel_id;
        let time = NewTime { entry_date: flight.at, minutes: flight.minutes, tunnel_id, comment };
        entries::insert_time(tx, member_id(who), member_id(author), booking_id, &time)?;
        self.made.entries += 1;
        Ok(())
    }

    /// A booking as the partner's request would have left it.
    fn book(&mut self, tx: &Write, who: usize, flight: &Flight) -> Result<(), Failure> {
        if self.known.insert(who) {
            let email = members::find(tx, member_id(who))?.map(|profile| profile.email).unwrap_or_default();
            let user_id = Some(partner_users::insert(tx, self.partner_id, &email)?);
            history::insert(
                tx,
                self.partner_id,
                HistoryEvent::UserCreated,
                &EventSubject { user_id, ..EventSubject::default() },
            )?;
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
            tunnel_id: self.site.tunnel_id,
            checkin_time: Some(flight.at - HOUR / 2),
        };
        let booking_id = bookings::insert(tx, self.partner_id, member_id(who), &booking)?;
        let arrival = flight.at - EARLY;
        if arrival <= self.site.now() && booking_id % NO_SHOW_EVERY != 0 {
            bookings::set_arrived(&self.bulk.at(arrival), booking_id, arrival, Some(member_id(DESK)))?;
        }
        self.add_booking_history(tx, who, HistoryEvent::BookingRecorded, booking_id, &booking)?;
        if flight.entered {
            self.insert_time(tx, who, flight, Some(booking_id))?;
        }
        if tx.now() >= self.world.moment(-NOTICE_DAYS, 0) {
            let lapsed = flight.by_flyer && !flight.entered;
            let notice = if lapsed { "notice.booking_not_current" } else { "notice.booking_recorded" };
            let detail = json!({ "booking_id": booking_id, "flight_date": flight.at, "minutes": flight.minutes });
            notices::insert(tx, member_id(who), notice, &detail.to_string())?;
        }
        if flight.changes {
            self.changing.insert((who, flight.at), (booking_id, booking));
        }
        Ok(())
    }

    fn add_booking_history(
        &self,
        tx: &Write,
        who: usize,
        event: HistoryEvent,
        booking_id: i64,
        booking: &Booking,
    ) -> Result<(), Failure> {
        let detail = history::booking_detail(booking);
        let (member_id, booking_id) = (Some(member_id(who)), Some(booking_id));
        let subject = EventSubject { member_id, booking_id, ..EventSubject::default() };
        history::insert(tx, self.partner_id, event, &EventSubject { detail: Some(&detail), ..subject })?;
        history::insert(tx, self.partner_id, HistoryEvent::TokenIssued, &subject)?;
        Ok(())
    }

    /// The partner sends a booking again with more minutes.
    fn change(&mut self, tx: &Write, who: usize, flight: &Flight) -> Result<(), Failure> {
        let Some((booking_id, mut booking)) = self.changing.remove(&(who, flight.at)) else { return Ok(()) };
        booking.minutes_booked += MINUTES_MORE;
        bookings::update(tx, booking_id, &booking)?;
        if flight.entered {
            entries::update_booked_time(tx, booking_id, None, Some(booking.minutes_booked), None)?;
        }
        self.add_booking_history(tx, who, HistoryEvent::BookingChanged, booking_id, &booking)
    }

    /// A skill: requested, then signed, refused or withdrawn; a suspended one was signed before. A safety record is
    /// written and signed at once.
    fn learn(&mut self, tx: &Write, who: usize, lesson: &Lesson) -> Result<(), Failure> {
        let Lesson { kind, level, skill, end } = *lesson;
        let (is_skill, founded) = (kind == Kind::Skill, tx.now() >= self.world.moment(FOUNDED, 0));
        let signer = self.signers.pick(level, founded, who, &mut self.rng);
        let approval = tx.now() + if is_skill { self.rng.between(HOUR / 4, 2 * HOUR) } else { 0 };
        let signed = (approval, signer, Status::Open);
        let mut steps = if is_skill { vec![(tx.now(), who, Status::Pending)] } else { Vec::new() };
        match end {
            LevelEnd::Held | LevelEnd::Training => steps.push(signed),
            LevelEnd::Pending => (),
            LevelEnd::Denied => steps.push((approval, signer, Status::Denied)),
            LevelEnd::Cancelled => steps.push((approval, who, Status::Cancelled)),
            LevelEnd::Suspended => steps.extend([signed, (approval + HOUR / 2, ADMIN, Status::Suspended)]),
        }
        let status = steps[steps.len() - 1].2;
        let praised = if is_skill && status.is_signed() { 15 } else { 0 };
        let logbook = self.site.catalogue.safety_logbook(&level.cat_group);
        let (cat_group, cat_id) = if is_skill { (&*level.cat_group, &*level.cat_id) } else { (logbook, "") };
        let entry_id = self.bulk.insert_signed(&Signed {
            member_id: member_id(who),
            kind,
            status,
            entry_date: tx.now(),
            tunnel_id: self.site.tunnel_id,
            author_id: member_id(steps[0].1),
            cat_group,
            cat_id,
            skill,
            instructor_id: Some(member_id(signer)),
            comments_instructor: self.sometimes(praised, &PEOPLE.praise),
            comment_denial: self.sometimes(if status == Status::Denied { 100 } else { 0 }, &PEOPLE.denials),
            approval_date: status.is_signed().then_some(approval),
        })?;
        self.made.entries += 1;
        let mut from = None;
        for (at, by, to) in steps {
            entry_events::insert(&self.bulk.at(at), entry_id, member_id(by), from, EntryState::Status(to))?;
            from = Some(to);
        }
        Ok(())
    }
}
