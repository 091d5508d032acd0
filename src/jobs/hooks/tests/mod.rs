//! Webhooks through receivers that fail in every way. The clock is the test's.

mod addresses;
mod libraries;
mod receiver;

use super::*;
use crate::app::hooks::Target;
use crate::config::Config;
use crate::domain::health::State;
use crate::domain::ids::BookingId;
use crate::moment::Moment;
use crate::ops::health::{self, Depth};
use crate::ops::tests::new_site;
use crate::store::data_dir::DataDir;
use crate::store::tables::events::{About, Event};
use crate::store::tables::partners;
use libraries::verdicts;
use receiver::{Does, Got, OK, Receiver};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

const DAY: u64 = 86_400;
const HERE: &str = "127.0.0.1";
/// How long a receiver may take to answer in these tests.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(700);

/// A site with a partner and bookings.
struct Scene {
    site: Site,
    partner: partners::Partner,
    _dir: tempfile::TempDir,
}

const BOOKINGS: i64 = 8;

fn scene() -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    let site = new_site(&data_dir, Config { data: dir.path().to_owned(), ..Config::defaults() });
    let rows = "
        INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at) VALUES ('jane', 'Jane', '', '', 1, 1)";
    let partner = site.store.write(site.now(), |tx| {
        tx.run(rows, [])?;
        let partner_id = partners::insert(tx, "fly", "Fly", false, None)?;
        for booking in 1..=BOOKINGS {
            let sql = "INSERT INTO bookings (partner_id, member_id, registration_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
                       SELECT ?1, max(member_id), ?2, 1800000000, 10, (SELECT tunnel_id FROM tunnels LIMIT 1), 1, 1 FROM members";
            tx.run(sql, (partner_id, booking))?;
        }
        Ok(partners::find(tx, "fly")?.unwrap())
    });
    Scene { partner: partner.unwrap(), site, _dir: dir }
}

impl Sender {
    /// Sends what is due, and awaits the answers. Returns how many requests were made.
    fn round(&mut self) -> usize {
        let begun = self.begin().unwrap();
        while !self.under_way.is_empty() {
            let outcome =
                self.outcomes.recv_timeout(Duration::from_secs(20)).expect("an answer, or the end of its time");
            self.settle_one(outcome).unwrap();
        }
        begun
    }
}

impl Scene {
    fn receiver(&self, plan: impl Fn(usize) -> Does + Send + 'static) -> Receiver {
        Receiver::open("127.0.0.1:0", self.site.clock.clone(), plan)
    }

    fn calls(&self) -> Calls {
        Calls { in_clear: true, answer_time_max: ANSWER_TIME_MAX, ..Calls::new(None) }
    }

    fn sender(&self) -> Sender {
        Sender { calls: self.calls(), ..Sender::new(self.site.for_another_thread()) }
    }

    /// Registers an address, which takes its test; returns the number and the secret. The error: why it was not taken.
    fn register(&self, url: &str, address: &str) -> Result<(HookId, String), String> {
        self.register_by(self.sender(), url, address)
    }

    fn register_by(&self, mut sender: Sender, url: &str, address: &str) -> Result<(HookId, String), String> {
        let (secret, text) = new_secret();
        let target = Target::in_clear(url, address);
        let hook_id = self.change(|cx| effects::add(cx, &self.partner, &target, &secret));
        sender.round();
        let hook = self.site.store.read(|tx| Ok(hooks::find(tx, hook_id)?.unwrap())).unwrap();
        self.site.store.release();
        if hook.ended_at.is_none() {
            return Ok((hook_id, text));
        }
        self.change(|cx| effects::remove(cx, hook_id));
        Err(said(&hook.trouble))
    }

    fn change<T>(&self, effect: impl FnOnce(&Change) -> Result<T, Failure>) -> T {
        let actor = RankedActor::owner(&Actor::job("test"));
        app::change(&self.site, actor, Language::default(), effect).unwrap()
    }

    fn happen(&self, events: i64) {
        self.happen_with(events, "{}");
    }

    fn happen_with(&self, events: i64, data: &str) {
        let told = self.site.store.write(self.site.now(), |tx| {
            for number in 0..events {
                let booking_id = Some(BookingId(1 + number % BOOKINGS));
                let about = About { booking_id, data: Some(data), ..About::partner(self.partner.partner_id) };
                crate::app::events::tell(tx, Event::BookingMoved, &about)?;
            }
            Ok(())
        });
        told.unwrap();
    }

    /// Runs SQL that no part of the product runs.
    fn run(&self, sql: &str) {
        self.site.store.write(self.site.now(), |tx| Ok(tx.run(sql, [])?)).unwrap();
    }

    fn hook(&self) -> Hook {
        let hook = self.site.store.read(|tx| Ok(hooks::list(tx)?.remove(0))).unwrap();
        self.site.store.release();
        hook
    }

    /// What waits, what is given up, and what health says.
    fn state(&self) -> (i64, i64, State) {
        let hook = self.hook();
        (hook.waiting, hook.dead, self.fact())
    }

    fn dead(&self) -> Vec<String> {
        let hook_id = self.hook().hook_id;
        let dead = self.site.store.read(|tx| Ok(hooks::list_dead(tx, hook_id, 100)?)).unwrap();
        self.site.store.release();
        dead.into_iter().map(|one| one.trouble).collect()
    }

    fn pass(&self, seconds: u64) {
        self.site.clock.advance(Duration::from_secs(seconds));
    }

    fn fact(&self) -> State {
        health::check(&self.site, Depth::Quick).into_iter().find(|fact| fact.name == "hooks").unwrap().state
    }
}

/// The number of events is that of `TUNNELDESK_WEBHOOKS`.
#[test]
fn each_event_arrives_through_a_receiver_that_fails_in_every_way_in_the_order_of_its_booking() {
    let events: i64 = std::env::var("TUNNELDESK_WEBHOOKS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let scene = scene();
    let trap = scene.receiver(|_| OK);
    let location = format!("location: {}", trap.url);
    let receiver = scene.receiver(move |number| match number {
        0 => OK,
        _ => match number * 7 % 23 {
            1 => Does::Answers("500 Internal Server Error"),
            2 | 3 => Does::AnswersWith("302 Found", location.clone()),
            4 => Does::AnswersWith("307 Temporary Redirect", location.clone()),
            5 => Does::Closes { taken: false },
            6 => Does::Closes { taken: true },
            7 => Does::Resets,
            8 => Does::AnswersAfter(ANSWER_TIME_MAX / 3),
            9 => Does::AnswersAfter(ANSWER_TIME_MAX * 2),
            10 | 11 => Does::AnswersTwice,
            12 => Does::Drips,
            13 => Does::Hangs,
            14 => Does::AnswersWith("429 Too Many Requests", "retry-after: 60".to_owned()),
            _ => OK,
        },
    });
    let mut sender = scene.sender();
    let (_, secret) = scene.register(&receiver.url, HERE).unwrap();
    scene.happen(events);
    for _ in 0..10_000 {
        while sender.round() > 0 {}
        if scene.hook().waiting == 0 {
            break;
        }
        scene.pass(400);
    }
    assert_eq!(scene.state(), (0, 0, State::Ok));
    let taken: Vec<Got> = receiver.taken().into_iter().filter(|got| !got.is_test()).collect();
    let mut by_booking: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for got in &taken {
        let of = by_booking.entry(got.booking()).or_default();
        // Taken twice where the answer was lost: under the same id, before the next one.
        if of.last() != Some(&got.seq()) {
            of.push(got.seq());
        }
    }
    assert!(by_booking.values().all(|seqs| seqs.is_sorted_by(|a, b| a < b)), "{by_booking:?}");
    assert_eq!(by_booking.values().map(Vec::len).sum::<usize>() as i64, events, "each arrives");
    assert!(trap.all().is_empty(), "a redirect was followed");
    let all = receiver.all();
    let said = verdicts(&all.iter().map(|got| (secret.as_str(), got)).collect::<Vec<_>>());
    assert!(said.iter().all(|one| one == "verified"), "{said:?}");
    println!("{events} events in {} requests, all verified by both libraries", all.len());
}

#[test]
fn the_standard_s_own_libraries_verify_what_is_sent_also_during_a_rotation() {
    let scene = scene();
    let receiver = scene.receiver(|_| OK);
    let (hook_id, first) = scene.register(&receiver.url, HERE).unwrap();
    let rotate = |ends_older| {
        let (secret, text) = new_secret();
        scene.change(|cx| match effects::rotate(cx, hook_id, &secret, ends_older) {
            Err(failure) if failure.is(Failure::exists) => Ok(None),
            rotated => rotated.map(|()| Some(text)),
        })
    };
    let mut sender = scene.sender();
    let mut send = || {
        scene.happen(1);
        sender.round();
    };
    send();
    let second = rotate(false).expect("one secret is in force");
    send();
    assert_eq!(rotate(false), None, "the first signs still, and would end unseen");
    let third = rotate(true).unwrap();
    send();
    scene.pass(7 * DAY);
    send();
    assert!(rotate(false).is_some(), "the second has ended");
    let all = receiver.all();
    let signatures = |got: &Got| got.headers["webhook-signature"].split(' ').count();
    assert_eq!(all.iter().map(signatures).collect::<Vec<_>>(), [1, 1, 2, 2, 1], "the first is the test");
    let mut spoilt = all[4].clone();
    spoilt.body = "{}".to_owned();
    let mut late = all[4].clone();
    late.now += 301;
    let [one, two, three] = [first.as_str(), &second, &third];
    let good = [(one, 0), (one, 1), (one, 2), (two, 2), (two, 3), (three, 3), (three, 4)].map(|(s, n)| (s, &all[n]));
    let bad = [(one, &all[3]), (two, &all[4]), (three, &spoilt), (three, &late)];
    let said = verdicts(&good.into_iter().chain(bad).collect::<Vec<_>>());
    assert!(
        said[..7].iter().all(|one| one == "verified") && said[7..].iter().all(|one| one.starts_with("refused")),
        "{said:?}"
    );
}

#[test]
fn events_follow_once_a_test_was_taken_and_a_server_that_is_gone_ends_its_webhook_with_an_alarm() {
    let scene = scene();
    let receiver = scene.receiver(|number| match number {
        0 => Does::Answers("302 Found"),
        2 => Does::Answers("410 Gone"),
        _ => OK,
    });
    let (secret, text) = new_secret();
    let target = Target::in_clear(&receiver.url, HERE);
    let hook_id = scene.change(|cx| effects::add(cx, &scene.partner, &target, &secret));
    let mut sender = scene.sender();
    scene.happen(1);
    sender.round();
    assert_eq!((scene.hook().ended_as, scene.hook().trouble.as_str()), (Some(Ended::Untested), "302"));
    assert_eq!(sender.round(), 0, "one test is one request");
    scene.change(|cx| effects::ask_test(cx, hook_id));
    sender.round();
    assert_eq!((scene.hook().ended_as, scene.fact()), (None, State::Ok));
    scene.happen(1);
    sender.round();
    assert_eq!((scene.hook().ended_as, scene.fact()), (Some(Ended::Gone), State::Alarm));
    scene.happen(1);
    assert_eq!(sender.round(), 0, "an ended webhook is not called");
    assert_eq!(scene.change(|cx| effects::replay(cx, hook_id, None)), 2, "what was not taken, and what happened since");
    while sender.round() > 0 {}
    assert_eq!((receiver.taken().len(), scene.state()), (3, (0, 0, State::Ok)), "the test, and what happened since");
    assert_eq!(scene.change(|cx| effects::replay(cx, hook_id, Some(0))), 3);
    while sender.round() > 0 {}
    assert_eq!(receiver.taken().len(), 6);
    let all = receiver.all();
    let said = verdicts(&all.iter().map(|got| (text.as_str(), got)).collect::<Vec<_>>());
    assert!(said.iter().all(|one| one == "verified"), "{said:?}");
    scene.change(|cx| effects::remove(cx, hook_id));
    assert_eq!(scene.fact(), State::Ok);
}

#[test]
fn a_webhook_that_is_off_waits_and_one_that_takes_nothing_for_five_days_ends() {
    let scene = scene();
    let receiver = scene.receiver(|number| if number < 3 { OK } else { Does::Answers("503 Service Unavailable") });
    let (hook_id, _) = scene.register(&receiver.url, HERE).unwrap();
    let mut sender = scene.sender();
    scene.change(|cx| effects::switch_off(cx, hook_id));
    scene.happen(2);
    assert_eq!((sender.round(), scene.fact()), (0, State::Ok));
    assert_eq!(scene.change(|cx| effects::replay(cx, hook_id, None)), 2, "what happened meanwhile");
    assert_eq!(sender.round(), 2);
    scene.happen(1);
    let mut rounds = 0;
    while scene.hook().ended_at.is_none() {
        sender.round();
        if rounds == 0 {
            assert_eq!(scene.fact(), State::Warning);
        }
        rounds += 1;
        assert!(rounds < 400, "it never ends");
        scene.pass(3_600);
    }
    let requests = receiver.all().len() - 3;
    assert!((10..=11).contains(&requests), "{requests} tries in five days");
    assert_eq!((scene.hook().ended_as, scene.fact()), (Some(Ended::Failing), State::Alarm));
}

#[test]
fn what_cannot_be_sent_is_given_up_with_its_reason_and_never_sent_empty() {
    let scene = scene();
    let receiver = scene.receiver(|_| OK);
    let (hook_id, _) = scene.register(&receiver.url, HERE).unwrap();
    let mut sender = scene.sender();
    let data = format!("{{\"text\":\"{}\"}}", "x".repeat(BODY_BYTES_MAX));
    scene.happen_with(1, &data);
    scene.happen(1);
    sender.round();
    sender.round();
    assert_eq!((scene.dead(), scene.fact()), (vec!["too_large".to_owned()], State::Warning));
    assert_eq!(receiver.taken().len(), 2, "the booking's next event is sent");
    scene.run("INSERT INTO hook_deliveries (hook_id, seq, booking_id, due_at) VALUES (1, 999999, 1, 1)");
    sender.round();
    assert_eq!(scene.dead(), ["too_large", "purged"]);
    scene.run("UPDATE hook_secrets SET sealed = x'00'");
    scene.happen(1);
    assert_eq!(sender.round(), 0);
    assert_eq!(
        (scene.hook().waiting, scene.hook().trouble.as_str()),
        (0, "no_secret"),
        "nothing is signed, so nothing is sent"
    );
    let (secret, text) = new_secret();
    scene.change(|cx| effects::rotate(cx, hook_id, &secret, false));
    sender.round();
    let all = receiver.all();
    assert_eq!(
        (all.len(), verdicts(&[(text.as_str(), &all[2])])),
        (3, vec!["verified".to_owned()]),
        "it is sent later"
    );
    assert!(all.iter().all(|got| !got.body.is_empty()));
}

#[test]
fn a_pause_that_the_receiver_asks_for_by_a_date_is_kept() {
    let scene = scene();
    let at = jiff::Timestamp::from_second(scene.site.now().0 + 3_600).unwrap();
    let header = format!("retry-after: {}", at.strftime("%a, %d %b %Y %H:%M:%S GMT"));
    let busy = move |number| match number {
        1 => Does::AnswersWith("503 Service Unavailable", header.clone()),
        _ => OK,
    };
    let receiver = scene.receiver(busy);
    scene.register(&receiver.url, HERE).unwrap();
    let mut sender = scene.sender();
    scene.happen(1);
    assert_eq!(sender.round(), 1);
    scene.pass(3_599);
    assert_eq!(sender.round(), 0, "it asked for an hour");
    scene.pass(1);
    assert_eq!((sender.round(), scene.hook().waiting), (1, 0));
}

#[test]
fn a_receiver_that_hangs_holds_up_no_other_webhook() {
    let scene = scene();
    let hangs = scene.receiver(|number| if number == 0 { OK } else { Does::Hangs });
    let works = scene.receiver(|_| OK);
    for receiver in [&hangs, &works] {
        scene.register(&receiver.url, HERE).unwrap();
    }
    let calls = Calls { answer_time_max: Duration::from_secs(15), ..scene.calls() };
    let mut sender = Sender { calls, ..scene.sender() };
    scene.happen(2 * BOOKINGS);
    let began = Instant::now();
    while works.taken().len() < 1 + 2 * BOOKINGS as usize {
        sender.begin().unwrap();
        sender.settle_all().unwrap();
        assert!(began.elapsed() < Duration::from_secs(10), "it waits for the one that hangs");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(sender.under_way.iter().filter(|(hook_id, _)| *hook_id == HookId(1)).count(), BOOKINGS as usize);
    assert_eq!(hangs.all().len(), 1 + BOOKINGS as usize, "one event of each booking");
}

#[test]
fn one_that_has_taken_nothing_of_late_leaves_room_for_the_others() {
    let scene = scene();
    let hangs = scene.receiver(|number| if number == 0 { OK } else { Does::Hangs });
    scene.register(&hangs.url, HERE).unwrap();
    scene.run("UPDATE hooks SET failing_since = created_at");
    let calls = Calls { answer_time_max: Duration::from_secs(15), ..scene.calls() };
    let mut sender = Sender { calls, ..scene.sender() };
    scene.happen(2 * BOOKINGS);
    for _ in 0..3 {
        sender.begin().unwrap();
    }
    assert_eq!(sender.under_way.len(), AT_A_TIME_FAILING);
}

#[test]
fn a_choice_of_types_is_kept_once_and_what_is_no_type_is_not_repeated_in_full() {
    let types = |list: &str| Target::read("https://partner.example/", list, "").map(|target| target.types().to_owned());
    let twice = "booking.moved, booking.cancelled,,booking.moved,".repeat(500);
    assert_eq!(types(&twice).unwrap(), "booking.moved,booking.cancelled");
    assert!(types(" , ,").is_err(), "it would choose all");
    let refused = types(&"x".repeat(100_000)).unwrap_err();
    let said = refused.problems()[0].text.in_english();
    assert!(said.starts_with("xxx") && said.len() < 600, "{} letters", said.len());
}
