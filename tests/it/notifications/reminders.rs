//! Reminders that a currency ends: each is sent once, whenever and however often the job runs.

use super::NOTIFICATIONS;
use crate::harness::{Caller, Site, senders};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;
use tunneldesk::domain::currency;
use tunneldesk::domain::ids::{EntryId, MemberId, MessageId};
use tunneldesk::domain::local_time::TimeZone;
use tunneldesk::jobs::reminders::{self, Reminded};
use tunneldesk::moment::Moment;
use tunneldesk::store::tables::entries::{self, NewTime};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn run(site: &Site) -> Reminded {
    reminders::run(&site.for_a_job(), false, &|| false).unwrap()
}

fn pass(site: &Site, seconds: i64) {
    site.advance(Duration::from_secs(seconds.unsigned_abs()));
}

fn fly(site: &Site, member: &Caller, at: i64) -> i64 {
    let time = NewTime { entry_date: Moment(at), minutes: 5, tunnel_id: Site::TUNNEL_ID, comment: String::new() };
    site.change(|tx| Ok(entries::insert_time(tx, MemberId(member.id), MemberId(member.id), None, &time)?)).0
}

fn train(site: &Site, member: &Caller, logbook: &str, at: i64) {
    let sql = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, created_at, updated_at)
               VALUES (?1, 'safety', 'open', ?2, ?3, ?1, ?4, '1', '1', ?2, ?2)";
    site.change(|tx| Ok(tx.run(sql, (member.id, at, Site::TUNNEL_ID, logbook))?));
}

/// A member who holds these programmes, and has neither flown nor trained.
fn holder(site: &Site, name: &str, programmes: &[&str]) -> Caller {
    let member = site.member(name);
    for programme in programmes {
        site.hold(&member, programme, "1", "", site.now());
    }
    member
}

#[test]
fn a_flyer_hears_twice_before_the_currency_ends_and_again_after_the_next_flight() {
    let site = Site::open();
    let jane = holder(&site, "jane", &["Flyer"]);
    fly(&site, &jane, site.now());
    let told = |days: i64| {
        pass(&site, days * DAY);
        (0..3).map(|_| run(&site).reminders.len()).collect::<Vec<_>>()
    };
    assert_eq!(told(149), [0, 0, 0]);
    assert_eq!(told(1), [1, 0, 0]);
    assert_eq!(told(21), [0, 0, 0]);
    assert_eq!(told(1), [1, 0, 0]);
    let first = ["notice.currency_flyer", "notice.currency_flyer_last"];
    assert_eq!(site.notices(&jane), first);
    fly(&site, &jane, site.now());
    assert_eq!(told(149), [0, 0, 0]);
    assert_eq!(told(1), [1, 0, 0]);
    assert_eq!(told(22), [1, 0, 0]);
    assert_eq!(told(400), [0, 0, 0]);
    assert_eq!(site.notices(&jane), [first, first].concat());
}

#[test]
fn a_lapse_and_the_return_are_told_once_as_events_and_no_notice_says_so() {
    let site = Site::open();
    let jane = holder(&site, "jane", &["Flyer"]);
    fly(&site, &jane, site.now());
    let told = || {
        run(&site);
        let sql = "SELECT type || ' ' || (data ->> 'programme') FROM events WHERE type GLOB 'currency.*' ORDER BY seq";
        site.change(|tx| Ok(tx.list::<String>(sql, [])?))
    };
    pass(&site, 172 * DAY);
    assert_eq!(told(), ["currency.due Flyer"]);
    pass(&site, 10 * DAY);
    for _ in 0..2 {
        assert_eq!(told(), ["currency.due Flyer", "currency.lapsed Flyer"]);
    }
    pass(&site, 300 * DAY);
    tunneldesk::jobs::purge_all_expired(site.inside()).unwrap();
    let jane = site.again(&jane);
    for minutes in [5, 6] {
        let body = json!({ "entry_date": site.now(), "tunnel": "7", "comment": "", "time": minutes });
        jane.post("/account/logbook/time/", body).ok();
    }
    assert_eq!(told().last().map(String::as_str), Some("currency.restored Flyer"));
    assert_eq!(told().iter().filter(|one| one.starts_with("currency.restored")).count(), 1);
    assert_eq!(site.notices(&jane), ["notice.currency_flyer_last"]);
}

#[test]
fn what_was_missed_whole_says_nothing_any_more() {
    let site = Site::open();
    let jane = holder(&site, "jane", &["Flyer"]);
    fly(&site, &jane, site.now());
    pass(&site, 175 * DAY);
    assert_eq!(run(&site).reminders.len(), 1);
    assert_eq!(site.notices(&jane), ["notice.currency_flyer_last"], "a month's notice five days before would be a lie");
    let mark = holder(&site, "mark", &["Flyer"]);
    fly(&site, &mark, site.now());
    pass(&site, 181 * DAY);
    assert_eq!(run(&site).reminders.len(), 0, "it has ended");
    assert!(site.notices(&mark).is_empty());
}

#[test]
fn a_booked_flight_is_not_flown_and_a_deleted_one_was_not() {
    let site = Site::open();
    let (jane, mark) = (holder(&site, "jane", &["Flyer"]), holder(&site, "mark", &["Flyer"]));
    fly(&site, &jane, site.now());
    fly(&site, &mark, site.now());
    pass(&site, 151 * DAY);
    fly(&site, &jane, site.now() + 3 * DAY);
    let entry_id = fly(&site, &mark, site.now());
    assert_eq!(run(&site).reminders.iter().map(|(member_id, _)| *member_id).collect::<Vec<_>>(), [MemberId(jane.id)]);
    site.change(|tx| Ok(entries::delete(tx, EntryId(entry_id))?));
    assert_eq!(run(&site).reminders.iter().map(|(member_id, _)| *member_id).collect::<Vec<_>>(), [MemberId(mark.id)]);
}

#[test]
fn a_half_year_turns_at_midnight_by_the_clock_of_the_site() {
    let site = Site::open();
    site.change(|tx| Ok(tx.run("UPDATE tunnels SET time_zone = 'Pacific/Auckland'", [])?));
    let ines = holder(&site, "ines", &["Instructor"]);
    train(&site, &ines, "Instructor", site.now());
    // Midnight of 16 January 2027 in Auckland: eleven in the morning of the day before in UTC.
    let turn = 1_800_010_800;
    pass(&site, turn - 1 - site.now());
    let current_and_valid = || {
        let ines = site.again(&ines);
        let profile = ines.get("/account/profile/user").ok().json();
        let trained = ines.get(&format!("/account/logbook/instructor-safety/{}", ines.id)).ok().json();
        assert_eq!(
            (&profile["currency_renewal_date_instructor"], &trained[0]["valid_until"]),
            (&json!(turn - 1), &json!(turn - 1)),
            "the last second"
        );
        (profile["currency_instructor"].clone(), trained[0]["in_force"].clone())
    };
    assert_eq!(current_and_valid(), (json!(1), json!(true)));
    pass(&site, 1);
    assert_eq!(current_and_valid(), (json!(0), json!(false)));
}

#[test]
fn trainings_are_announced_a_month_and_a_week_before_they_run_out() {
    let site = Site::open();
    let half_year = [("Coach", "Coach"), ("Instructor", "Instructor")];
    let year = [("Trainer", "Trainer"), ("Examiner", "Trainer"), ("Military", "Military")];
    for (programme, logbook) in half_year.into_iter().chain(year) {
        let member = holder(&site, &programme.to_lowercase(), &[programme]);
        train(&site, &member, logbook, site.now());
        let renewal = currency::training_ends(logbook, Moment(site.now()), &TimeZone::UTC).unwrap().0;
        // Another training in the same cycle, or on the same day, ends at the same time: one reminder.
        train(&site, &member, logbook, site.now());
        let start = site.now();
        let told_at = |moment: i64| {
            pass(&site, moment - site.now());
            run(&site);
            run(&site);
            site.notices(&member).len()
        };
        assert_eq!(
            // The renewal is the last second of a day, and a reminder is due from the beginning of its day.
            [renewal - 31 * DAY, renewal - 31 * DAY + 1, renewal - 8 * DAY, renewal - 8 * DAY + 1, renewal + DAY]
                .map(told_at),
            [0, 1, 1, 2, 2],
            "{programme}, from {start}"
        );
        let rows = site.again(&member).get(NOTIFICATIONS).ok().json();
        assert_eq!(rows[0]["detail"], json!({ "programme": programme, "renewal_date": renewal }));
    }
}

#[test]
fn who_is_banned_or_holds_nothing_is_not_called_back() {
    let site = Site::open();
    let (jane, mark) = (holder(&site, "jane", &["Flyer"]), holder(&site, "mark", &[]));
    for member in [&jane, &mark] {
        fly(&site, member, site.now());
    }
    site.ban(&jane);
    pass(&site, 160 * DAY);
    assert_eq!(run(&site).reminders.len(), 0);
}

#[test]
fn a_dry_run_says_who_and_changes_nothing() {
    let site = Site::open();
    let jane = holder(&site, "jane", &["Flyer", "Trainer"]);
    fly(&site, &jane, site.now());
    train(&site, &jane, "Trainer", site.now() - 190 * DAY);
    pass(&site, 151 * DAY);
    let rows = site.rows();
    let would = reminders::run(&site.for_a_job(), true, &|| false).unwrap();
    assert_eq!(site.rows(), rows);
    assert_eq!(would.reminders.iter().map(|(_, one)| one.programme).collect::<Vec<_>>(), ["Flyer", "Trainer"]);
    assert_eq!(run(&site).reminders, would.reminders);
    assert!(reminders::run(&site.for_a_job(), true, &|| false).unwrap().reminders.is_empty());
}

#[test]
fn runs_at_the_same_time_give_each_reminder_once() {
    let site = Site::open();
    let members: Vec<Caller> = (0..40).map(|n| holder(&site, &format!("flyer{n}"), &["Flyer"])).collect();
    for member in &members {
        fly(&site, member, site.now());
    }
    pass(&site, 155 * DAY);
    let given: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                let job = site.for_a_job();
                scope.spawn(move || reminders::run(&job, false, &|| false).unwrap().reminders.len())
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert_eq!(given, members.len());
    assert!(members.iter().all(|member| site.notices(member) == ["notice.currency_flyer"]));
}

#[test]
fn a_run_is_more_than_one_transaction_and_loses_nobody_between() {
    let site = Site::open();
    let jane = holder(&site, "jane", &["Flyer"]);
    // A thousand flights in one day: more than one step of the job reads.
    site.change(|tx| {
        let member = "INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at)
                      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                      SELECT 'many' || i, 'x', 'x', 'x' || i || '@example.com', ?1, ?1 FROM n";
        tx.run(member, [tx.now()])?;
        let hold = "INSERT INTO holdings (member_id, cat_group, cat_id, track, since)
                    SELECT member_id, 'Flyer', '1', '', ?1 FROM members WHERE username GLOB 'many*'";
        tx.run(hold, [tx.now()])?;
        let flight = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
                      SELECT member_id, 'time', 'open', ?1, 5, ?2, member_id, ?1, ?1 FROM members WHERE username GLOB 'many*'";
        Ok(tx.run(flight, (tx.now(), Site::TUNNEL_ID))?)
    });
    fly(&site, &jane, site.now() + 1);
    pass(&site, 150 * DAY + 1);
    assert_eq!(run(&site).reminders.len(), 1201);
    assert_eq!(run(&site).reminders.len(), 0);
}

#[test]
fn with_a_clock_that_is_behind_it_waits() {
    let site = Site::open();
    let jane = holder(&site, "jane", &["Flyer"]);
    fly(&site, &jane, site.now());
    pass(&site, 160 * DAY);
    site.set_back(Duration::from_secs(30 * 86_400));
    assert_eq!(run(&site).reminders.len(), 0);
    pass(&site, 30 * DAY);
    assert_eq!(run(&site).reminders.len(), 1);
}

fn with_mail() -> Site {
    Site::open_with(|config| config.mail = Some(senders::mail_to_nowhere()))
}

#[test]
fn a_confirmed_address_gets_a_mail_too_in_the_language_of_the_last_sign_in() {
    let site = with_mail();
    let (jane, mark) = (holder(&site, "jane", &["Flyer"]), holder(&site, "mark", &["Flyer"]));
    let body = json!({ "username": "jane", "password": crate::harness::PASSWORD });
    let asking = site.stranger();
    asking.ask(http::Method::POST, "/auth/login").header("accept-language", "fr").json(&body).send().ok();
    for member in [&jane, &mark] {
        fly(&site, member, site.now());
    }
    site.unconfirm(&mark);
    pass(&site, 150 * DAY);
    let given = run(&site);
    assert_eq!((given.reminders.len(), given.mails), (2, 1));
    let [mail] = &site.mails()[..] else { panic!("{:?}", site.mails()) };
    assert_eq!((&mail["recipient"], &mail["template"]), (&json!("jane@example.com"), &json!("notice")));
    let letter = site.change(|tx| Ok(tunneldesk::store::tables::outbox::find(tx, MessageId(1))?)).unwrap();
    let letter = tunneldesk::jobs::outbox::render_message(&site.for_a_job(), &letter).unwrap();
    assert_eq!(letter.subject, "Windwerk\u{202f}: à jour comme pilote jusqu'au 24 novembre 2026");
    assert!(
        letter.text.starts_with("Bonjour,\n\nVous êtes à jour comme pilote jusqu'au 24 novembre 2026 inclus"),
        "{}",
        letter.text
    );
    assert_eq!(run(&site).mails, 0);
    assert_eq!(site.mails().len(), 1);
}

/// The events of the model test, in random order.
#[derive(Debug, Clone)]
enum Step {
    Pass { hours: i64 },
    Fly { who: usize, ago: i64 },
    Unfly { who: usize },
    Train { who: usize },
    Run { times: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (1..20 * 24_i64).prop_map(|hours| Step::Pass { hours }),
        1 => (0..PEOPLE.len(), 0..40_i64).prop_map(|(who, ago)| Step::Fly { who, ago }),
        1 => (0..PEOPLE.len()).prop_map(|who| Step::Unfly { who }),
        1 => (0..PEOPLE.len()).prop_map(|who| Step::Train { who }),
        5 => (1..4_usize).prop_map(|times| Step::Run { times }),
    ];
    proptest::collection::vec(step, 120..200)
}

/// The programme that each person holds, and the logbook of its trainings. A Flyer's trainings do not keep the
/// programme current.
const PEOPLE: [(&str, &str); 4] = [("Flyer", "Flyer"), ("Flyer", "Flyer"), ("Coach", "Coach"), ("Examiner", "Trainer")];

/// A member in the test's model, without rows, indexes and steps.
struct Life {
    /// Flight times by entry.
    flights: BTreeMap<i64, i64>,
    trainings: Vec<i64>,
    /// `subject` and renewal of every reminder, in the order in which they came.
    told: Vec<(String, i64)>,
}

impl Life {
    /// Computes, independently of the product, the end of the currency, and the days before it on which the first and
    /// the last reminder are due.
    fn hear(&mut self, programme: &str, logbook: &str, now: i64) {
        let (end, days, name) = if programme == "Flyer" {
            let last = self.flights.values().filter(|at| **at <= now).max();
            (last.map(|at| (at.div_euclid(DAY) + 181) * DAY - 1), [30, 8], "flyer")
        } else {
            let last = self.trainings.iter().filter(|at| **at <= now).max();
            let ends = last.map(|at| currency::training_ends(logbook, Moment(*at), &TimeZone::UTC));
            (ends.flatten().map(|end| end.0), [30, 7], "training")
        };
        // A reminder is due from the beginning of its day, that many days before the last.
        let begins = |end: i64, days: i64| end + 1 - (days + 1) * DAY;
        let Some(end) = end.filter(|end| begins(*end, days[0]) <= now && now <= *end) else { return };
        let last = if begins(end, days[1]) <= now { "_last" } else { "" };
        let word = (format!("notice.currency_{name}{last}"), end);
        if !self.told.contains(&word) {
            self.told.push(word);
        }
    }
}

#[test]
fn at_whatever_moments_and_however_often_it_runs_each_due_notice_comes_once() {
    let mut runner = TestRunner::new(Cases { cases: 24, failure_persistence: None, ..Cases::default() });
    let reminded = Cell::new(0);
    let outcome = runner.run(&steps(), |steps| {
        let site = Site::open();
        let people: Vec<Caller> = PEOPLE
            .iter()
            .enumerate()
            .map(|(n, (programme, _))| holder(&site, &format!("member{n}"), &[*programme]))
            .collect();
        let begin = |(member, (_, logbook)): (&Caller, (&str, &str))| {
            train(&site, member, logbook, site.now());
            let flights = BTreeMap::from([(fly(&site, member, site.now()), site.now())]);
            Life { flights, trainings: vec![site.now()], told: Vec::new() }
        };
        let mut lives: Vec<Life> = people.iter().zip(PEOPLE).map(begin).collect();
        for step in steps {
            match step {
                Step::Pass { hours } => pass(&site, hours * HOUR),
                Step::Fly { who, ago } => {
                    let at = site.now() - ago * DAY;
                    lives[who].flights.insert(fly(&site, &people[who], at), at);
                }
                Step::Unfly { who } => {
                    if let Some((entry_id, _)) = lives[who].flights.pop_last() {
                        site.change(|tx| Ok(entries::delete(tx, EntryId(entry_id))?));
                    }
                }
                Step::Train { who } => {
                    lives[who].trainings.push(site.now());
                    train(&site, &people[who], PEOPLE[who].1, site.now());
                }
                Step::Run { times } => {
                    (0..times).for_each(|_| _ = run(&site));
                    for (life, (programme, logbook)) in lives.iter_mut().zip(PEOPLE) {
                        life.hear(programme, logbook, site.now());
                    }
                }
            }
        }
        for (life, member) in lives.iter().zip(&people) {
            let rows = site.again(member).get(&format!("{NOTIFICATIONS}?limit=500")).ok().json();
            let told: Vec<(String, i64)> = rows
                .as_array()
                .unwrap()
                .iter()
                .rev()
                .map(|row| {
                    (
                        format!("notice.{}", row["kind"].as_str().unwrap()),
                        row["detail"]["renewal_date"].as_i64().unwrap(),
                    )
                })
                .collect();
            prop_assert_eq!(&told, &life.told);
            reminded.set(reminded.get() + told.len());
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(reminded.get() > 60, "the lives were too quiet to show anything: {reminded:?}");
}

#[test]
fn a_flight_a_membership_and_a_waiver_are_reminded_of_once_as_the_member_chose() {
    let site = Site::open_with(|config| {
        config.yearly_fee_cents = 3_000;
        config.mail = Some(senders::mail_to_nowhere());
    });
    let (jane, joe) = (site.member("jane"), site.member("joe"));
    let flight = site.now() + 3 * DAY;
    let book = |member: &Caller| {
        site.change(|tx| {
            Ok(tx.run(
                "INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
                 VALUES ((SELECT min(partner_id) FROM partners), ?1, ?2, 10, ?3, ?4, ?4)",
                (member.id, flight, Site::TUNNEL_ID, site.now()),
            )?)
        })
    };
    site.partner();
    book(&jane);
    book(&joe);
    let sql = "UPDATE members SET reminded_by = iif(member_id = ?2, 'none', 'email'), paid_until = iif(member_id = ?1, ?3, NULL)";
    let ends = site.end_of_day(site.now() + 16 * DAY);
    site.change(|tx| Ok(tx.run(sql, (jane.id, joe.id, ends))?));
    assert_eq!(run(&site).reminders.len(), 0, "three days before");
    pass(&site, 2 * DAY);
    let first = run(&site);
    assert_eq!((first.reminders.len(), first.mails), (3, 2), "two flights and a membership: {first:?}");
    assert_eq!(run(&site).reminders.len(), 0, "once");
    assert_eq!(site.notices(&jane), ["notice.flight_near", "notice.membership_ends"]);
    assert_eq!(site.notices(&joe), ["notice.flight_near"], "a member who wants no messages finds it in the app");
    pass(&site, 12 * DAY);
    assert_eq!(run(&site).reminders.len(), 1, "the membership's last");
}
