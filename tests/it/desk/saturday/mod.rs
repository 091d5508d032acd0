//! A whole Saturday: two desks, 300 arrivals of which 20 are new members, 5 no-shows, 12 fees, 30 signatures, and a day closing.
//! In the evening, pages and CSV files are compared with what the test did.

mod evening;

use super::Clerk;
use super::till::{close, field};
use crate::harness::{Caller, PASSWORD, Site};
use evening::{check_reports, check_till, check_traces};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tunneldesk::store::tables::{entries, members};

const FEE_CENTS: i64 = 4_535;
const FLOAT_CENTS: i64 = 15_000;
/// Saturday, 30 May 2026, in Zurich.
const SATURDAY: &str = "2026-05-30";
const SUNDAY: &str = "2026-05-31";
/// Bookings made on Friday evening; two of these are cancelled and two moved to Sunday.
const BOOKED: usize = 284;
const NEW: usize = 20;
const HOURS: std::ops::Range<usize> = 9..19;
const DAY: i64 = 86_400;

/// The next task of one of the two desks.
#[derive(Debug, Clone)]
enum Task {
    Book {
        place: usize,
        member: i64,
        minutes: i64,
        clock: String,
    },
    CheckIn(i64),
    Register(usize),
    Pay {
        member: i64,
        kind: &'static str,
        reason: &'static str,
    },
    /// Records a brief and two skills.
    Record(i64),
    Fly {
        member: i64,
        minutes: i64,
    },
    NoShow(i64),
}

/// A person with a booking for Saturday.
#[derive(Debug, Clone, Copy)]
struct Booked {
    booking: i64,
    member: i64,
    minutes: i64,
    hour: usize,
    /// Whether the member is a current flyer, whose booking puts the minutes into the logbook.
    current: bool,
}

fn location(clerk: &Clerk, path: &str, fields: &[(&str, &str)]) -> String {
    let reply = clerk.post(path, fields);
    assert_eq!(reply.status, 303, "{path} {fields:?}: {reply}");
    reply.header("location").expect("it leads on").to_owned()
}

/// Carries a task out. Returns the number of the booking or the member that it made, or 0.
fn carry_out(clerk: &Clerk, task: &Task) -> i64 {
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).expect("a number");
    match task {
        Task::Book { place, member, minutes, clock } => {
            let (form, member, minutes) = ((place + 1).to_string(), member.to_string(), minutes.to_string());
            let fields = [
                ("number", &*form),
                ("member", &*member),
                ("minutes", &*minutes),
                ("day", SATURDAY),
                ("clock", clock.as_str()),
            ];
            let reply = super::book_beside(clerk, &fields);
            assert_eq!(reply.status, 303, "{fields:?}: {reply}");
            let place = reply.header("location").expect("it leads on").to_owned();
            number(place.split("&booking=").nth(1).and_then(|rest| rest.split('#').next()))
        }
        Task::CheckIn(booking) => {
            location(clerk, &format!("/desk/bookings/{booking}/check-in"), &[]);
            0
        }
        Task::Register(place) => {
            let form = field(&clerk.get("/desk/new-member").page(), "number");
            let (name, email) = (format!("Newcomer {}", spelt(*place)), format!("new{place}@example.org"));
            let fields = [
                ("real_name", &*name),
                ("email", &*email),
                ("dob", "1990-01-01"),
                ("language", "de"),
                ("terms", "1"),
                ("minutes", "10"),
                ("number", &*form),
            ];
            let place = location(clerk, "/desk/new-member", &fields);
            number(place.strip_prefix("/desk/members/").and_then(|rest| rest.split('/').next()))
        }
        Task::Pay { member, kind, reason } => super::till::pay(clerk, *member, kind, reason),
        Task::Record(member) => {
            let path = format!("/desk/members/{member}/record");
            let page = clerk.get(&path).page();
            let brief = page.split("name=\"skill\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            let fields = [
                ("skill", "10101"),
                ("skill", "10102"),
                ("skill", brief),
                ("username", "ines"),
                ("password", PASSWORD),
            ];
            location(clerk, &path, &fields);
            0
        }
        Task::Fly { member, minutes } => {
            location(clerk, &format!("/desk/members/{member}/time"), &[("minutes", &minutes.to_string())]);
            0
        }
        Task::NoShow(booking) => {
            location(clerk, &format!("/desk/bookings/{booking}/no-show"), &[]);
            0
        }
    }
}

/// Letters for a number, so that all names differ.
fn spelt(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(b'a' + (digit - b'0') * 2)).collect::<String>().repeat(3)
}

/// Both desks work at once, each through its own tasks in order. Returns the numbers that they made.
fn at_once(desks: &mut [Clerk; 2], tasks: [Vec<Task>; 2]) -> [Vec<i64>; 2] {
    let [first, second] = desks;
    let run = |clerk: &mut Clerk, tasks: Vec<Task>| tasks.iter().map(|task| carry_out(clerk, task)).collect();
    let [one, other] = tasks;
    std::thread::scope(|scope| {
        let beside = scope.spawn(move || run(second, other));
        [run(first, one), beside.join().expect("the second desk goes on")]
    })
}

/// Deals the tasks to the two desks in turn.
fn dealt(tasks: impl IntoIterator<Item = Task>) -> [Vec<Task>; 2] {
    let mut hands = [Vec::new(), Vec::new()];
    tasks.into_iter().enumerate().for_each(|(place, task)| hands[place % 2].push(task));
    hands
}

fn go_to(site: &Site, day: &str, clock: &str) {
    let zone = site.inside().time_zone().unwrap();
    let at = zone.at_clock(zone.start_of_date(day).unwrap(), clock).unwrap();
    site.advance(Duration::from_secs((at.0 - site.now()).try_into().expect("time goes forwards")));
}

/// Members who book: every second one is a current flyer whose membership is paid.
fn guests(site: &Site) -> Vec<i64> {
    site.change(|tx| {
        let one = |place: usize| {
            let (name, email) = (format!("guest{place}"), format!("guest{place}@example.com"));
            let new = members::NewMember {
                username: &name,
                screen_name: &name,
                real_name: &name,
                email: &email,
                tunnel_id: Some(Site::TUNNEL_ID),
                ..Default::default()
            };
            let id = members::insert(tx, &new)?;
            members::confirm_email(tx, id)?;
            if place.is_multiple_of(2) {
                let hold = "INSERT INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, 'Flyer', '1', '', ?2)";
                tx.run(hold, (id, tx.now() - 20 * DAY))?;
                let time = entries::NewTime {
                    entry_date: tx.now() - 10 * DAY,
                    minutes: 10,
                    tunnel_id: Site::TUNNEL_ID,
                    comment: String::new(),
                };
                entries::insert_time(tx, id, id, None, &time)?;
                members::set_paid_until(tx, id, Some(tx.now() + 100 * DAY))?;
            }
            Ok(id.0)
        };
        (0..BOOKED).map(one).collect()
    })
}

/// On Friday both desks book for Saturday, and the drawer is opened with its float.
fn friday(site: &Site, desks: &mut [Clerk; 2]) -> Vec<Booked> {
    assert_eq!(close(&desks[0], "150", "150", "the first float").status, 303);
    let guests = guests(site);
    let plan = |place: usize, member: i64| {
        let hour = HOURS.start + place % HOURS.len();
        let minutes = [5, 10, 12, 15, 20, 30][place % 6];
        (hour, Task::Book { place, member, minutes, clock: format!("{hour:02}:{:02}", (place * 7) % 60) }, minutes)
    };
    let plans: Vec<_> = guests.iter().enumerate().map(|(place, member)| plan(place, *member)).collect();
    let made = at_once(desks, dealt(plans.iter().map(|(_, task, _)| task.clone())));
    let booking = |place: usize| made[place % 2][place / 2];
    let all = plans.iter().enumerate().map(|(place, (hour, _, minutes))| Booked {
        booking: booking(place),
        member: guests[place],
        minutes: *minutes,
        hour: *hour,
        current: place % 2 == 0,
    });
    all.collect()
}

/// The rows of a CSV table, by the column names.
fn table(clerk: &Clerk, path: &str) -> Vec<BTreeMap<String, String>> {
    let reply = clerk.get(path);
    assert_eq!(reply.status, 200, "{reply}");
    let mut reader = csv::Reader::from_reader(reply.body.as_slice());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().collect::<Result<_, _>>().expect("a table");
    rows
}

fn number(site: &Site, sql: &str) -> i64 {
    site.change(|tx| Ok(tx.get(sql, [])?))
}

fn deeds(site: &Site, action: &str) -> i64 {
    number(site, &format!("SELECT count(*) FROM audit WHERE action = '{action}'"))
}

fn amount(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// Both desks send the same form at the same moment. Returns how many answers had this status.
fn race(desks: &mut [Clerk; 2], path: &str, forms: [Vec<(String, String)>; 2], status: u16) -> usize {
    let [first, second] = desks;
    let send = |clerk: &mut Clerk, form: Vec<(String, String)>| {
        let fields: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        clerk.post(path, &fields).status
    };
    let [one, other] = forms;
    let answers = std::thread::scope(|scope| {
        let beside = scope.spawn(move || send(second, other));
        [send(first, one), beside.join().expect("the second desk goes on")]
    });
    answers.iter().filter(|answer| **answer == status).count()
}

fn form(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The tasks of an hour besides arrivals: two new members who fly ten minutes and log them, and now and then a fee.
fn beside_arrivals(hour: usize, guests: &[Booked]) -> Vec<Task> {
    const KINDS: [(&str, &str); 11] = [
        ("cash", ""),
        ("terminal", ""),
        ("cash", ""),
        ("voucher", "V-100"),
        ("cash", ""),
        ("terminal", ""),
        ("free", "won at the open day"),
        ("cash", ""),
        ("voucher", "V-101"),
        ("terminal", ""),
        ("cash", ""),
    ];
    let place = hour - HOURS.start;
    let pays = |place: usize| Task::Pay { member: guests[place].member, kind: KINDS[place].0, reason: KINDS[place].1 };
    let mut tasks = vec![Task::Register(2 * place), Task::Register(2 * place + 1), pays(place)];
    if hour + 1 == HOURS.end {
        tasks.push(pays(KINDS.len() - 1));
    }
    if place < 5 {
        // These members are neither current nor briefed yet.
        tasks.push(Task::Record(guests[2 * place].member));
    }
    tasks
}

/// Fifteen requests for a signature, three of each of five members. Both desks sign them all at the same moment.
fn sign_what_waits(site: &Site, desks: &mut [Clerk; 2], ines: &Caller) {
    let mut waiting = Vec::new();
    for place in 0..5 {
        let member = site.member(&format!("asks{place}"));
        site.brief(&member, "Flyer");
        for skill in ["10101", "10102", "10103"] {
            let wish = json!({ "skill": skill, "entry_date": site.now(), "instructor": ines.id });
            let entry =
                member.post("/account/logbook/skills/", wish).ok().json()["entry_id"].as_i64().expect("an entry");
            waiting.push(("entry".to_owned(), format!("{entry}-1")));
        }
    }
    let sent = [waiting, form(&[("username", "ines"), ("password", PASSWORD)])].concat();
    // The second clerk is redirected to the empty list. The audit log shows how often each entry was signed.
    assert_eq!(race(desks, "/desk/sign-several", [sent.clone(), sent], 303), 2);
}

#[test]
fn a_whole_saturday_adds_up() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.yearly_fee_cents = FEE_CENTS;
        config.minutes_per_quarter_hour = 0;
    });
    site.change(|tx| Ok(tx.run("UPDATE tunnels SET time_zone = 'Europe/Zurich'", [])?));
    let (staff, ines) = ([site.desk(), site.desk()], site.signer("ines", &[("Instructor", "4")]));
    go_to(&site, "2026-05-29", "18:00");
    let booked = friday(&site, &mut staff.each_ref().map(|who| Clerk::at(&site, who)));

    go_to(&site, SATURDAY, "08:30");
    let mut desks = staff.each_ref().map(|who| Clerk::at(&site, who));
    let admin = Clerk::at(&site, &site.admin());
    assert!(desks[0].get("/desk").page().contains(&format!("0 of {BOOKED} are here")));
    // By telephone, before the first arrival: two cancel and two move to Sunday, both current flyers and others.
    let (gone, coming) = booked.split_at(4);
    for one in &gone[..2] {
        location(&desks[0], &format!("/desk/bookings/{}/cancel", one.booking), &[]);
    }
    for one in &gone[2..] {
        let minutes = one.minutes.to_string();
        let to = [("day", SUNDAY), ("clock", "11:00"), ("minutes", &*minutes)];
        location(&desks[1], &format!("/desk/bookings/{}/move", one.booking), &to);
    }
    let (no_shows, come) = coming.split_at(5);
    let mut logged = 0;
    for hour in HOURS {
        go_to(&site, SATURDAY, &format!("{hour:02}:59"));
        let arrive = come.iter().filter(|one| one.hour == hour);
        let mut tasks = dealt(arrive.clone().map(|one| Task::CheckIn(one.booking)));
        // Now and then both desks check in the same people.
        tasks[1].extend(arrive.step_by(5).map(|one| Task::CheckIn(one.booking)));
        dealt(beside_arrivals(hour, &come[20..]))
            .into_iter()
            .zip(&mut tasks)
            .for_each(|(more, tasks)| tasks.extend(more));
        let registered: Vec<i64> = tasks
            .iter()
            .zip(at_once(&mut desks, tasks.clone()))
            .flat_map(|(tasks, made)| tasks.iter().cloned().zip(made).collect::<Vec<_>>())
            .filter(|(task, _)| matches!(task, Task::Register(_)))
            .map(|(_, member)| member)
            .collect();
        logged += registered.len() as i64 * 10;
        at_once(&mut desks, dealt(registered.into_iter().map(|member| Task::Fly { member, minutes: 10 })));
    }
    sign_what_waits(&site, &mut desks, &ines);

    // The twelfth fee, which both desks take from one member at the same moment; and a cash fee that was entered for
    // the wrong member.
    let last = come[0].member;
    let path = format!("/desk/members/{last}/payment");
    let forms = [0, 1].map(|place| {
        let page = desks[place].get(&path).page();
        form(&[
            ("number", &field(&page, "number")),
            ("seen", &field(&page, "seen")),
            ("price", &field(&page, "price")),
            ("kind", "cash"),
            ("reason", ""),
        ])
    });
    assert_eq!(race(&mut desks, &path, forms, 303), 1, "one year, one fee");
    let first_cash = number(&site, "SELECT min(entry_id) FROM till_entries WHERE kind = 'cash'");
    let undo = [("reason", "paid for the wrong member")];
    location(&admin, &format!("/desk/till/entries/{first_cash}/undo"), &undo);

    go_to(&site, SATURDAY, "20:00");
    let marked: Vec<Task> = no_shows.iter().map(|one| Task::NoShow(one.booking)).collect();
    at_once(&mut desks, [marked.clone(), marked]);

    // Cash: six fees, the contested one among them, less the undone one. A coin of five is missing.
    let cash = 5 * FEE_CENTS;
    let (terminal, voucher) = (3 * FEE_CENTS, 2 * FEE_CENTS);
    let counted = FLOAT_CENTS + cash - 5;
    let page = desks[0].get("/desk/till").page();
    let seen = [field(&page, "seen_closing"), field(&page, "seen_entry")];
    let forms = ["771", "772"].map(|number| {
        form(&[
            ("number", number),
            ("currency", &field(&page, "currency")),
            ("seen_closing", &seen[0]),
            ("seen_entry", &seen[1]),
            ("counted", &amount(counted)),
            ("left", "150"),
            ("note", "a coin of five is missing"),
        ])
    });
    assert_eq!(race(&mut desks, "/desk/till/close", forms, 303), 1, "the day is closed once");
    let flown = come.iter().chain(no_shows).filter(|one| one.current);
    let flown_by_booking: Vec<i64> =
        flown.filter(|one| !no_shows.iter().any(|no| no.booking == one.booking)).map(|one| one.minutes).collect();
    check_till(&desks[0], [cash, terminal, voucher, counted]);
    let minutes: i64 = coming.iter().map(|one| one.minutes).sum::<i64>() + 10 * NEW as i64;
    let flights = flown_by_booking.len() as i64 + NEW as i64;
    check_reports(&desks[1], minutes, flights, flown_by_booking.iter().sum::<i64>() + logged);
    check_traces(&site, no_shows, &gone[..2]);
}
