//! Four screens at once: two clerks, a kiosk and the manager's report. Whatever they do in whatever order, the capacity, the bookings,
//! the check-ins and the reports say the same as a model that counts along.

use super::{Clerk, kiosk};
use crate::bad_input::dice::Dice;
use crate::harness::{Caller, Site};
use std::collections::BTreeMap;
use std::time::Duration;

const STEPS: u64 = 250;
const CAPACITY: i64 = 15;
const QUARTER_SECONDS: i64 = 900;
const MINUTES: [i64; 4] = [2, 5, 10, 20];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Booked {
    flyer: i64,
    at: i64,
    minutes: i64,
    ended: Option<String>,
    here: bool,
}

struct Hall {
    site: Site,
    staff: [Caller; 2],
    clerks: [Clerk; 2],
    manager: Clerk,
    boss: Caller,
    kiosk: Clerk,
    flyers: Vec<Caller>,
    model: BTreeMap<i64, Booked>,
    done: BTreeMap<&'static str, usize>,
}

impl Hall {
    fn open() -> Hall {
        let site = Site::open_with(|config| {
            config.demo = true;
            config.minutes_per_quarter_hour = CAPACITY;
            config.kiosk_minutes = MINUTES.to_vec();
            // A day ends at midnight, as in the report: at night *Today* would show the evening before too.
            config.evening_until_hour = 0;
        });
        let (staff, boss) = ([site.desk(), site.desk()], site.admin());
        let clerks = [Clerk::at(&site, &staff[0]), Clerk::at(&site, &staff[1])];
        let (manager, kiosk) = (Clerk::at(&site, &boss), kiosk::paired(&site));
        let flyers = ["ann", "ben", "cleo", "dan", "eve", "fred"].map(|name| site.member(name)).into();
        Hall { site, staff, clerks, manager, boss, kiosk, flyers, model: BTreeMap::new(), done: BTreeMap::new() }
    }

    fn sign_in_anew(&mut self) {
        self.clerks = [Clerk::at(&self.site, &self.staff[0]), Clerk::at(&self.site, &self.staff[1])];
        self.manager = Clerk::at(&self.site, &self.boss);
    }

    /// Whether these minutes can be flown in the quarter of an hour too.
    fn has_room(&self, at: i64, minutes: i64) -> bool {
        let quarter = at - at.rem_euclid(QUARTER_SECONDS);
        let of = |one: &&Booked| one.ended.is_none() && (quarter..quarter + QUARTER_SECONDS).contains(&one.at);
        let booked: i64 = self.model.values().filter(of).map(|one| one.minutes).sum();
        booked == 0 || booked + minutes <= CAPACITY
    }

    /// Whether a booking has room at another time or length; what it takes up already is its own.
    fn has_room_beside(&self, one: &Booked, at: i64, minutes: i64) -> bool {
        let quarter = |at: i64| at - at.rem_euclid(QUARTER_SECONDS);
        if quarter(one.at) != quarter(at) {
            return self.has_room(at, minutes);
        }
        let others = |other: &&Booked| *other != one && other.ended.is_none() && quarter(other.at) == quarter(at);
        let booked: i64 = self.model.values().filter(others).map(|other| other.minutes).sum();
        minutes <= one.minutes || booked == 0 || booked + minutes <= CAPACITY
    }

    /// Notes the newest booking of the site, which `flyer` was to get now.
    fn note_new(&mut self, flyer: i64, minutes: i64, here: bool) {
        let id = self.site.change(|tx| Ok(tx.get::<i64>("SELECT coalesce(max(booking_id), 0) FROM bookings", [])?));
        let new = Booked { flyer, at: self.site.now(), minutes, ended: None, here };
        assert_eq!(self.model.insert(id, new), None, "it is a new booking");
    }

    /// A walk-in at one of the two desks. A clerk who is asked about the day or about the quarter says yes at times.
    fn walk_in(&mut self, dice: &mut Dice) {
        let (flyer, minutes) = (dice.below(self.flyers.len()), MINUTES[dice.below(MINUTES.len())]);
        let (room, number) = (self.has_room(self.site.now(), minutes), self.site.next_number().to_string());
        let (name, length, agrees) = (self.flyers[flyer].name.clone(), minutes.to_string(), dice.one_in(3));
        let mut asked: Vec<(&str, String)> = Vec::new();
        for _ in 0..4 {
            let mut form = vec![("member", &*name), ("minutes", &*length), ("here", "1"), ("number", &*number)];
            form.extend(asked.iter().map(|(name, value)| (*name, value.as_str())));
            let reply = self.clerks[dice.below(2)].post("/desk/bookings", &form);
            if reply.status == 303 {
                let knew = asked.iter().any(|(name, _)| *name == "full_quarter");
                assert!(room || knew, "the quarter was full, and nobody was asked");
                return self.note_new(self.flyers[flyer].id, minutes, true);
            }
            assert_eq!(reply.status, 422, "{reply}");
            let page = reply.page();
            let hidden = |name: &str| {
                let value = page.split(&format!("name=\"{name}\" value=\"")).nth(1)?.split('"').next()?.to_owned();
                Some(value).filter(|value| !value.is_empty())
            };
            let now: Vec<(&str, String)> =
                ["beside", "full_quarter"].into_iter().filter_map(|name| Some((name, hidden(name)?))).collect();
            if now.iter().any(|(name, _)| *name == "full_quarter") {
                assert!(!room, "there was room, and the clerk was asked");
                if !agrees {
                    return;
                }
            }
            if now == asked {
                return;
            }
            asked = now;
        }
    }

    fn at_kiosk(&mut self, dice: &mut Dice) {
        let (flyer, minutes) = (dice.below(self.flyers.len()), MINUTES[dice.below(MINUTES.len())]);
        self.kiosk.post("/kiosk/leave", &[]);
        let (pin, number) = (self.site.pin(&self.flyers[flyer]), self.flyers[flyer].id.to_string());
        assert_eq!(self.kiosk.post("/kiosk/number", &[("number", &number), ("pin", &pin)]).status, 303);
        if dice.one_in(3) {
            let own: Vec<i64> =
                self.model.iter().filter(|(_, one)| one.flyer == self.flyers[flyer].id).map(|(id, _)| *id).collect();
            if let Some(id) = own.get(dice.below(own.len().max(1))).copied() {
                let taken = self.kiosk.post(&format!("/kiosk/bookings/{id}/check-in"), &[]).status == 303;
                if taken {
                    self.model.get_mut(&id).unwrap().here = true;
                }
            }
            return;
        }
        let today = self.model.values().filter(|one| one.flyer == self.flyers[flyer].id).count();
        let room = self.has_room(self.site.now(), minutes);
        let form = [("minutes", minutes.to_string()), ("number", self.site.next_number().to_string())];
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let taken = self.kiosk.post("/kiosk/book", &form).status == 303;
        assert!(room || !taken, "a kiosk offers only what is free");
        assert!(taken || !room || today >= 12, "a kiosk books what is free");
        if taken {
            self.note_new(self.flyers[flyer].id, minutes, true);
        }
    }

    fn on_booking(&mut self, dice: &mut Dice, act: &'static str) {
        let ids: Vec<i64> = self.model.keys().copied().collect();
        let Some(id) = ids.get(dice.below(ids.len().max(1))).copied() else { return };
        let (minutes, later) = (MINUTES[dice.below(MINUTES.len())], self.site.now() + 900 * dice.below(8) as i64);
        let (length, at) = (minutes.to_string(), later - later.rem_euclid(60));
        let moment = jiff::Timestamp::from_second(at).unwrap().in_tz("UTC").unwrap();
        let (day, clock) = (moment.strftime("%Y-%m-%d").to_string(), moment.strftime("%H:%M").to_string());
        let form = [("day", &*day), ("clock", &*clock), ("minutes", &*length)];
        let form: &[(&str, &str)] = if act == "move" { &form } else { &[] };
        let one = &self.model[&id];
        let room = match act {
            "move" => self.has_room_beside(one, at, minutes),
            "reinstate" => {
                one.ended.is_none()
                    || one.at - one.at.rem_euclid(QUARTER_SECONDS) + QUARTER_SECONDS <= self.site.now()
                    || self.has_room(one.at, one.minutes)
            }
            _ => true,
        };
        let (path, clerk) = (format!("/desk/bookings/{id}/{act}"), &self.clerks[dice.below(2)]);
        let mut reply = clerk.post(&path, form);
        let page = if reply.status == 409 { reply.page() } else { String::new() };
        if page.contains("name=\"full_quarter\"") {
            assert!(!room, "there was room, and the clerk was asked");
            let begins = super::till::field(&page, "full_quarter");
            if dice.one_in(2) {
                return;
            }
            reply = clerk.post(&path, &[form, &[("full_quarter", &*begins)]].concat());
        } else {
            assert!(room || reply.status != 303, "the quarter was full, and nobody was asked");
        }
        if reply.status != 303 {
            return;
        }
        *self.done.entry(act).or_default() += 1;
        let one = self.model.get_mut(&id).unwrap();
        match act {
            "cancel" => one.ended = Some("cancelled".to_owned()),
            "no-show" => one.ended = Some("no_show".to_owned()),
            "reinstate" => one.ended = None,
            "check-in" => one.here = true,
            "check-in/undo" => one.here = false,
            _ => (one.at, one.minutes) = (at, minutes),
        }
    }

    fn step(&mut self, dice: &mut Dice) -> &'static str {
        let acts = ["cancel", "no-show", "reinstate", "check-in", "check-in/undo", "move"];
        match dice.below(12) {
            0..=2 => {
                self.walk_in(dice);
                "walk in"
            }
            3..=4 => {
                self.at_kiosk(dice);
                "kiosk"
            }
            5 => {
                self.site.advance(Duration::from_secs(60 * dice.below(20) as u64));
                "time"
            }
            other => {
                self.on_booking(dice, acts[other - 6]);
                acts[other - 6]
            }
        }
    }

    /// What the database, *Today* and the report say, beside the model.
    fn compare(&self, what: &str) {
        let sql =
            "SELECT booking_id, member_id, flight_date, minutes_booked, ended_as, arrived_at IS NOT NULL FROM bookings";
        type Row = ((i64, i64, i64, i64), (Option<String>, bool));
        let rows: Vec<Row> = self.site.change(|tx| Ok(tx.list(sql, [])?));
        let rows: BTreeMap<i64, Booked> = rows
            .into_iter()
            .map(|((id, flyer, at, minutes), (ended, here))| (id, Booked { flyer, at, minutes, ended, here }))
            .collect();
        assert_eq!(rows, self.model, "the bookings after {what}");
        let count = |is: &dyn Fn(&&Booked) -> bool| self.model.values().filter(is).count();
        let ended = |word: &str| count(&|one: &&Booked| one.ended.as_deref() == Some(word));
        let expected = [
            ("bookings,all,", self.model.len()),
            ("bookings,arrived,", count(&|one| one.here)),
            ("bookings,no_show,", ended("no_show")),
            ("bookings,cancelled,", ended("cancelled")),
        ];
        let day = |moment: i64| jiff::Timestamp::from_second(moment).unwrap().strftime("%Y-%m-%d").to_string();
        let first = self.model.values().map(|one| one.at).min().unwrap_or(self.site.now());
        let last = self.model.values().map(|one| one.at).max().unwrap_or(self.site.now()).max(self.site.now());
        let report = self.manager.get(&format!("/desk/reports/hall.csv?from={}&to={}", day(first), day(last)));
        let report = String::from_utf8(report.body).unwrap();
        for (row, figure) in expected {
            assert!(
                report.lines().any(|line| line == format!("{row},{figure}")),
                "{row}{figure} after {what}: {report}"
            );
        }
        let today = day(self.site.now());
        // Whoever did not come was expected.
        let of_today = |one: &&Booked| day(one.at) == today && one.ended.as_deref() != Some("cancelled");
        let (here, due) = (count(&|one| of_today(one) && one.here), count(&|one| of_today(one)));
        for clerk in &self.clerks {
            let page = clerk.get(&format!("/desk?day={today}")).page();
            assert!(page.contains(&format!("{here} of {due} are here")), "{here} of {due} after {what}: {page}");
        }
    }
}

#[test]
fn capacity_bookings_check_ins_and_reports_agree_whatever_four_screens_do() {
    let number = |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (steps, seed) = (number("TUNNELDESK_SCREEN_STEPS", STEPS), number("TUNNELDESK_SEED", 1));
    let (mut hall, mut dice) = (Hall::open(), Dice::new(seed, "four screens"));
    for n in 0..steps {
        hall.site.reset_rate_limits();
        if n % 20 == 0 {
            hall.sign_in_anew();
        }
        let what = hall.step(&mut dice);
        *hall.done.entry(what).or_default() += 1;
        hall.site.change(|tx| Ok(tx.run("DELETE FROM throttles", [])?));
        hall.compare(&format!("step {n} of seed {seed}, {what}"));
    }
    eprintln!("{steps} steps, {} bookings: {:?}", hall.model.len(), hall.done);
}
