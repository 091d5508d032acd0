//! The effects of the mail provider's events on the mails that they name.

use super::*;
use crate::harness::senders::form;
use http::Method;
use std::io::{Read, Write};
use std::net::TcpStream;
use tunneldesk::domain::ids::MessageId;
use tunneldesk::store::tables::outbox::{self, Channel, Message, NewMessage};

pub const ADDRESS: &str = "jane@example.com";

/// A mail that the provider accepted under this id.
pub fn sent(site: &Site, provider_id: &str) -> i64 {
    let message_id = site.queue_mail(ADDRESS);
    site.change(|tx| Ok(outbox::set_sent(tx, MessageId(message_id), provider_id)?));
    message_id
}

pub fn message(site: &Site, message_id: i64) -> Message {
    site.change(|tx| Ok(outbox::find(tx, MessageId(message_id))?.expect("the mail is there")))
}

impl Site {
    /// Queues a mail and returns its number.
    pub fn queue_mail(&self, recipient: &str) -> i64 {
        let values = json!({ "token": "the-token" });
        let new = NewMessage {
            channel: Channel::Email,
            member_id: None,
            recipient,
            language: "en",
            template: "confirm_email",
            values: &values,
        };
        let site = self.for_a_job();
        self.change(|tx| Ok(outbox::insert(tx, &site.keys, &new)?))
    }
}

pub fn mail_event(kind: &str, id: &str, at: i64) -> Value {
    json!({ "event": kind, "ts": at, "_id": id, "msg": { "_id": id, "email": ADDRESS, "diag": "550 5.1.1 nobody here" } })
}

pub fn post(site: &Site, events: &Value) -> Reply {
    site.mail_provider().post("/mail-webhook", json!({ "mail_events": events }))
}

fn verdicts(site: &Site) -> Vec<String> {
    let sql = "SELECT verdict FROM callbacks ORDER BY callback_id";
    site.change(|tx| Ok(tx.list(sql, [])?))
}

#[test]
fn each_event_updates_the_mail_it_names_and_a_bounce_outweighs_the_rest() {
    let site = Site::with_senders();
    let message_id = sent(&site, "1.abc@windwerk.example");
    let other = sent(&site, "2.abc@windwerk.example");
    let now = site.now();
    for (at, kind, delivery) in [
        (1, "send", "sent"),
        (2, "deferral", "sent"),
        (3, "deferral", "sent"),
        (4, "soft_bounce", "soft_bounced"),
        (5, "open", "opened"),
        (6, "click", "clicked"),
        (7, "hard_bounce", "bounced"),
        (8, "open", "bounced"),
    ] {
        let taken = post(&site, &json!([mail_event(kind, "1.abc@windwerk.example", now + at)])).ok().json();
        assert_eq!(taken, json!({ "status": true, "message": "", "events": 1, "repeated": 0 }));
        assert_eq!(message(&site, message_id).delivery, delivery, "{kind}");
    }
    let known = message(&site, message_id);
    assert_eq!((known.deferrals, known.soft_bounces, &*known.state), (2, 1, "sent"));
    assert_eq!(message(&site, other).delivery, "");
    assert!(verdicts(&site).iter().all(|verdict| verdict == "applied"));
}

#[test]
fn a_mail_is_named_by_its_message_id_wherever_the_provider_puts_it() {
    let site = Site::with_senders();
    let now = site.now();
    let events = [
        json!({ "event": "send", "ts": now, "_id": "<1.a@w.example>" }),
        json!({ "event": "send", "ts": now, "_id": "0a1b", "msg": { "metadata": { "message_id": "1.a@w.example" } } }),
        json!({ "event": "send", "ts": now, "_id": "0a1c", "msg": { "headers": { "Message-Id": "<1.a@w.example>" } } }),
    ];
    for event in &events {
        let message_id = sent(&site, "1.a@w.example");
        post(&site, &json!([event])).ok();
        assert_eq!(message(&site, message_id).delivery, "sent", "{event}");
        site.change(|tx| Ok(tx.run("UPDATE outbox SET provider_id = 'gone' WHERE message_id = ?1", [message_id])?));
    }
    post(&site, &json!([{ "event": "send", "ts": now, "_id": "unknown" }])).ok();
    assert_eq!(verdicts(&site), ["applied", "applied", "applied", "unmatched"]);
}

#[test]
fn a_batch_is_accepted_with_malformed_events_in_it() {
    let site = Site::with_senders();
    let message_id = sent(&site, "1.abc");
    let now = site.now();
    let events = json!([
        null, 7, "send", [], {}, { "event": "send" }, { "event": "send", "_id": "1.abc", "ts": "soon" },
        { "event": {}, "_id": "1.abc", "ts": now }, { "event": "delivered", "_id": "1.abc", "ts": now },
        { "type": "blacklist", "action": "add" }, { "event": "open", "_id": "1.abc", "ts": now, "msg": [] },
        { "event": "hard_bounce", "_id": "1.abc", "ts": now, "msg": { "email": "\u{7}", "diag": "a\u{0}b\n".repeat(500) } },
        mail_event("send", "1.abc", now - 91 * 86_400), mail_event("send", "1.abc", now),
    ]);
    let taken = post(&site, &events).ok().json();
    assert_eq!((&taken["events"], &taken["repeated"]), (&json!(14), &json!(0)));
    assert_eq!(message(&site, message_id).delivery, "bounced");
    let mut counted: Vec<_> = verdicts(&site);
    counted.sort();
    let wanted = [vec!["applied"; 3], vec!["ignored"], vec!["odd"; 9], vec!["too_old"]].concat();
    assert_eq!(counted, wanted);
    assert_eq!(post(&site, &events).ok().json()["repeated"], 14);
    assert_eq!(site.rows()["callbacks"], 14);
}

#[test]
fn a_repeat_counts_once_within_a_batch_and_between_batches() {
    let site = Site::with_senders();
    let message_id = sent(&site, "1.abc");
    let deferral = mail_event("deferral", "1.abc", site.now());
    let taken = post(&site, &json!([deferral, deferral])).ok().json();
    assert_eq!((&taken["events"], &taken["repeated"]), (&json!(2), &json!(1)));
    post(&site, &json!([deferral])).ok();
    assert_eq!(message(&site, message_id).deferrals, 1);
}

#[test]
fn events_come_as_a_form_too_and_under_either_name() {
    let site = Site::with_senders();
    let message_id = sent(&site, "1.abc");
    for (number, field) in ["mandrill_events", "mail_events"].into_iter().enumerate() {
        let events = json!([mail_event("deferral", "1.abc", site.now() + number as i64)]).to_string();
        let asking = site.mail_provider();
        let asking =
            asking.ask(Method::POST, "/mail-webhook").header("content-type", "application/x-www-form-urlencoded");
        asking.body(form(&[(field, &events), ("more", "é & =")])).send().ok();
        site.mail_provider().post("/mail-webhook", json!({ field: events })).ok();
    }
    assert_eq!(message(&site, message_id).deferrals, 2);
}

#[test]
fn a_batch_has_a_thousand_events_at_the_most_and_is_a_list() {
    let site = Site::with_senders();
    let event = |number: usize| mail_event("open", &format!("m{number}"), site.now());
    let events: Vec<Value> = (0..1_001).map(event).collect();
    assert_eq!(post(&site, &json!(events)).refused(422).bad_fields(), ["mail_events"]);
    assert_eq!(post(&site, &json!(events[..1_000])).ok().json()["events"], 1_000);
    assert_eq!(site.rows()["callbacks"], 1_000);
    for (events, status) in
        [(json!("not json"), 400), (json!("[1"), 400), (json!("{}"), 422), (json!({}), 422), (json!(7), 422)]
    {
        post(&site, &events).refused(status);
    }
}

/// The batch as text, with odd parts in place of strings that name them.
fn with_odd_parts(text: &str) -> String {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    text.replace("\"HALF\"", "\"\\ud83d\"").replace("\"HUGE\"", "1e400").replace("\"DEEP\"", &deep)
}

#[test]
fn a_value_that_few_programs_can_read_spoils_its_own_event_at_most() {
    for odd in ["HALF", "HUGE", "DEEP"] {
        let site = Site::with_senders();
        let (one, other) = (sent(&site, "1.abc"), sent(&site, "2.abc"));
        let mut beside = mail_event("open", "1.abc", site.now());
        beside["msg"]["location"] = json!({ "city": odd, "HALF": 1 });
        let spoilt = json!({ "event": "open", "_id": odd, "ts": site.now() });
        let batch = json!([odd, beside, spoilt, mail_event("click", "2.abc", site.now())]).to_string();
        let batch = with_odd_parts(&batch);
        let typed = [
            ("application/json", format!("{{\"mail_events\":{batch}}}")),
            ("application/json", json!({ "mail_events": batch }).to_string()),
        ];
        for (number, (kind, body)) in typed.into_iter().enumerate() {
            let asking = site.mail_provider();
            let taken = asking.ask(Method::POST, "/mail-webhook").header("content-type", kind).body(body).send().ok();
            assert_eq!((&taken.json()["events"], &taken.json()["repeated"]), (&json!(4), &json!(4 * number)), "{odd}");
        }
        assert_eq!((&*message(&site, one).delivery, &*message(&site, other).delivery), ("opened", "clicked"), "{odd}");
        assert_eq!(verdicts(&site), ["odd", "applied", "odd", "applied"], "{odd}");
        let broken = batch.strip_suffix("]").unwrap();
        post(&site, &json!(broken)).refused(400);
    }
}

#[test]
fn slow_senders_of_large_bodies_take_a_bounded_room_and_keep_no_callback_out() {
    const BYTES: usize = 1024 * 1024;
    const SENDERS: usize = 40;
    let site = Site::with_senders();
    site.expects_faults();
    let head = format!("POST /api/mail-webhook HTTP/1.1\r\nhost: localhost\r\ncontent-length: {BYTES}\r\n\r\n");
    let slow: Vec<TcpStream> = (0..SENDERS)
        .map(|_| {
            let mut slow = TcpStream::connect(site.address()).unwrap();
            slow.write_all(head.as_bytes()).unwrap();
            // A body that was given up is refused before its end.
            _ = slow.write_all(&vec![b' '; BYTES - 1]);
            slow
        })
        .collect();
    for number in 0..SENDERS {
        let body = format!("{{\"mail_events\":[],\"padding\":\"{}\"}}", "x".repeat(BYTES - 100 - number));
        let honest = site.mail_provider();
        honest.ask(Method::POST, "/mail-webhook").header("content-type", "application/json").body(body).send().ok();
    }
    let refused = slow.into_iter().filter(|mut slow| {
        let mut status = [0; 12];
        slow.set_nonblocking(true).unwrap();
        slow.read_exact(&mut status).is_ok() && &status == b"HTTP/1.1 503"
    });
    let refused = refused.count();
    assert!((8..SENDERS).contains(&refused), "{refused} of {SENDERS} bodies were given up: 32 MiB have room");
}
