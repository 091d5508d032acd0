//! Fills an empty site: the members, then a draft of every entry and booking of each, from which SQL makes all rows in
//! the order of their moments.

use super::people::{self, ADMIN, DESK, FOUNDED, FOUNDERS, FOUNDING, INSTRUCTORS, PEOPLE, Person, SignedRecord};
use super::rng::Rng;
use super::{Made, PASSWORD, Plan, names};
use crate::app::photos;
use crate::domain::booking::{Standing, admit};
use crate::domain::catalogue::Catalogue;
use crate::domain::currency::FLYER_DAYS;
use crate::domain::entry::Status;
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::local_time::TimeZone;
use crate::domain::password::{self, Cost};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::ops::Progress;
use crate::site::Site;
use crate::store::bulk::{self, Bulk, Draft};
use crate::store::queries::holdings;
use crate::store::tables::members::{self, NewMember};
use crate::store::tables::signers::{self, NewSigner};
use crate::store::tables::{bans, media, partners};

pub(super) const PARTNER_NAME: &str = "Airtime Booking";
const DAY: i64 = 86_400;
const HOUR: i64 = 3_600;
const MEMBERS_BETWEEN_PROGRESS: i64 = 1_000;
/// How many members have a picture.
const PICTURES: i64 = 24;
const BAN_DAY: i64 = -19;
/// The levels that the founders stand in for until they hold their own: enough that each can sign all for another.
const FOUNDERS_LEVELS: [(&str, &str); 4] =
    [("Instructor", "4"), ("Trainer", "4"), ("Examiner", "1"), ("Military", "1")];
/// How many seconds before the flight bookings are made, at least and at most.
const BOOKED_BEFORE: (i64, i64) = (HOUR, 13 * DAY);
/// Of a hundred flights, how many are booked with the partner; the others are paid for at the desk.
const BOOKED_PERCENT: u64 = 55;
/// How busy a day is, from Monday on; in hundredths of a Saturday.
const WEEK: [u64; 7] = [25, 28, 44, 37, 56, 100, 88];
const BEGINNER_MINUTES: [i64; 7] = [2, 3, 4, 4, 5, 6, 8];
const FLYER_MINUTES: [i64; 10] = [10, 10, 12, 15, 15, 20, 20, 30, 45, 60];

struct Filler<'a> {
    bulk: &'a Bulk<'a>,
    catalogue: &'static Catalogue,
    tunnel_id: TunnelId,
    /// The beginning of today, in Unix seconds.
    midnight: Moment,
    rng: Rng,
    /// How many skills and safety records there are so far.
    lessons: u64,
}

/// Fills the site. `zone`: the site's time zone, by which people come and go.
pub(super) fn fill(site: &Site, zone: &TimeZone, plan: &Plan, progress: &mut Progress) -> Result<Made, Failure> {
    let (mut rng, midnight) = (Rng::new(plan.seed), zone.day(site.now(), 0).from);
    let people = people::all(plan, &mut rng);
    let numbered = || (1..).map(MemberId).zip(&people);
    let write = |bulk: &Bulk| -> Result<Made, Failure> {
        let (catalogue, tunnel_id) = (site.catalogue, site.tunnel_id);
        let mut filler = Filler { bulk, catalogue, tunnel_id, midnight, rng, lessons: 0 };
        let client_id = format!("{:016x}", filler.rng.next());
        partners::insert(&bulk.at(filler.moment(FOUNDING, 0)), &client_id, PARTNER_NAME, false, None)?;
        // One hash for all: hashing a password for each would take longer than everything else.
        let password_hash = password::hash(PASSWORD, Cost::FULL);
        let mut flyers_since = Vec::new();
        for (member_id, person) in numbered() {
            filler.join(member_id, person, &password_hash)?;
            flyers_since.push(filler.learn(member_id, person)?);
        }
        let weights = people.iter().map(Person::weight).sum::<u64>().max(1);
        let flown = people.iter().filter(|person| person.last_day.is_some()).count() as u64;
        let more = plan.entries.saturating_sub(filler.lessons + flown);
        for ((member_id, person), flyer_since) in numbered().zip(flyers_since) {
            // Rounded up or down at random, so that the sum is about right.
            let flights = (more * person.weight() + filler.rng.below(weights)) / weights;
            filler.fly(member_id, person, flights, flyer_since)?;
            if member_id.0 % MEMBERS_BETWEEN_PROGRESS == 0 {
                progress("members", member_id.0 as u64, people.len() as u64);
            }
        }
        progress("entries", 0, 1);
        let (entries, bookings) = bulk.write_drafts(site.now())?;
        progress("indexes", 0, 1);
        Ok(Made { members: people.len() as u64, entries: entries as u64, bookings: bookings as u64 })
    };
    let finish = |bulk: &Bulk| -> Result<(), Failure> {
        for (member_id, _) in numbered().filter(|(_, person)| !person.levels(site.catalogue).is_empty()) {
            holdings::refresh(&bulk.at(midnight), member_id, site.catalogue)?;
        }
        Ok(())
    };
    bulk::load(site.store.writer(), write, finish)
}

impl Filler<'_> {
    fn moment(&self, day: i64, hour: i64) -> Moment {
        self.midnight + day * DAY + hour * HOUR
    }

    /// Adds a member, and a signer to the tunnel's list, which the admin keeps.
    fn join(&mut self, member_id: MemberId, person: &Person, password_hash: &str) -> Result<(), Failure> {
        let name = names::draw(&mut self.rng, member_id, person.username);
        let join_date = self.moment(person.joined, 7) + self.rng.between(0, HOUR);
        let is_child = person.state.is_empty() && self.rng.percent(15);
        let age = if is_child { self.rng.between(8 * 365, 16 * 365) } else { self.rng.between(18 * 365, 60 * 365) };
        let joining = self.bulk.at(join_date);
        let new = NewMember {
            username: &name.username,
            screen_name: &name.screen_name,
            real_name: &name.real_name,
            country: name.nation.country,
            country_code: name.nation.code,
            // A birthday is a date, the same in every time zone: the midnight of UTC, not the site's.
            dob: Some(join_date.rounded_down(DAY) - age * DAY),
            tunnel_id: Some(self.tunnel_id),
            role: person.role.name(),
            password_hash: Some(password_hash),
            accepted_terms: true,
            ..NewMember::default()
        };
        members::insert(&joining, &new)?;
        let (email, phone) = ((&*name.email, !person.unconfirmed), (&*name.phone, member_id.0 % 3 == 0));
        members::set_reach(&joining, member_id, email, phone)?;
        members::set_paid_until(&joining, member_id, person.paid_until.map(|day| self.moment(day, 0)))?;
        if person.banned {
            let at = self.moment(BAN_DAY, 18);
            bans::set(&self.bulk.at(at), member_id, Some(at))?;
        }
        if member_id.0 <= PICTURES {
            media::set(&joining, member_id, &photos::invented(member_id.0 as usize))?;
        }
        let signer = |cat_group, cat_id| NewSigner {
            tunnel_id: self.tunnel_id,
            member_id,
            cat_group,
            cat_id,
            appointed_by: Some(ADMIN),
        };
        let (founding, founded) = (self.bulk.at(self.moment(FOUNDING, 7)), self.bulk.at(self.moment(FOUNDED, 7)));
        for (cat_group, cat_id) in FOUNDERS_LEVELS.into_iter().filter(|_| FOUNDERS.contains(&member_id)) {
            signers::insert(&founding, &signer(cat_group, cat_id))?;
            signers::end(&founded, self.tunnel_id, member_id, cat_group, Some(ADMIN))?;
        }
        for cat_group in person.signs() {
            signers::insert(&founded, &signer(cat_group, ""))?;
        }
        Ok(())
    }

    /// Drafts what a member learns. Returns the day from which the member holds Flyer Level 1.
    fn learn(&mut self, member_id: MemberId, person: &Person) -> Result<i64, Failure> {
        let lessons = person.lessons(self.catalogue, &mut self.rng);
        let mut signers = if person.trained_until.is_some() { FOUNDERS.to_vec() } else { INSTRUCTORS.to_vec() };
        signers.retain(|signer| *signer != member_id);
        for &SignedRecord { day, cat_group, cat_id, skill, end } in &lessons {
            let (signer, is_skill) = (self.rng.pick(&signers), !cat_id.is_empty());
            let entry_date = self.moment(day, if is_skill { 20 } else { 8 }) + self.rng.between(0, HOUR - 1);
            let answered_at = if is_skill { entry_date + self.rng.between(HOUR / 4, 2 * HOUR) } else { entry_date };
            let comment = match end {
                None if is_skill && self.rng.percent(15) => self.rng.pick(&PEOPLE.praise),
                Some(Status::Denied) => self.rng.pick(&PEOPLE.denials),
                _ => "",
            };
            self.bulk.add(&Draft {
                member_id,
                entry_date,
                // The signer enters and signs a safety record in one step.
                author_id: if is_skill { member_id } else { signer },
                comment,
                cat_group,
                cat_id,
                skill,
                instructor_id: Some(signer),
                end,
                answered_at: (end != Some(Status::Pending)).then_some(answered_at),
                created_at: Some(entry_date),
                ..Draft::default()
            })?;
        }
        self.lessons += lessons.len() as u64;
        let flyer_1 = lessons.iter().filter(|lesson| (lesson.cat_group, lesson.cat_id) == ("Flyer", "1"));
        Ok(flyer_1.map(|one| if one.end.is_none() { one.day } else { i64::MAX }).max().unwrap_or(i64::MAX))
    }

    /// Drafts the last flight of a member and `more` others, with their bookings.
    fn fly(&mut self, member_id: MemberId, person: &Person, more: u64, flyer_since: i64) -> Result<(), Failure> {
        let Some((first, until)) = person.flies() else { return Ok(()) };
        let mut days: Vec<i64> = (0..more).map(|_| self.draw_day(first, until)).chain(person.last_day).collect();
        days.sort_unstable();
        for &day in &days {
            let entry_date = self.moment(day, 9) + HOUR / 4 * self.rng.between(0, 40);
            let booked_at = entry_date - self.rng.between(BOOKED_BEFORE.0, BOOKED_BEFORE.1);
            let booked_at = booked_at.max(self.moment(person.joined + 1, 6));
            let booked_on = (booked_at - self.midnight).div_euclid(DAY);
            let is_flyer = flyer_since < booked_on;
            let standing = Standing {
                banned: false,
                email_confirmed: !person.unconfirmed,
                paid_until: person.paid_until.map(|day| self.moment(day, 0)),
                holds_flyer_1: is_flyer,
            };
            let denial = admit(&standing, 1, self.moment(booked_on, 0)).err();
            let books = booked_on < 0 && (day >= 0 || self.rng.percent(BOOKED_PERCENT));
            let flown_before = days[..days.partition_point(|flown| *flown < booked_on)].last();
            // One day to spare, so that the hour of the day never decides.
            let is_current = is_flyer && flown_before.is_some_and(|flown| booked_on - flown < FLYER_DAYS - 1);
            let is_entered = books && denial.is_none() && is_current;
            let comment = if self.rng.percent(8) { self.rng.pick(&PEOPLE.flight_comments) } else { "" };
            self.bulk.add(&Draft {
                member_id,
                entry_date,
                minutes: if is_flyer { self.rng.pick(&FLYER_MINUTES) } else { self.rng.pick(&BEGINNER_MINUTES) },
                // Beginners leave their logbook to the desk.
                author_id: if is_flyer { member_id } else { DESK },
                comment,
                created_at: if is_entered { Some(booked_at) } else { (day < 0).then_some(entry_date + HOUR / 2) },
                booked_at: books.then_some(booked_at),
                refusal: denial.filter(|_| books).map(|denial| denial.key()),
                ..Draft::default()
            })?;
        }
        Ok(())
    }

    fn draw_day(&mut self, first: i64, until: i64) -> i64 {
        loop {
            let day = self.rng.between(first, until);
            // The first day of 1970 was a Thursday.
            let weekday = (self.midnight + DAY / 2).0.div_euclid(DAY) + 3 + day;
            // Today, the desk has people to receive.
            if day == 0 || self.rng.percent(WEEK[weekday.rem_euclid(7) as usize]) {
                return day;
            }
        }
    }
}
