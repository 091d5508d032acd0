//! Fills an empty site: the members, then all events in the order of their moments, so that every row has a number
//! that fits its moment.

use super::data::{LevelEnd, PEOPLE, Staff};
use super::events::{DAY, Event, EventKind, Flight, HOUR, World};
use super::levels::{FOUNDERS_LEVELS, Signers, listed};
use super::names::{Name, Names};
use super::people::{self, ADMIN, DESK, FOUNDED, FOUNDING, OPENING};
use super::rng::Rng;
use super::{Made, PASSWORD, Plan};
use crate::app::photos;
use crate::domain::booking::Booking;
use crate::domain::catalogue::{Level, SafetyKind, Skill};
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
use crate::store::tables::{bookings, media, members, notices, partner_users, partners, signers};
use std::collections::HashMap;

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
    /// Whether the partner has a record of the person.
    known: Vec<bool>,
}

/// Fills the site. `zone`: the site's time zone, by which people come and go.
pub(super) fn fill(site: &Site, zone: &TimeZone, plan: &Plan, progress: &mut Progress) -> Result<Made, Failure> {
    let midnight = zone.day(site.now(), 0).from;
    let world = World::new(plan, people::make(plan, site.catalogue), site.catalogue, midnight);
    let write = |bulk: &Bulk| -> Result<Made, Failure> {
        write_members(bulk, &world, plan, site.tunnel_id)?;
        appoint(bulk, &world, site.tunnel_id)?;
        let client_id = format!("{:016x}", Rng::new(plan.seed, 4).next());
        let founded = bulk.at(midnight + FOUNDING * DAY);
        let mut filler = Filler {
            signers: Signers::among(&world.people, site.catalogue),
            world: &world,
            site,
            bulk,
            partner_id: partners::insert(&founded, &client_id, PARTNER_NAME, false, None)?,
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
            holdings::refresh(&bulk.at(midnight), member_id(who), site.catalogue)?;
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
    let moment = |day: i64| world.midnight + day * DAY;
    // A birthday is a date, the same in every time zone: the midnight of UTC, not the site's.
    let birthday = |day: i64| (world.midnight + DAY / 2).div_euclid(DAY) * DAY + day * DAY;
    for (who, person) in world.people.iter().enumerate() {
        let name: Name = names.draw(&mut rng, person.username);
        let join_date = moment(person.joined) + 7 * HOUR + (who as i64 * 631) % HOUR;
        bulk.insert_member(&Member {
            member_id: member_id(who),
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
            banned_at: person.banned.then(|| moment(BAN_DAY) + 18 * HOUR),
            join_date,
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

/// The tunnel's list of signers, kept by the admin: the founders first, who stand in for levels until they hold their own.
fn appoint(bulk: &Bulk, world: &World, tunnel_id: i64) -> Result<(), Failure> {
    let appointed_by = Some(member_id(ADMIN));
    let moment = |day: i64, hour: i64| world.midnight + day * DAY + hour * HOUR;
    let staff = || world.people.iter().zip(1..).filter(|(person, _)| person.staff.is_some());
    for (_, member_id) in staff().filter(|(person, _)| person.staff == Some(Staff::Founder)) {
        for (cat_group, cat_id) in FOUNDERS_LEVELS {
            let row = signers::NewSigner { tunnel_id, member_id, cat_group, cat_id, appointed_by };
            signers::insert(&bulk.at(moment(FOUNDING, 7)), &row)?;
            signers::end(&bulk.at(moment(FOUNDED, 7)), tunnel_id, member_id, cat_group, appointed_by)?;
        }
    }
    for (person, member_id) in staff() {
        for (cat_group, day) in listed(person) {
            let row = signers::NewSigner { tunnel_id, member_id, cat_group, cat_id: "", appointed_by };
            signers::insert(&bulk.at(moment(day, 23)), &row)?;
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
        match &event.kind {
            EventKind::Safety(level, kind) => self.record_safety(&tx, who, level, *kind),
            EventKind::Skill(level, skill, end) => self.record_skill(&tx, who, level, skill, *end),
            EventKind::Refused(reason) => {
                let detail = serde_json::json!({ "reason": reason }).to_string();
                let subject = EventSubject { detail: Some(&detail), ..of_member(who) };
                self.add_history(&tx, HistoryEvent::TokenRefused, &subject)
            }
            EventKind::Booked(flight, notice) => self.book(&tx, who, flight, notice),
            EventKind::Changed(flight) => self.change(&tx, who, flight),
            EventKind::Flown(flight) => {
                let author = if flight.by_flyer { who } else { DESK };
                let comment = if self.rng.percent(12) { self.rng.pick(&PEOPLE.flight_comments) } else { "" };
                self.insert_time(&tx, who, author, flight, None, comment)
            }
        }
    }

    fn add_history(&self, tx: &Write, event: HistoryEvent, subject: &EventSubject) -> Result<(), Failure> {
        history::insert(tx, self.partner_id, event, subject)?;
        Ok(())
    }

    fn insert_time(
        &mut self,
        tx: &Write,
        who: usize,
        author: usize,
        flight: &Flight,
        booking_id: Option<i64>,
        comment: &str,
    ) -> Result<(), Failure> {
        let (tunnel_id, comment) = (self.site.tunnel_id, comment.to_owned());
        let time = NewTime { entry_date: flight.at, minutes: flight.minutes, tunnel_id, comment };
        entries::insert_time(tx, member_id(who), member_id(author), booking_id, &time)?;
        self.made.entries += 1;
        Ok(())
    }

    /// A booking as the partner's request would have left it.
    fn book(&mut self, tx: &Write, who: usize, flight: &Flight, notice: &str) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.known[who], true) {
            let email = members::find(tx, member_id(who))?.map(|profile| profile.email).unwrap_or_default();
            let user_id = Some(partner_users::insert(tx, self.partner_id, &email)?);
            self.add_history(tx, HistoryEvent::UserCreated, &EventSubject { user_id, ..EventSubject::default() })?;
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
            self.insert_time(tx, who, who, flight, Some(booking_id), "")?;
        }
        if tx.now() >= self.world.midnight - NOTICE_DAYS * DAY {
            let detail =
                serde_json::json!({ "booking_id": booking_id, "flight_date": flight.at, "minutes": flight.minutes });
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
        let subject = EventSubject { booking_id: Some(booking_id), ..of_member(who) };
        self.add_history(tx, event, &EventSubject { detail: Some(&detail), ..subject })?;
        self.add_history(tx, HistoryEvent::TokenIssued, &subject)
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

    /// A safety record: written and signed at once.
    fn record_safety(&mut self, tx: &Write, who: usize, level: &Level, kind: SafetyKind) -> Result<(), Failure> {
        let catalogue = self.site.catalogue;
        let record = catalogue.safety(&level.cat_group).iter().find(|record| record.kind == kind);
        let Some((record, programme)) = record.zip(catalogue.find_programme(&level.cat_group)) else { return Ok(()) };
        let (signer, by) = self.pick_signer(tx, who, level);
        let entry = Signed {
            kind: Kind::Safety,
            author_id: member_id(by),
            cat_group: &programme.safety_logbook,
            skill: &record.skill,
            instructor_id: signer.map(member_id),
            approval_date: Some(tx.now()),
            ..self.open_entry(tx, who)
        };
        self.insert_signed(&entry, &[(tx.now(), by, Status::Open)])
    }

    /// A skill: requested, then signed, refused or withdrawn. A suspended one was signed before.
    fn record_skill(
        &mut self,
        tx: &Write,
        who: usize,
        level: &Level,
        skill: &Skill,
        end: LevelEnd,
    ) -> Result<(), Failure> {
        let (signer, by) = self.pick_signer(tx, who, level);
        let approval = tx.now() + self.rng.between(HOUR / 4, 2 * HOUR);
        let suspension = approval + HOUR / 2;
        let then = match end {
            LevelEnd::Held | LevelEnd::Training => vec![(approval, by, Status::Open)],
            LevelEnd::Pending => vec![],
            LevelEnd::Denied => vec![(approval, by, Status::Denied)],
            LevelEnd::Cancelled => vec![(approval, who, Status::Cancelled)],
            LevelEnd::Suspended => vec![(approval, by, Status::Open), (suspension, ADMIN, Status::Suspended)],
        };
        let steps = [vec![(tx.now(), who, Status::Pending)], then].concat();
        let status = steps[steps.len() - 1].2;
        let signed = status.is_signed();
        let praise = if signed && self.rng.percent(15) { self.rng.pick(&PEOPLE.praise).as_str() } else { "" };
        let denial = if status == Status::Denied { self.rng.pick(&PEOPLE.denials).as_str() } else { "" };
        let entry = Signed {
            status,
            cat_group: &level.cat_group,
            cat_id: &level.cat_id,
            skill: &skill.skill,
            instructor_id: signer.map(member_id),
            comments_instructor: praise,
            comment_denial: denial,
            approval_date: signed.then_some(approval),
            ..self.open_entry(tx, who)
        };
        self.insert_signed(&entry, &steps)
    }

    /// The signer who may sign for the level on that day, and the author of the signature: the signer, or the admin where
    /// there is none.
    fn pick_signer(&mut self, tx: &Write, who: usize, level: &Level) -> (Option<usize>, usize) {
        let day = (tx.now() - self.world.midnight).div_euclid(DAY);
        let signer = self.signers.pick(level, day, who, &mut self.rng);
        (signer, signer.unwrap_or(ADMIN))
    }

    fn open_entry(&self, tx: &Write, who: usize) -> Signed<'static> {
        Signed {
            member_id: member_id(who),
            kind: Kind::Skill,
            status: Status::Open,
            entry_date: tx.now(),
            tunnel_id: self.site.tunnel_id,
            author_id: member_id(who),
            cat_group: "",
            cat_id: "",
            skill: "",
            instructor_id: None,
            comments_instructor: "",
            comment_denial: "",
            approval_date: None,
        }
    }

    /// Inserts an entry with the steps that led to its status: when, by whom and to what.
    fn insert_signed(&mut self, entry: &Signed, steps: &[(i64, usize, Status)]) -> Result<(), Failure> {
        let entry_id = self.bulk.insert_signed(entry)?;
        self.made.entries += 1;
        let mut from = None;
        for (at, by, to) in steps {
            entry_events::insert(&self.bulk.at(*at), entry_id, member_id(*by), from, EntryState::Status(*to))?;
            from = Some(*to);
        }
        Ok(())
    }
}

fn of_member(who: usize) -> EventSubject<'static> {
    EventSubject { member_id: Some(member_id(who)), ..EventSubject::default() }
}
