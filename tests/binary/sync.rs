//! The sync of the real executable: by the server, by command, from another machine, and through kills.

#[path = "../upstream/book.rs"]
#[allow(dead_code)] // It offers what the other suite needs, too.
mod book;
#[path = "../upstream/broker.rs"]
#[allow(dead_code)] // Likewise.
mod broker;
#[path = "../upstream/receiver.rs"]
#[allow(dead_code)] // Likewise.
mod receiver;

use crate::harness::{Caller, Desk, text};
use book::Book;
use broker::Broker;
use receiver::{Fault, Receiver};
use serde_json::json;
use std::time::{Duration, Instant};
use tunneldesk::clock::Clock;
use tunneldesk::config::Config;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::moment::Moment;
use tunneldesk::site::Site;
use tunneldesk::store::tables::events::{self, About, Event};
use tunneldesk::store::tables::partners;

/// Rows of a month on a busy site.
const MONTH_ROWS: i64 = 100_000;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(180);

/// Adds rows, numbered upwards in their detail, to a site that no server runs on.
fn add_rows(desk: &Desk, numbers: std::ops::RangeInclusive<i64>) {
    let place = desk.lock_data_dir();
    let site = Site::open(&place, Config::defaults(), Clock::machine(Moment(0))).unwrap();
    let written = site.store.write(site.now(), |tx| {
        let partner_id = match partners::find(tx, "month")? {
            Some(partner) => partner.partner_id,
            None => partners::insert(tx, "month", "Month", false, None)?,
        };
        for n in numbers.clone() {
            let detail = format!(
                r#"{{"n":{n},"registration_id":{n},"flight_date":1780000000,"minutes_booked":15,"tunnel_id":1}}"#
            );
            let mut about = About { data: Some(&detail), ..About::partner(partner_id) };
            about.concerned.member_id = Some(MemberId(n % 900));
            events::insert(tx, Event::TokenIssued, &about)?;
        }
        Ok(())
    });
    written.unwrap();
    site.close();
}

fn set(desk: &Desk, lines: &str) {
    std::fs::write(desk.path().join("secret"), "partner-secret\n").unwrap();
    let file = format!("[sync]\n{lines}\ninterval_seconds = 1\n");
    std::fs::write(desk.path().join("tunneldesk.toml"), file).unwrap();
}

fn https(receiver: &Receiver) -> String {
    format!("url = \"{}\"\nclient_id = \"windwerk\"\nsecret_file = \"secret\"", receiver.url())
}

fn nats(broker: &Broker) -> String {
    format!("url = \"nats://127.0.0.1:{}\"\nsubject = \"tunnels.{{site_id}}.history\"", broker.port)
}

fn broker() -> Broker {
    let broker = Broker::start("");
    broker.add_stream(json!({}));
    broker
}

fn read(broker: &Broker) -> Book {
    let mut book = Book::default();
    broker.messages().iter().for_each(|message| assert_eq!(book.take(&message.body).0, 200));
    book
}

fn upwards(rows: i64) -> Vec<i64> {
    (1..=rows).collect()
}

#[test]
fn a_site_without_a_receiver_says_how_to_name_one() {
    let desk = Desk::with_site();
    let trouble = desk.run(&["sync"]).trouble(1);
    assert!(trouble.contains("[sync]"), "{trouble}");
    let status = desk.json(&["sync", "--status"]);
    assert_eq!((text(&status["status"]["upstream"]), status["status"]["waiting_rows"].as_i64()), ("", Some(0)));
}

#[test]
fn a_server_syncs_by_itself_and_reports_its_progress() {
    let (desk, receiver) = (Desk::with_site(), Receiver::open());
    set(&desk, &https(&receiver));
    add_rows(&desk, 1..=1200);
    let dry = desk.json(&["sync", "--dry-run"]);
    assert_eq!((dry["waiting_rows"].as_i64(), dry["first_batch"]["rows"].as_i64()), (Some(1200), Some(500)));
    assert!(receiver.state().seen.is_empty(), "nothing leaves");

    receiver.state().book.refuses.insert(700);
    let server = desk.serve();
    drop(receiver.wait_until(|state| state.book.last_seq() == 1200));
    assert_eq!(receiver.state().book.rows.len(), 1199);
    // The next request proves that the server has processed the answer to the last batch.
    let done = desk.json(&["sync", "--once"]);
    assert_eq!(done["status"]["waiting_rows"], 0);
    let shown = desk.run(&["sync", "--status"]).done();
    for part in ["1199 rows", "row 1200 of 1200", "nothing", "700", "do not understand", "--again"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let metrics = crate::harness::Client::new(server.metrics_address).get(&Caller::Anyone, "/metrics").body;
    for line in ["sync_waiting_rows 0", "sync_refused_rows 1", "sync_rows_total 1199", "sync_lag_seconds 0"] {
        assert!(metrics.contains(&format!("tunneldesk_{line}\n")), "{line}: {metrics}");
    }
    receiver.state().book.refuses.clear();
    let again = desk.run(&["sync", "--again"]).done();
    assert!(again.contains("took 1 row"), "{again}");

    // The receiver is away: a command says so, and the server continues.
    receiver.will(&[Fault::Say(503, "retry-after: 1\r\n", r#"{"message": "we move house"}"#)]);
    receiver.state().book.rows.clear();
    drop(server);
    add_rows(&desk, 1201..=1201);
    let trouble = desk.run(&["sync"]).trouble(2);
    assert!(trouble.contains("we move house"), "{trouble}");
    assert_eq!(desk.json(&["sync", "--status"])["status"]["failed_tries"], 1);
}

#[test]
fn a_sync_that_is_killed_in_the_middle_continues_where_it_was() {
    let (desk, receiver, broker) = (Desk::with_site(), Receiver::open(), broker());
    let rows = 5_000;
    add_rows(&desk, 1..=rows);
    set(&desk, &format!("{}\nbatch_rows = 20", https(&receiver)));
    for killed_after in [200, 900, 1_700, 2_400] {
        let server = desk.serve();
        // The receiver takes no rows while the test looks at its state.
        let looking = receiver.wait_until(|state| state.book.last_seq() >= killed_after);
        server.kill();
        server.ended();
        drop(looking);
        assert!(receiver.state().book.last_seq() < rows, "it was too fast to be killed");
    }
    let server = desk.serve();
    assert_eq!(receiver.wait_until(|state| state.book.last_seq() == rows).book.numbers(), upwards(rows));
    server.stop();

    set(&desk, &format!("{}\nbatch_rows = 20", nats(&broker)));
    for killed_after in [10, 60, 110] {
        let server = desk.serve();
        let until = Instant::now() + Duration::from_secs(60);
        while broker.messages().len() < killed_after {
            assert!(Instant::now() < until, "nothing comes");
        }
        server.kill();
        server.ended();
    }
    desk.run(&["sync", "--once"]).done();
    assert_eq!(read(&broker).numbers(), upwards(rows));
    assert_eq!(broker.messages().len() as i64, rows / 20, "the stream took nothing twice");
}

#[test]
fn another_machine_syncs_for_a_site_with_a_sync_session() {
    let (desk, receiver) = (Desk::with_site(), Receiver::open());
    add_rows(&desk, 1..=1_700);
    let server = desk.serve();
    let elsewhere = Desk::empty();
    set(&elsewhere, &https(&receiver));
    let session = desk.json(&["session", "issue", "--role", "sync"]);
    std::fs::write(elsewhere.path().join("token"), text(&session["token"])).unwrap();
    let url = format!("http://{}", server.address);
    let from = ["sync", "--from", &url, "--token-file", "token"];

    // The command runs until it is killed with half of its rows sent.
    receiver.will(&vec![Fault::Repeat; 2]);
    let mut running = elsewhere.command(&from).stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(receiver.wait_until(|state| state.book.last_seq() >= 500));
    running.kill().unwrap();
    running.wait().unwrap();
    let once = elsewhere.json(&[&from[..], &["--once"]].concat());
    assert_eq!(once["status"]["waiting_rows"], 0, "{once}");
    assert_eq!(receiver.state().book.numbers(), upwards(1_700));
    let shown = elsewhere.run(&[&from[..], &["--status"]].concat()).done();
    assert!(shown.contains("row 1700 of 1700"), "{shown}");

    // Without its state file the command asks the receiver, and sends no row twice.
    std::fs::remove_file(elsewhere.path().join("tunneldesk-sync.json")).unwrap();
    let before = receiver.state().seen.len();
    elsewhere.json(&[&from[..], &["--once"]].concat());
    assert_eq!(receiver.state().seen.len(), before + 1);

    // A wrong token is refused.
    std::fs::write(elsewhere.path().join("token"), "nobody").unwrap();
    let trouble = elsewhere.run(&[&from[..], &["--once"]].concat()).trouble(2);
    assert!(trouble.contains("session issue --role sync"), "{trouble}");
}

/// The receiver has rows that a restored backup lacks: their numbers are not used again.
#[test]
fn after_a_restore_new_rows_get_new_numbers_and_all_arrive() {
    let (desk, receiver) = (Desk::with_site(), Receiver::open());
    set(&desk, &https(&receiver));
    add_rows(&desk, 1..=40);
    desk.run(&["backup"]).done();
    add_rows(&desk, 41..=60);
    desk.run(&["sync"]).done();
    assert_eq!(receiver.state().book.last_seq(), 60);
    desk.run(&["restore"]).done();
    add_rows(&desk, 61..=65);
    desk.run(&["sync"]).done();
    assert_eq!(receiver.state().book.numbers(), upwards(65));
    assert!(receiver.state().book.seqs()[60] > 1_000, "{:?}", receiver.state().book.seqs());
    let rows = receiver.state().book.rows.clone();
    let restored: Vec<_> =
        rows.iter().filter(|row| row["event"] == "site.restored").map(|row| &row["detail"]).collect();
    assert_eq!(restored, [&serde_json::json!({ "last_kept": 40, "last_lost": 60 })], "which rows are gone");
    let status = desk.json(&["sync", "--status"]);
    assert_eq!(
        (status["status"]["waiting_rows"].as_i64(), status["status"]["renumbered"].as_i64()),
        (Some(0), Some(0))
    );
}

#[test]
fn a_backlog_of_a_month_is_sent_within_a_minute() {
    let (desk, receiver, broker) = (Desk::with_site(), Receiver::open(), broker());
    add_rows(&desk, 1..=MONTH_ROWS);
    set(&desk, &https(&receiver));
    let took = timed(&desk);
    assert_eq!(receiver.state().book.numbers(), upwards(MONTH_ROWS));
    println!("{MONTH_ROWS} rows over HTTP in {took:?}");
    assert!(took < DRAIN_TIME_MAX, "{took:?}");

    set(&desk, &nats(&broker));
    let took = timed(&desk);
    assert_eq!(read(&broker).numbers(), upwards(MONTH_ROWS));
    println!("{MONTH_ROWS} rows over NATS in {took:?}");
    assert!(took < DRAIN_TIME_MAX, "{took:?}");
}

fn timed(desk: &Desk) -> Duration {
    let began = Instant::now();
    let done = desk.run(&["sync", "--once"]).done();
    assert!(done.contains(&format!("Sent {MONTH_ROWS} rows")), "{done}");
    began.elapsed()
}
