//! The outbox: messages on their way out, as the desk sees them, and after kills of the server.

#[allow(dead_code)] // It offers what the other suite needs, too.
#[path = "../post/office.rs"]
mod office;

use crate::harness::{Caller, Client, Desk, Server, text};
use office::{ACCOUNT, Office};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tunneldesk::clock::Clock;
use tunneldesk::config::Config;
use tunneldesk::moment::Moment;
use tunneldesk::site::Site;
use tunneldesk::store::tables::outbox::{self, Channel, NewMessage};

/// Polls of the metrics; each takes a fraction of a millisecond.
const ASKED_MAX: usize = 20_000;

/// Queues messages in the outbox of a site that no server runs on.
fn queue(desk: &Desk, messages: &[(Channel, &str, &str, Value)]) {
    let place = desk.lock_data_dir();
    let site = Site::open(&place, Config::defaults(), Clock::machine(Moment(0))).unwrap();
    let queued = site.store.write(site.now(), |tx| {
        for (channel, recipient, template, values) in messages {
            let new = NewMessage { channel: *channel, member_id: None, recipient, language: "en", template, values };
            outbox::insert(tx, &site.keys, &new)?;
        }
        Ok(())
    });
    queued.unwrap();
}

fn three(desk: &Desk) {
    queue(
        desk,
        &[
            (Channel::Email, "jane@example.com", "passcode_sign_in", json!({"passcode": "314159"})),
            (Channel::Sms, "+41791234567", "passcode_verify_phone", json!({"passcode": "271828"})),
            (Channel::Email, "mark@example.com", "confirm_email", json!({"token": "the-token"})),
        ],
    );
}

/// A server that sends mail through the test's mail server.
fn serve(desk: &Desk, office: &Office) -> Server {
    desk.serve_with(&[
        ("TUNNELDESK_MAIL_SERVER", &format!("localhost:{}", office.port)),
        ("TUNNELDESK_MAIL_USERNAME", ACCOUNT.0),
        ("TUNNELDESK_MAIL_PASSWORD", ACCOUNT.1),
        ("TUNNELDESK_MAIL_FROM", "desk@windwerk.example"),
        ("TUNNELDESK_MAIL_CA_FILE", &office::authority().to_string_lossy()),
    ])
}

#[test]
fn without_a_server_the_desk_reads_messages_out() {
    let desk = Desk::with_site();
    three(&desk);
    let _server = desk.serve();
    let listed = desk.run(&["outbox", "list"]).done();
    assert!(
        listed.contains("3 waiting, 0 not deliverable; neither a mail server nor an SMS gateway is configured"),
        "{listed}"
    );
    assert!(listed.contains("+41791234567") && !listed.contains("314159") && !listed.contains("271828"), "{listed}");
    let mail = desk.run(&["outbox", "show", "1"]).done();
    assert!(mail.contains("Subject: Your sign-in code for Windwerk") && mail.contains("    314159"), "{mail}");
    let sms = desk.run(&["outbox", "show", "2"]).done();
    assert!(sms.contains("271828 confirms your phone number at Windwerk."), "{sms}");
    let shown = desk.json(&["outbox", "show", "1"]);
    assert_eq!((text(&shown["state"]), text(&shown["recipient"])), ("waiting", "jane@example.com"));
    assert!(text(&shown["text"]).contains("314159"), "{shown}");
    let rows = desk.json(&["outbox", "list", "--limit", "2"]);
    assert_eq!((&rows["waiting"], rows["messages"].as_array().unwrap().len()), (&json!(3), 2));
}

#[test]
fn retry_reports_what_it_did_or_why_it_cannot() {
    let desk = Desk::with_site();
    assert!(desk.run(&["outbox", "list"]).done().starts_with("0 waiting, 0 not deliverable"));
    three(&desk);
    assert_eq!(desk.run(&["outbox", "retry", "1", "3"]).done().trim_end(), "2 messages queued again");
    assert_eq!(desk.json(&["outbox", "retry", "--dead"]), json!({"retried": 0}));
    for command in ["show", "retry"] {
        assert!(desk.run(&["outbox", command, "9"]).trouble(1).contains("there is no message 9"));
    }
    assert_eq!(desk.run(&["outbox", "retry"]).code, Some(1));
    let office = Office::mail("starttls");
    let server = serve(&desk, &office);
    office.next();
    office.next();
    server.stop();
    assert!(desk.run(&["outbox", "retry", "1"]).trouble(1).contains("message 1 is sent"));
    let shown = desk.run(&["outbox", "show", "1"]).done();
    assert!(shown.contains("sent on") && shown.contains("nothing to show") && !shown.contains("314159"), "{shown}");
}

#[test]
fn metrics_count_messages_and_the_log_has_neither_recipient_nor_content() {
    let desk = Desk::with_site();
    three(&desk);
    queue(&desk, &[(Channel::Email, "nobody@example.com", "passcode_sign_in", json!({"passcode": "161803"}))]);
    let office = Office::mail("starttls");
    let server = serve(&desk, &office);
    office.next();
    office.next();
    // The last message is refused. Only the metrics tell.
    let figures = || Client::new(server.metrics_address).get(&Caller::Anyone, "/metrics").body;
    let refused = (0..ASKED_MAX).any(|_| figures().contains("\ntunneldesk_outbox_dead 1\n"));
    assert!(refused, "{}", figures());
    assert!(figures().contains("\ntunneldesk_outbox_waiting 1\n"), "{}", figures());
    let log = server.stop().log.join("\n");
    assert_eq!(log.matches("message offered").count(), 3, "{log}");
    for secret in ["example.com", "314159", "161803", "the-token", ACCOUNT.1] {
        assert!(!log.contains(secret), "{secret} is in the log:\n{log}");
    }
}

#[test]
fn a_killed_server_loses_no_message() {
    const MESSAGES: usize = 40;
    let desk = Desk::with_site();
    // Every eighth message is delivered slowly, so that the kill meets its delivery.
    let name = |n: usize| if n % 8 == 4 { "slow" } else { "prompt" };
    let messages: Vec<_> = (0..MESSAGES).map(|n| format!("{}{n}@example.com", name(n))).collect();
    let welcome = |to| (Channel::Email, to, "confirm_email", json!({"token": "the-token"}));
    queue(&desk, &messages.iter().map(|to| welcome(to.as_str())).collect::<Vec<_>>());
    let office = Office::mail("starttls");
    let (mut arrived, mut copies, mut kills) = (BTreeMap::<String, BTreeSet<String>>::new(), 0, 0);
    let mut server = serve(&desk, &office);
    while arrived.len() < MESSAGES {
        let told = office.next();
        // The kill comes during a delivery, or just after one that may not be marked as sent yet.
        let kill = !told["begun"].is_null() || arrived.len() % 8 == 6;
        if told["begun"].is_null() {
            copies += 1;
            arrived.entry(told["to"].to_string()).or_default().insert(message_id(&told));
        }
        if kill {
            server.kill();
            server.ended();
            kills += 1;
            server = serve(&desk, &office);
        }
    }
    // A mail that arrived when its server was killed is still in the outbox, and is sent a second time.
    let figures = || Client::new(server.metrics_address).get(&Caller::Anyone, "/metrics").body;
    let none_waits = (0..ASKED_MAX).any(|_| figures().contains("\ntunneldesk_outbox_waiting 0\n"));
    assert!(none_waits, "{}", figures());
    for copy in office.rest() {
        copies += 1;
        arrived.entry(copy["to"].to_string()).or_default().insert(message_id(&copy));
    }
    server.stop();
    assert!(kills >= 8, "it was killed {kills} times only");
    assert!(copies <= MESSAGES + kills, "{copies} mails of {MESSAGES} messages after {kills} kills");
    assert!(arrived.values().all(|names| names.len() == 1), "both copies of a mail bear the same Message-ID");
    assert!(desk.run(&["outbox", "list"]).done().starts_with("0 waiting, 0 not deliverable"));
}

fn message_id(mail: &Value) -> String {
    let mut headers = mail["headers"].as_array().unwrap().iter();
    headers.find(|header| header[0] == "Message-ID").unwrap()[1].to_string()
}
