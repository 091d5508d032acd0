//! The log of a busy day: one line for each request, with no secret and no personal data.

use crate::harness::{Caller, Client, Desk, now, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

/// The time to wait for a line.
const PATIENCE: Duration = Duration::from_secs(30);

const PERSONAL: [&str; 8] = [
    "quixotica",
    "Wilhelmina Quixote",
    "mina.quixote@example.net",
    "+41 79 555 01 23",
    "violet-anvil-harbour-93",
    "wrong-violet-anvil-94",
    "Rosinante",
    "a comment for Sancho",
];

/// A day with every kind of request, right and wrong. Returns the words that the log must not contain.
fn busy_day(desk: &Desk, server: &crate::harness::Server) -> Vec<String> {
    let [username, name, email, phone, password, wrong, answer, comment] = PERSONAL;
    let mut http = server.client();
    let signup = json!({"username": username, "password": password, "email": email, "real_name": name, "phone": phone,
        "question_1": "1", "answer_1": answer, "terms": true, "screen_name": username});
    let member_id = http.post(&Caller::Anyone, "/api/auth/signup", &signup).ok()["member_id"].as_i64().unwrap();
    http.post(&Caller::Anyone, "/api/auth/signup", &signup).refused(409);
    http.post(&Caller::Anyone, "/api/auth/signup/check-username", &json!({"username": username})).ok();
    http.sign_in(username, wrong);
    desk.json(&["member", "confirm", username]);
    let session = server.sign_in(username, password);
    let pin = text(&http.post(&session, "/api/account/profile/booking-pin", &Value::Null).ok()["pin"]).to_owned();
    let secret = desk.json(&["partner", "add", "Skyline"]);
    let partner = Caller::partner(text(&secret["client_id"]), text(&secret["secret"]));
    let user = http.post(&partner, "/api/external/partner-metrics/op", &json!({"email": email})).ok();
    http.get(&partner, &format!("/api/external/partner-metrics/op/{}?email={email}", user["id"])).ok();
    let booking = json!({"member_id": member_id, "member_pin": pin, "flight_date": now() + 3_600, "minutes_booked": 12, "tunnel_id": 1});
    let token = http.post(&partner, "/api/external/partner-metrics/op/generate-token", &booking).ok();
    let token = text(&token["token"]).to_owned();
    http.get(&Caller::session(&token), "/api/account/profile/user").ok();
    http.get(&Caller::session(&token), &format!("/api/nowhere/{email}/{token}")).refused(404);
    http.post(
        &session,
        "/api/account/logbook/time/",
        &json!({"entry_date": 1_700_000_000, "time": "x", "comment": comment}),
    )
    .refused(422);
    http.post(
        &session,
        "/api/account/logbook/time/",
        &json!({"entry_date": 1_700_000_000, "time": 9, "comment": comment}),
    )
    .ok();
    server
        .raw(
            format!("POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{}", &password[..9])
                .as_bytes(),
        )
        .unwrap()
        .refused(400);
    let reset = desk.json(&["member", "reset-password", username]);
    let (Caller::Session(session), sync) = (session, desk.sync_session()) else { unreachable!() };
    let Caller::Session(sync) = sync else { unreachable!() };
    let secrets = [session, sync, token, pin, text(&secret["secret"]).to_owned(), text(&reset["password"]).to_owned()];
    secrets.into_iter().chain(PERSONAL.map(str::to_owned)).collect()
}

#[test]
fn a_log_of_a_busy_day_has_a_line_a_request_and_nothing_of_anybody() {
    let desk = Desk::with_site();
    let server = desk.serve_with(&[("TUNNELDESK_LOG_LEVEL", "trace")]);
    let unspeakable = busy_day(&desk, &server);
    let ended = server.stop();
    let whole = format!("{}\n{}", ended.log.join("\n"), ended.out);
    for word in unspeakable {
        assert!(!whole.to_lowercase().contains(&word.to_lowercase()), "{word} is in the log:\n{whole}");
    }
    let lines: Vec<Value> = ended.log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<&Value> = lines.iter().filter(|line| line["message"] == "request").collect();
    assert_eq!(requests.len(), 14);
    for line in &requests {
        for field in ["id", "method", "route", "who", "timestamp", "level"] {
            assert!(line[field].is_string(), "{field}: {line}");
        }
        assert!(line["status"].is_u64() && line["micros"].is_u64(), "{line}");
    }
    let is = |line: &Value, route: &str, who: &str| line["route"] == route && line["who"] == who;
    assert!(requests.iter().any(|line| is(line, "/external/partner-metrics/op/{id}", "partner:1")));
    assert!(requests.iter().any(|line| is(line, "/account/logbook/time/", "member:1") && line["status"] == 422));
    assert!(requests.iter().any(|line| is(line, "/account/profile/user", "booking-of:1")));
    let outcomes: Vec<&str> =
        requests.iter().filter(|line| line["route"] == "/auth/login").map(|line| text(&line["outcome"])).collect();
    assert_eq!(outcomes, ["wrong_credentials", "signed_in", "refused"]);
    assert!(requests.iter().all(|line| line["address"] == "127.0.0.1" && line["outcome"].is_string()));
}

#[test]
fn a_failed_sign_in_is_recognised_in_the_log_whichever_way_it_failed() {
    let desk = Desk::with_site();
    let jane = desk.add_member("jane", "member");
    let server = desk.serve_with(&[("TUNNELDESK_LOG_ADDRESSES", "network"), ("TUNNELDESK_PROXIES", "127.0.0.1")]);
    let mut http = server.client();
    let login = "/api/auth/login";
    // The fifth failed attempt locks the account for a second. On a slow machine that second is over before the next
    // attempt, or before the last one; the eighth failed attempt locks the account for eight seconds.
    for _ in 0..9 {
        let status = http.post(&Caller::Anyone, login, &json!({"username": "jane", "password": "wrong"})).status;
        assert!([200, 429].contains(&status), "{status}");
    }
    http.post(&Caller::Anyone, "/api/auth/login/silent", &json!({"username": "nobody", "password": "wrong"})).ok();
    let credential = json!({"credential": "{}"});
    http.post(&Caller::Anyone, "/api/auth/login/bio-web-verify", &credential).ok();
    let secret = desk.json(&["partner", "add", "Skyline"]);
    let partner = Caller::partner(text(&secret["client_id"]), text(&secret["secret"]));
    let pin = json!({"member_id": jane, "member_pin": "000000"});
    http.post(&partner, "/api/external/partner-metrics/op/generate-token", &pin).ok();
    let proxied = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 203.0.113.77\r\n\r\n";
    assert_eq!(server.raw(proxied.as_bytes()).unwrap().status, 200);
    let log = server.stop().log;
    let lines: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<(&str, &str)> = lines
        .iter()
        .filter(|line| line["message"] == "request")
        .map(|line| (text(&line["address"]), text(&line["outcome"])))
        .collect();
    let here = |outcome| ("127.0.0.0", outcome);
    let (tries, others) = seen.split_at(9);
    assert_eq!(tries[..5], [here("wrong_credentials"); 5]);
    assert!(tries[5..].iter().all(|seen| [here("wrong_credentials"), here("delayed")].contains(seen)), "{tries:?}");
    assert!(tries[5..].contains(&here("delayed")), "{tries:?}");
    let wrong = here("wrong_credentials");
    assert_eq!(others, [wrong, wrong, wrong, ("203.0.113.0", "ok")]);
}

#[test]
fn requests_that_the_server_cannot_serve_are_one_error_a_minute_for_each_cause() {
    let (_desk, server) = Desk::with_site().serve_kept();
    let mut http = server.client();
    let routes = ["/payment-webhook", "/social-data-deletion", "/mail-webhook"];
    for _ in 0..20 {
        for route in routes {
            http.post(&Caller::Anyone, &format!("/api{route}"), &json!({"type": "x"})).refused(503);
        }
    }
    let log = server.stop().log;
    let lines: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for route in routes {
        let levels: Vec<&str> =
            lines.iter().filter(|line| line["route"] == route).map(|line| text(&line["level"])).collect();
        assert_eq!(levels, [&["ERROR"][..], &["INFO"; 19]].concat(), "{route}");
    }
}

#[test]
fn a_request_id_is_the_same_in_the_answer_and_the_log() {
    let (_desk, server) = Desk::with_site().serve_kept();
    let answer =
        server.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-request-id: kiosk-42-0001\r\n\r\n").unwrap();
    assert_eq!(answer.header("x-request-id"), Some("kiosk-42-0001"));
    let made = server.get(&Caller::Anyone, "/healthz").header("x-request-id").unwrap().to_owned();
    let log = server.stop().log.join("\n");
    assert!(log.contains(r#""id":"kiosk-42-0001""#) && log.contains(&made), "{log}");
}

#[test]
fn a_blocked_log_delays_no_request_and_reports_how_many_lines_were_dropped() {
    let desk = Desk::with_site();
    let mut command = desk.command(&["serve"]);
    command.env("TUNNELDESK_LISTEN", "127.0.0.1:0").env("TUNNELDESK_METRICS_LISTEN", "");
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let log = BufReader::new(server.stderr.take().unwrap());
    let mut lines = log.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let listening = lines.find(|line| line["message"] == "listening").unwrap();
    let mut http = Client::new(text(&listening["address"]).parse().unwrap());
    let asked = 4_000;
    for number in 0..asked {
        let request = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-request-id: {number:064}\r\n\r\n");
        assert_eq!(http.send(request.as_bytes()).unwrap().status, 200);
    }
    // From here on the log is read.
    let (told, taken) = mpsc::channel();
    std::thread::spawn(move || lines.try_for_each(|line| told.send(line)));
    let mut read = 0;
    let dropped = loop {
        let Ok(line) = taken.recv_timeout(PATIENCE) else { break None };
        read += u64::from(line["message"] == "request");
        if let Some(dropped) = line["dropped"].as_u64() {
            break Some(dropped);
        }
    };
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(dropped.map(|dropped| dropped + read), Some(asked), "{read} lines were read");
}
