//! Fills an empty site: decides who there is, writes the diary, then the members with what became of them.

use super::cast::ADMIN;
use super::diary::{DAY, Diary, HOUR, State, World};
use super::events;
use super::ladder::{FOUNDERS_LEVELS, Ladder, Signers};
use super::names::Names;
use super::people::{self, Person};
use super::rng::Rng;
use super::timetable::Timetable;
use super::{Made, PASSWORD, Plan};
use crate::domain::local_time::Hall;
use crate::domain::password;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::engine::bulk::{self, Bulk, Member};
use crate::store::queries::holdings;
use crate::store::tables::{partners, signers};
use indicatif::{ProgressBar, ProgressStyle};

pub(super) const PARTNER_NAME: &str = "Airtime Booking";
const MEMBERS_BETWEEN_COMMITS: usize = 20_000;
/// Notices older than this have been read.
const UNREAD_DAYS: i64 = 4;

/// `hall`: by whose clock people come and go.
pub(super) fn fill(site: &Site, hall: &Hall, plan: &Plan, visibly: bool) -> Result<Made, Failure> {
    let today = hall.noon_utc(site.now()).div_euclid(DAY);
    let midnight = hall.day(site.now(), 0).from;
    let (ladder, mut names) = (Ladder::new(site.catalogue), Names::new());
    let people = people::make(plan, &ladder, &mut names, midnight);
    let signers = Signers::among(&people, &ladder);
    let flights = plan.entries.saturating_sub(events::count_entries(&people, &ladder));
    let mut timetable = Timetable::new(&people, flights, today, plan.seed);
    let bar = progress_bar(plan.entries, visibly);
    // One hash for all: hashing a password for each would take longer than everything else.
    let password_hash = password::hash(PASSWORD);
    let write = |bulk: &Bulk| -> Result<Made, Failure> {
        let founded = midnight + people::FOUNDING * DAY;
        let client_id = format!("{:016x}", Rng::new(plan.seed, 4).next());
        let partner_id = partners::insert(&bulk.at(founded), &client_id, PARTNER_NAME, false, None)?;
        appoint(bulk, &people, &ladder, midnight, site.tunnel_id)?;
        let world = World {
            people: &people,
            names: &names,
            ladder: &ladder,
            signers: &signers,
            tunnel_id: site.tunnel_id,
            partner_id,
            midnight,
            now: site.now(),
        };
        let mut diary = Diary::new(world, bulk, plan.seed);
        diary.write(&mut timetable, |entries| bar.set_position(entries))?;
        bar.set_message("members");
        write_members(bulk, &people, &diary.states, &names, &password_hash, midnight, site.tunnel_id)?;
        bulk.read_notices(midnight - UNREAD_DAYS * DAY)?;
        bar.set_message("indexes");
        Ok(diary.made)
    };
    let finish = |bulk: &Bulk| -> Result<(), Failure> {
        let climbers = people.iter().enumerate().filter(|(_, person)| !person.climbs.is_empty());
        for (who, _) in climbers {
            holdings::refresh(&bulk.at(midnight), who as i64 + 1, site.catalogue)?;
        }
        Ok(())
    };
    let made = bulk::load(site.store.writer(), write, finish)?;
    bar.finish_and_clear();
    Ok(made)
}

/// The tunnel's list of signers, kept by the admin: the founders first, who stand in for levels until they hold their own.
fn appoint(bulk: &Bulk, people: &[Person], ladder: &Ladder, midnight: i64, tunnel_id: i64) -> Result<(), Failure> {
    let admin = Some(ADMIN as i64 + 1);
    let row = |who: usize, cat_group, cat_id| signers::New {
        tunnel_id,
        member_id: who as i64 + 1,
        cat_group,
        cat_id,
        appointed_by: admin,
    };
    let moment = |day: i64| midnight + day * DAY + 7 * HOUR;
    for (who, _) in people.iter().enumerate().filter(|(_, person)| person.founder) {
        for (cat_group, cat_id) in FOUNDERS_LEVELS {
            signers::insert(&bulk.at(moment(people::FOUNDING)), &row(who, cat_group, cat_id))?;
            signers::end(&bulk.at(moment(people::FOUNDED)), tunnel_id, who as i64 + 1, cat_group, admin)?;
        }
    }
    for (who, cat_group, day) in Signers::listed(people, ladder) {
        signers::insert(&bulk.at(moment(day) + 16 * HOUR), &row(who, cat_group, ""))?;
    }
    Ok(())
}

fn write_members(
    bulk: &Bulk,
    people: &[Person],
    states: &[State],
    names: &Names,
    password_hash: &str,
    midnight: i64,
    tunnel_id: i64,
) -> Result<(), Failure> {
    let moment = |day: i64| midnight + day * DAY;
    // A birthday is a date wherever one reads it: the midnight of UTC, not the hall's.
    let birthday = |day: i64| (midnight + DAY / 2).div_euclid(DAY) * DAY + day * DAY;
    for (who, (person, state)) in people.iter().zip(states).enumerate() {
        let own = names.spell(&person.name);
        let join_date = moment(person.joined) + 7 * HOUR + (who as i64 * 631) % HOUR;
        bulk.insert_member(&Member {
            member_id: who as i64 + 1,
            username: &own.username,
            screen_name: &own.screen_name,
            real_name: &own.real_name,
            email: &own.email,
            email_confirmed_at: person.confirmed.then_some(join_date + HOUR / 4),
            phone: &own.phone,
            phone_confirmed_at: (person.confirmed && who % 3 == 0).then_some(join_date + HOUR / 3),
            country: &own.country,
            country_code: &own.country_code,
            dob: birthday(person.born),
            tunnel_id,
            role: person.role.name(),
            password_hash,
            paid_until: person.paid_until.map(moment),
            banned_at: person.banned.map(|day| moment(day) + 18 * HOUR),
            flight_minutes: state.minutes,
            join_date,
        })?;
        if who % MEMBERS_BETWEEN_COMMITS == 0 {
            bulk.commit()?;
        }
    }
    Ok(())
}

fn progress_bar(entries: u64, visibly: bool) -> ProgressBar {
    if !visibly {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} entries, {elapsed} {msg}")
        .expect("the template is sound");
    ProgressBar::new(entries).with_style(style)
}
