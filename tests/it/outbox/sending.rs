//! When messages are sent, tried again and counted as dead; no request waits for a delivery.

use super::*;
use crate::harness::senders;
use std::io::Write;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use tunneldesk::domain::ids::MessageId;
use tunneldesk::jobs;

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn while_the_server_is_down_messages_wait_and_then_all_arrive_in_order() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let place = office.close();
    let ids: Vec<_> = (0..5).map(|n| queue_welcome(&site, &format!("m{n}@example.com"))).collect();
    let mut sender = sender(&site);
    for _ in 0..3 {
        round(&mut sender);
        site.advance(Duration::from_secs(100));
    }
    for id in &ids {
        let message = message(&site, *id);
        assert_eq!((message.state.as_str(), message.tries), ("waiting", 0));
        assert!(message.last_error.contains("refused"), "{}", message.last_error);
    }
    let office = Office::mail_at(&place, "starttls");
    round(&mut sender);
    for n in 0..5 {
        assert_eq!(office.next()["to"], json!([format!("m{n}@example.com")]));
    }
    assert!(ids.iter().all(|id| state(&site, *id) == "sent"));
}

#[test]
fn a_server_that_is_down_is_not_tried_for_each_message() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let place = office.close();
    let first = queue_welcome(&site, "first@example.com");
    let mut sender = sender(&site);
    round(&mut sender);
    let office = Office::mail_at(&place, "starttls");
    round(&mut sender);
    assert_eq!((state(&site, first), office.rest().len()), ("waiting".to_owned(), 0), "it was asked at once");
    site.advance(Duration::from_secs(3));
    round(&mut sender);
    assert_eq!(state(&site, first), "sent");
}

#[test]
fn a_clock_that_jumps_does_not_lengthen_a_pause() {
    for days in [-30, 30] {
        let office = Office::mail("starttls");
        let site = site_with_mail(&office);
        let place = office.close();
        let mut sender = sender(&site);
        let waiting = queue_welcome(&site, "first@example.com");
        round(&mut sender);
        site.set_clock(site.now() + days * DAY.as_secs() as i64);
        let office = Office::mail_at(&place, "starttls");
        round(&mut sender);
        assert_eq!((state(&site, waiting), office.rest().len()), ("waiting".to_owned(), 0), "a jump is no rest");
        site.advance(Duration::from_secs(3));
        round(&mut sender);
        assert_eq!(state(&site, waiting), "sent", "the clock jumped by {days} days");
    }
}

#[test]
fn a_deferred_message_is_sent_also_after_the_clock_fell_back() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let mut sender = sender(&site);
    let later = queue_welcome(&site, "later@example.com");
    round(&mut sender);
    site.set_back(30 * DAY);
    // After the clock was set back, the site's time runs at half speed until the machine's clock has caught up.
    site.advance(Duration::from_secs(2 * 72));
    round(&mut sender);
    assert_eq!(state(&site, later), "sent");
}

#[test]
fn a_deferred_message_is_sent_later_and_does_not_delay_others() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let (later, now) = (queue_welcome(&site, "later@example.com"), queue_welcome(&site, "jane@example.com"));
    let mut sender = sender(&site);
    round(&mut sender);
    assert_eq!((state(&site, later), state(&site, now)), ("waiting".to_owned(), "sent".to_owned()));
    let waiting = message(&site, later);
    assert!(waiting.tries == 1 && waiting.last_error.contains("451"), "{waiting:?}");
    assert!((48..=72).contains(&(waiting.next_try_at.0 - site.now())), "{waiting:?}");
    round(&mut sender);
    assert_eq!(state(&site, later), "waiting");
    site.advance(Duration::from_secs(72));
    round(&mut sender);
    assert_eq!(state(&site, later), "sent");
}

#[test]
fn a_refused_recipient_is_dead_at_once_and_the_others_arrive_on_the_same_connection() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let (nobody, jane) = (queue_passcode(&site, "nobody@example.com"), queue_passcode(&site, "jane@example.com"));
    round(&mut sender(&site));
    let dead = message(&site, nobody);
    assert!(dead.state == "dead" && dead.last_error.contains("nobody of that name"), "{dead:?}");
    assert!(dead.sealed.is_some(), "the desk can read it out");
    assert_eq!(state(&site, jane), "sent");
    site.advance(Duration::from_secs(600));
    round(&mut sender(&site));
    assert!(message(&site, nobody).sealed.is_none(), "its passcode is over");
}

#[test]
fn a_message_that_breaks_the_connection_is_not_tried_first_for_ever() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let (cut, jane) = (queue_welcome(&site, "cut@example.com"), queue_welcome(&site, "jane@example.com"));
    let mut sender = sender(&site);
    round(&mut sender);
    assert_eq!((state(&site, cut), state(&site, jane)), ("waiting".to_owned(), "waiting".to_owned()));
    site.advance(Duration::from_secs(5));
    round(&mut sender);
    assert_eq!((state(&site, cut), state(&site, jane)), ("waiting".to_owned(), "sent".to_owned()));
    site.advance(Duration::from_secs(72));
    round(&mut sender);
    assert_eq!(state(&site, cut), "sent");
}

#[test]
fn after_two_days_of_failures_a_message_is_dead_until_the_desk_retries() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let place = office.close();
    let message_id = queue_welcome(&site, "jane@example.com");
    site.advance(30 * DAY / 2);
    let mut sender = sender(&site);
    round(&mut sender);
    assert_eq!(state(&site, message_id), "waiting", "what waited for a server to be named has its two days yet");
    site.advance(DAY);
    round(&mut sender);
    assert_eq!(state(&site, message_id), "waiting");
    site.advance(DAY);
    round(&mut sender);
    assert_eq!(state(&site, message_id), "dead");
    let office = Office::mail_at(&place, "starttls");
    site.advance(DAY);
    site.change(|tx| Ok(outbox::retry(tx, MessageId(message_id))?));
    round(&mut sender);
    office.next();
    assert_eq!(state(&site, message_id), "sent");
}

#[test]
fn an_expired_passcode_is_wiped_and_not_sent() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let message_id = queue_passcode(&site, "jane@example.com");
    site.advance(Duration::from_secs(600));
    let welcome = queue_welcome(&site, "jane@example.com");
    round(&mut sender(&site));
    let ended = message(&site, message_id);
    assert_eq!((ended.state.as_str(), ended.sealed), ("dead", None));
    assert!(office.next()["headers"].to_string().contains("Welcome"));
    assert_eq!((state(&site, welcome), office.rest().len()), ("sent".to_owned(), 0));
}

#[test]
fn a_new_message_is_sent_at_once_and_no_request_waits_for_a_slow_server() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let jane = site.member("jane");
    queue_welcome(&site, "first@example.com");
    let sending = jobs::outbox::start(&site.for_a_job()).unwrap();
    office.next();
    // A sender that is not woken looks again only after five seconds, in every round; a busy machine is slow in one or
    // two.
    let wakes = || {
        let queued = Instant::now();
        queue_welcome(&site, "prompt@example.com");
        office.next();
        queued.elapsed() < Duration::from_secs(4)
    };
    assert!((0..5).any(|_| wakes()), "it was found by looking, not woken");

    let slow = queue_welcome(&site, "slow@example.com");
    assert_eq!(office.next(), json!({"begun": "slow@example.com"}));
    let begun = Instant::now();
    for _ in 0..5 {
        jane.get("/account/profile/user").ok();
        jane.post("/account/profile/booking-pin", json!({})).ok();
    }
    let took = begun.elapsed();
    assert_eq!(state(&site, slow), "waiting", "the server was not slow enough to tell: {took:?}");
    office.next();
    sending.stop();
    assert_eq!(state(&site, slow), "sent", "a message on its way is marked before the end");
}

/// A mail server whose greeting never ends.
fn endless_greeting() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                while stream.write_all(b"2").is_ok() {
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
        }
    });
    port
}

#[test]
fn a_mail_server_that_never_ends_its_greeting_keeps_no_short_message() {
    let gateway = Office::sms();
    let site = Site::open_with(|config| {
        config.mail = Some(Mail { port: endless_greeting(), ..senders::mail_to_nowhere() });
        config.sms = Some(sms_settings(&gateway));
    });
    let mail = queue_welcome(&site, "jane@example.com");
    let sending = jobs::outbox::start(&site.for_a_job()).unwrap();
    // The mail is on its way by then.
    std::thread::sleep(Duration::from_millis(500));
    queue(&site, Channel::Sms, "+41791234567", "de", "passcode_verify_phone", &json!({"passcode": "987654"}));
    assert_eq!(gateway.next()["to"], "+41791234567");
    assert_eq!(state(&site, mail), "waiting");
    sending.stop();
}

#[test]
fn without_a_server_passcodes_and_messages_expire_too() {
    let site = Site::open();
    let (passcode, welcome) = (queue_passcode(&site, "jane@example.com"), queue_welcome(&site, "jane@example.com"));
    let states = || [passcode, welcome].map(|id| message(&site, id)).map(|m| (m.state, m.sealed.is_some()));
    jobs::purge_expired(&site.for_a_job()).unwrap();
    assert_eq!(states(), [("waiting".to_owned(), true), ("waiting".to_owned(), true)]);
    site.advance(Duration::from_secs(600));
    jobs::purge_expired(&site.for_a_job()).unwrap();
    assert_eq!(states(), [("dead".to_owned(), false), ("waiting".to_owned(), true)]);
    site.advance(30 * DAY);
    jobs::purge_expired(&site.for_a_job()).unwrap();
    assert_eq!(states()[1], ("dead".to_owned(), false));
    site.advance(60 * DAY);
    jobs::purge_expired(&site.for_a_job()).unwrap();
    assert_eq!(site.rows()["outbox"], 0);
}
