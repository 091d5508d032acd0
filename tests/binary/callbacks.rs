//! Callbacks to the real executable: the desk sees their effect, and each counts once however often the server is
//! killed.

use crate::harness::{Caller, Client, Desk, Random, Server, text};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tunneldesk::keys::{hex, hmac_sha256};

const SECRET: &str = "whsec_of_the_test";
const KILLS: usize = 12;
/// The largest number of answers that a kill waits for: counted, as a slow machine answers few in a given time.
const ANSWERS_MAX: u64 = 8;
const KILL_DELAY_MICROS_MAX: u64 = 5_000;
const ANSWERS_WAIT_MAX: Duration = Duration::from_secs(10);

fn serve(desk: &Desk) -> Server {
    desk.serve_with(&[("TUNNELDESK_CALLBACKS_PAYMENT_SECRET", SECRET)])
}

fn event(id: &str, kind: &str, object: Value) -> Value {
    json!({ "id": id, "type": kind, "created": 1_780_000_000, "data": { "object": object } })
}

fn intent(intent_id: &str, member_id: i64) -> Value {
    json!({ "id": intent_id, "amount": 12_000, "currency": "chf", "metadata": { "member_id": member_id } })
}

/// The bytes of a delivery that is signed now.
fn delivery(event: &Value) -> Vec<u8> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let body = event.to_string();
    let digest = hex(&hmac_sha256(SECRET.as_bytes(), &[format!("{at}.{body}").as_bytes()]));
    format!(
        "POST /api/payment-webhook HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         stripe-signature: t={at},v1={digest}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[track_caller]
fn deliver(server: &Server, event: &Value) -> String {
    let answer = server.client().send(&delivery(event)).unwrap().ok();
    text(&answer["verdict"]).to_owned()
}

#[test]
fn the_desk_sees_every_event_and_matches_unassigned_payments() {
    let desk = Desk::with_site();
    let jane = desk.add_member("jane", "member");
    let server = serve(&desk);
    assert_eq!(deliver(&server, &event("evt_1", "payment_intent.succeeded", intent("pi_1", jane))), "applied");
    let unmatched =
        event("evt_2", "payment_intent.succeeded", json!({ "id": "pi_2", "amount": 500, "currency": "eur" }));
    assert_eq!((deliver(&server, &unmatched), deliver(&server, &unmatched)), ("unmatched".into(), "repeated".into()));

    let listed = desk.run(&["callbacks", "list"]).done();
    assert!(listed.contains("payment_intent.succeeded  pi_2   unmatched  2"), "{listed}");
    assert!(
        listed.contains("2 events kept; no key is configured for the mail provider, the social network"),
        "{listed}"
    );
    let rows = desk.json(&["callbacks", "list", "--verdict", "applied", "--sender", "processor"]);
    assert_eq!((&rows["total"], rows["callbacks"].as_array().unwrap().len()), (&json!(2), 1));
    assert_eq!((&rows["callbacks"][0]["about"], &rows["callbacks"][0]["times"]), (&json!("pi_1"), &json!(1)));
    let number = rows["callbacks"][0]["callback_id"].to_string();
    let shown = desk.run(&["callbacks", "show", &number]).done();
    assert!(shown.contains("Verdict:  applied") && shown.contains("\"currency\": \"chf\""), "{shown}");
    let raw = desk.json(&["callbacks", "show", &number])["raw"].clone();
    assert_eq!(serde_json::from_str::<Value>(text(&raw)).unwrap()["id"], "evt_1");
    assert!(desk.run(&["callbacks", "show", "99"]).trouble(1).contains("there is no event 99"));
    assert_eq!(desk.run(&["callbacks", "list", "--sender", "nobody"]).code, Some(1));

    let waiting = desk.run(&["callbacks", "unmatched"]).done();
    assert!(waiting.contains("pi_2") && waiting.contains("5.00 EUR") && !waiting.contains("pi_1"), "{waiting}");
    assert!(desk.run(&["callbacks", "match", "pi_2", "nobody"]).trouble(1).contains("no account nobody"));
    assert!(desk.run(&["callbacks", "match", "pi_9", "jane"]).trouble(1).contains("no such payment"));
    let matched = desk.run(&["callbacks", "match", "pi_2", "jane"]).done();
    assert!(matched.starts_with("pi_2 is jane's: paid until 20"), "{matched}");
    assert_eq!(desk.run(&["callbacks", "unmatched"]).done().trim_end(), "every payment has its member");
}

#[test]
fn the_desk_lifts_a_mark() {
    let desk = Desk::with_site();
    let marked = desk.run(&["outbox", "marked"]).done();
    assert_eq!(marked.trim_end(), "mail goes to every address");
    let conn = Connection::open(desk.database()).unwrap();
    let sql = "INSERT INTO suppressed (address, reason, detail, since) VALUES ('jane@example.com', 'hard_bounce', '550 nobody', 1780000000)";
    conn.execute(sql, []).unwrap();
    let mail = "INSERT INTO outbox (channel, recipient, language, template, sealed, state, next_try_at, created_at)
                VALUES ('email', 'Jane@Example.com', 'en', 'confirm_email', x'00', 'dead', 0, unixepoch())";
    conn.execute(mail, []).unwrap();
    drop(conn);
    let _server = serve(&desk);
    let marked = desk.run(&["outbox", "marked"]).done();
    assert!(marked.contains("jane@example.com  hard_bounce  2026-05-28 22:26 CEST  550 nobody"), "{marked}");
    assert_eq!(desk.json(&["outbox", "marked"])[0]["reason"], "hard_bounce");
    let said = desk.run(&["outbox", "retry", "1"]).trouble(1);
    assert!(said.contains("no mail goes to jane@example.com since its hard_bounce"), "{said}");
    let lifted = desk.run(&["outbox", "lift", "Jane@Example.com"]).done();
    assert!(lifted.starts_with("mail goes to jane@example.com again"), "{lifted}");
    assert_eq!(desk.run(&["outbox", "retry", "1"]).done().trim_end(), "1 message queued again");
    assert!(desk.run(&["outbox", "lift", "jane@example.com"]).trouble(1).contains("is not marked"));
}

#[test]
fn secrets_of_callbacks_are_never_shown() {
    let desk = Desk::empty();
    let mut command = desk.command(&["check"]);
    let ran = command.env("TUNNELDESK_CALLBACKS_PAYMENT_SECRET", SECRET).output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.contains("callbacks.payment_secret") && out.contains("(secret)") && !out.contains(SECRET), "{out}");
}

/// A payment processor repeats each delivery until it is answered, to a server that is killed again and again. Some
/// events are processed but not answered, others arrive several times; none counts twice or is lost.
#[test]
fn each_event_counts_once_however_often_the_server_is_killed() {
    let seed = Random::seed();
    let mut random = Random::new(seed);
    let desk = Desk::with_site();
    let members: Vec<i64> = (0..6).map(|number| desk.add_member(&format!("flyer-{number}"), "member")).collect();
    let mut events = Vec::new();
    for (number, member_id) in members.iter().enumerate() {
        let pi = format!("pi_{number}");
        for (step, kind) in ["created", "processing", "succeeded"].into_iter().enumerate() {
            let kind = format!("payment_intent.{kind}");
            events.push(event(&format!("evt_{number}_{step}"), &kind, intent(&pi, *member_id)));
        }
        if number % 3 == 2 {
            let charge =
                json!({ "id": "ch_1", "payment_intent": pi, "amount": 12_000, "currency": "chf", "refunded": true });
            events.push(event(&format!("evt_{number}_9"), "charge.refunded", charge));
        }
    }
    let (mut answered, mut cut) = (vec![false; events.len()], 0);
    for _ in 0..KILLS {
        let server = serve(&desk);
        let (enough, delay) =
            (random.below(ANSWERS_MAX + 1), Duration::from_micros(random.below(KILL_DELAY_MICROS_MAX)));
        let answers = AtomicU64::new(0);
        let order: Vec<usize> = (0..40).map(|_| random.below(events.len() as u64) as usize).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let started = Instant::now();
                while answers.load(Ordering::Relaxed) < enough && started.elapsed() < ANSWERS_WAIT_MAX {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // A random delay before the kill, so that kills meet every stage of a delivery.
                std::thread::sleep(delay);
                server.kill();
            });
            let mut client = Client::new(server.address);
            for place in order {
                match client.send(&delivery(&events[place])) {
                    Ok(answer) => {
                        _ = answer.ok();
                        answered[place] = true;
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(_) => {
                        cut += 1;
                        break;
                    }
                }
            }
        });
        assert_eq!(server.ended().code, None);
    }
    let heard = answered.iter().filter(|heard| **heard).count();
    assert!(cut > 0 && heard > 0, "seed {seed}: {cut} deliveries were cut off and {heard} events answered");
    let server = serve(&desk);
    // Answered events are in the database. The others are sent again, as are all that follow them.
    for (place, event) in events.iter().enumerate() {
        let verdict = deliver(&server, event);
        assert!(!answered[place] || verdict == "repeated", "seed {seed}: {event} was answered and lost");
    }
    for number in 0..members.len() {
        let session = server.sign_in(&format!("flyer-{number}"), crate::harness::PASSWORD);
        audit(&server, &session, number);
    }
    assert_eq!(server.stop().code, Some(0));
    let conn = Connection::open(desk.database()).unwrap();
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM callbacks"), events.len() as i64, "seed {seed}");
    assert_eq!(
        count("SELECT count(*) FROM notices WHERE subject = 'notice.payment_counts'")
            - count("SELECT count(*) FROM notices WHERE subject = 'notice.payment_taken_back'"),
        4,
        "seed {seed}"
    );
    assert_eq!(
        count(
            "SELECT count(*) FROM payments p JOIN members m USING (member_id) WHERE m.paid_until IS NOT p.granted_until"
        ),
        0
    );
}

/// Checks that a paid fee has renewed the membership by one year, and a refunded fee by none.
fn audit(server: &Server, session: &Caller, number: usize) {
    let refunded = number % 3 == 2;
    let rows = server.get(session, "/api/account/profile/payment-history").ok();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(rows[0]["status"], if refunded { "refunded" } else { "succeeded" });
    let until = server.get(session, "/api/account/profile/user").ok()["paymentData"]["nextDate"].as_i64();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    match until {
        None => assert!(refunded),
        Some(until) => assert!(!refunded && (364..=366).contains(&((until - now) / 86_400)), "{until}"),
    }
}
