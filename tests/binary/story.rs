//! The main job, end to end: the tour of the README as written there, and the booking of a flyer who is current.

use crate::harness::{BINARY, Caller, Client, Desk, PASSWORD, Server, text};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

const README: &str = include_str!("../../README.md");
/// Has what a partner's engineer needs.
const BOOK: &str = include_str!("../../packaging/README.md");

/// The blocks of the tour that are run: the one that serves the site, and the one that is typed beside it.
fn tour() -> (String, String) {
    let tour = README.split("\n## The tour\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut blocks = tour.split("```bash\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    (blocks.next().unwrap().to_owned(), blocks.collect())
}

/// A shell in which `tunneldesk` is the executable under test.
fn shell(directory: &Path, script: &str) -> Command {
    let bin = Path::new(BINARY).parent().unwrap().display().to_string();
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", script]).current_dir(directory).env_clear().stdin(Stdio::null());
    command.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()));
    command
}

#[test]
fn the_tour_of_the_readme_works_as_it_stands_there() {
    let desk = Desk::empty();
    let (site, tour) = tour();
    // The shell execs the server, so that a signal to the shell's process reaches the server.
    let server = Server::start(shell(desk.path(), &site.replace("tunneldesk serve", "exec tunneldesk serve")));
    let mut tour = shell(desk.path(), &tour);
    let output = tour.env("SITE", format!("http://{}", server.address)).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && err.is_empty(), "{out}{err}");

    let answers: Vec<Value> = out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let [signup, booked, bookings, history, logbook, refused] = &answers[..] else { panic!("{out}") };
    assert_eq!(signup["status"], true);
    for rows in [booked, &bookings["data"]] {
        let [row] = &rows.as_array().unwrap()[..] else { panic!("{rows}") };
        assert_eq!(row["registration_id"], 7001, "{row}");
        assert_eq!((&row["member_id"], &row["entry_id"]), (&signup["member_id"], &Value::Null));
    }
    let events: Vec<&Value> = history["data"].as_array().unwrap().iter().map(|row| &row["event"]).collect();
    assert_eq!(events, ["token.issued", "booking.recorded"]);
    assert_eq!(logbook, &json!([]));
    assert_eq!((&refused["status"], &refused["code"]), (&json!(false), &json!("not_allowed")));
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn the_signatures_printed_for_partners_are_right() {
    let digest =
        |body: &str| tunneldesk::keys::hex(&tunneldesk::keys::hmac_sha256(b"partner-secret", &[body.as_bytes()]));
    assert!(BOOK.contains(&digest("")) && BOOK.contains(&digest(r#"{"limit":10,"offset":0}"#)));
}

/// The callers and numbers of a booking.
struct Cast {
    partner: Caller,
    sync: Caller,
    username: String,
    password: String,
    member_id: i64,
    tunnel_id: i64,
}

#[test]
fn the_booking_of_a_current_flyer_is_in_the_logbook_and_its_token_edits_that_entry_alone() {
    let desk = Desk::with_site();
    let member_id = desk.add_member("jane", "member");
    crate::kills::make_current(&desk.database(), &[member_id]);
    let (partner, sync) = (desk.add_partner(&[]), desk.sync_session());
    let (username, password) = ("jane".to_owned(), PASSWORD.to_owned());
    let server = desk.serve();
    book_as_a_current_flyer(&server, &Cast { partner, sync, username, password, member_id, tunnel_id: 1 });
    // A booking that was not flown yet counts in no total.
    let profile = server.client().get(&server.sign_in("jane", PASSWORD), "/api/account/profile/user").ok();
    let shown = desk.run(&["member", "show", "jane"]).done();
    assert!(shown.trim_end().ends_with(&format!("flight time  {}", text(&profile["total_flight_time"]))), "{shown}");
}

#[test]
fn the_first_member_of_the_demo_is_a_current_flyer_who_can_be_booked_for() {
    let desk = Desk::empty();
    let server = Server::start(desk.command(&["serve", "--demo"]));
    let facts = std::fs::read(desk.path().join("tunneldesk-demo/demo.json")).unwrap();
    let facts: Value = serde_json::from_slice(&facts).unwrap();
    assert!(facts["members"].as_array().unwrap().len() >= 20);
    assert_eq!(facts["base_url"], format!("http://localhost:{}/api", server.address.port()));
    let (first, partner) = (&facts["members"][0], &facts["partner"]);
    let cast = Cast {
        partner: Caller::partner(text(&partner["client_id"]), text(&partner["secret"])),
        sync: Caller::session(text(&facts["sync_token"])),
        username: text(&first["username"]).to_owned(),
        password: text(&first["password"]).to_owned(),
        member_id: first["member_id"].as_i64().unwrap(),
        tunnel_id: facts["tunnel_id"].as_i64().unwrap(),
    };
    book_as_a_current_flyer(&server, &cast);
}

fn book_as_a_current_flyer(server: &Server, cast: &Cast) {
    let mut http = server.client();
    let session = server.sign_in(&cast.username, &cast.password);
    let profile = http.get(&session, "/api/account/profile/user").ok();
    assert_eq!(profile["currency_flyer"], 1, "{profile}");
    let times = format!("/api/account/logbook/time/{}", cast.member_id);
    let before = http.list(&session, &times).len();
    let own = json!({"entry_date": now() - 3600, "time": "7", "tunnel": cast.tunnel_id.to_string()});
    let own_entry = http.post(&session, "/api/account/logbook/time/", &own).ok()["entry_id"].clone();

    let first = book(&mut http, &session, cast, 424_242);
    let second = book(&mut http, &session, cast, 424_243);
    let bookings = http.list(&session, "/api/account/profile/booking-history");
    let entry_of = |registration: i64| {
        let booking = bookings.iter().find(|row| row["registration_id"] == registration).unwrap();
        (
            booking["booking_id"].clone(),
            booking["entry_id"].as_i64().expect("a current flyer's booking is in the logbook"),
        )
    };
    let ((booking_id, entry_id), (_, other_entry)) = (entry_of(424_242), entry_of(424_243));
    assert_eq!(http.list(&session, &times).len(), before + 3);
    let report = http.post(&cast.sync, "/api/admin/reports/external/partner-metrics/history", &json!({})).ok();
    let about = report["data"].as_array().unwrap().iter().filter(|row| row["booking_id"] == booking_id);
    assert_eq!(about.map(|row| text(&row["event"])).collect::<Vec<_>>(), ["token.issued", "booking.recorded"]);

    let path = |entry: &dyn std::fmt::Display| format!("/api/account/logbook/time/{entry}");
    http.put(&first, &path(&entry_id), &json!({"time": "21", "comment": "shared with a friend"})).ok();
    for entry in [other_entry.to_string(), own_entry.to_string()] {
        http.put(&first, &path(&entry), &json!({"time": "1"})).refused(403);
    }
    http.put(&second, &path(&entry_id), &json!({"time": "1"})).refused(403);
    http.get(&first, "/api/account/profile/user").ok();
    http.post(&first, "/api/account/logbook/time/", &own).refused(403);
    http.call(&first, "DELETE", &format!("/api/account/logbook/{entry_id}"), None, &Value::Null).unwrap().refused(403);
    http.post(&first, "/api/account/profile/booking-pin", &Value::Null).refused(403);
    let rows = http.list(&session, &times);
    let minutes = |entry: &Value| rows.iter().find(|row| row["entry_id"] == *entry).unwrap()["time"].clone();
    let all = [json!(entry_id), json!(other_entry), own_entry].map(|entry| minutes(&entry));
    assert_eq!(all, ["21", "15", "7"]);
}

/// Sets a PIN and books with it. Returns the booking's token.
fn book(http: &mut Client, session: &Caller, cast: &Cast, registration_id: i64) -> Caller {
    let pin = http.post(session, "/api/account/profile/booking-pin", &Value::Null).ok()["pin"].clone();
    let booking = json!({"member_id": cast.member_id, "member_pin": pin, "registration_id": registration_id,
        "flight_date": now() + 7_200 * (registration_id - 424_242), "minutes_booked": 15, "tunnel_id": cast.tunnel_id});
    let answer = http.post(&cast.partner, "/api/external/partner-metrics/op/generate-token", &booking).ok();
    assert_eq!(answer["status"], true, "{answer}");
    Caller::session(text(&answer["token"]))
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}
